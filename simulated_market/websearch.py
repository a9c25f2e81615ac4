"""Two web searches: the API with a key and the page without scripts. They find the flashes of the simulated
press."""

import html
from functools import partial
from urllib.parse import quote

from simulated_market.notices import NoticeBook
from simulated_market.press import Press
from simulated_market.wire import HttpRequest, Reply, Site, View, json_reply, route

_PAGES = "https://press.example/flash"


def web_searches(notices: NoticeBook) -> list[Site]:
    """`api.tavily.com` and `html.duckduckgo.com`."""
    press = Press(notices)
    return [
        Site("tavily", (route("search", r"/search", partial(_tavily, press)),)),
        Site("duckduckgo", (route("search", r"/html/", partial(_duckduckgo, press)),)),
    ]


def _found(press: Press, query: str, view: View, most: int) -> list[tuple[str, str, str]]:
    """(title, address, text) of the pages that a search knows."""
    pages = [
        (one.title, f"{_PAGES}/{one.number}", f"{one.time:%Y-%m-%d %H:%M} {one.title}")
        for one in press.flashes(view)
    ]
    # Pages with more characters of the query first, as a search ranks them.
    letters = {letter for letter in query if letter.isalnum()}
    return sorted(pages, key=lambda page: -len(letters & set(page[0])))[:most]


def _tavily(press: Press, request: HttpRequest, view: View) -> Reply:
    headers = {name.lower(): value for name, value in request.headers.items()}
    if not headers.get("authorization", "").startswith("Bearer tvly-"):
        return Reply(b'{"detail":{"error":"Unauthorized: missing or invalid API key."}}', status=401)
    asked = request.document()
    if request.method != "POST" or not asked.get("query"):
        return Reply(b'{"detail":{"error":"Query is missing."}}', status=400)
    found = _found(press, asked["query"], view, max(0, int(asked.get("max_results") or 5)))
    results = [
        {"title": title, "url": url, "content": text, "score": round(0.9 - 0.05 * place, 4),
         "raw_content": None}
        for place, (title, url, text) in enumerate(found)
    ]  # fmt: skip
    document = {"query": asked["query"], "follow_up_questions": None, "answer": None, "images": [],
            "results": results, "response_time": 0.42}  # fmt: skip
    return json_reply(document, spaced=True)


def _duckduckgo(press: Press, request: HttpRequest, view: View) -> Reply:
    query = (request.form() if request.method == "POST" else request.params()).get("q", "")
    blocks = [_block(title, quote(url, safe=""), text) for title, url, text in _found(press, query, view, 10)]
    nothing = "" if blocks else '<div class="no-results">No results.</div>'
    results = f'<div id="links" class="results">{"".join(blocks)}{nothing}</div>'
    page = f"<!DOCTYPE html><html><body>{results}</body></html>"
    return Reply(page.encode(), "text/html; charset=UTF-8")


def _block(title: str, address: str, text: str) -> str:
    href = f"//duckduckgo.com/l/?uddg={address}&amp;rut=0a1b2c"
    return (
        '<div class="result results_links results_links_deep web-result ">'
        '<div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{href}">{html.escape(title)}</a></h2>'
        f'<a class="result__snippet" href="{href}">{_marked(text)}</a></div></div>'
    )


def _marked(text: str) -> str:
    """Terms of the query are bold on the page."""
    head, _, rest = html.escape(text).partition(" ")
    return f"<b>{head}</b> {rest}"
