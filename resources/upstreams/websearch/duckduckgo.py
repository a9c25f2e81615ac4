"""The page of DuckDuckGo without scripts: a form with `q`, results as links of the class `result__a`.

The format as public clients read it (duckduckgo_search 3, `_text_html`): links of results lead over /l/ with
the address in `uddg`, advertisements over /y.js. A client with too many requests gets a page with a puzzle
and no result.
"""

from urllib.parse import parse_qs, urlencode, urlsplit

from core.errors import PayloadError, Refused
from resources.transport.request import Request
from resources.upstreams.parsing.html_tables import html_page
from resources.upstreams.upstream_client import UpstreamClient
from resources.upstreams.websearch.hits import Hit, hit_of

_PUZZLE = (b"anomaly-modal", b"anomaly_modal", b"challenge-form")
_NOTHING = b"no-results"


def search_request(query: str) -> Request:
    return Request(
        "duckduckgo.html", "search", "/html/", method="POST",
        headers=(("Content-Type", "application/x-www-form-urlencoded"),),
        content=urlencode({"q": query, "b": "", "kl": "cn-zh"}).encode(),
    )  # fmt: skip


def parse_search(body: bytes) -> list[Hit]:
    """Raises Refused for the puzzle, PayloadError for a page without results that does not say so."""
    found = _results(body.decode("utf-8", "replace"))
    if not found:
        if any(mark in body for mark in _PUZZLE):
            raise Refused("duckduckgo: a puzzle for people", source="duckduckgo")
        if _NOTHING not in body:
            raise PayloadError("duckduckgo: a page without results", source="duckduckgo")
    hits = (hit_of(title, _address(href), text, "duckduckgo") for href, title, text in found)
    return [one for one in hits if one is not None]


def _address(href: str) -> str | None:
    """The page behind a link of the results; None for an advertisement."""
    parts = urlsplit(f"https:{href}" if href.startswith("//") else href)
    if parts.hostname is None or not parts.hostname.endswith("duckduckgo.com"):
        return href
    target = parse_qs(parts.query).get("uddg", [])
    return target[0] if parts.path == "/l/" and target else None


def _results(page: str) -> list[tuple[str, str, str]]:
    """(address, title, text) of every result."""
    found: list[tuple[str, str, str]] = []
    for node in html_page(page).iter("*"):
        names = node.get("class", "").split()
        if node.tag == "a" and "result__a" in names:
            found.append((node.get("href", ""), node.text_content(), ""))
        elif "result__snippet" in names and found:
            href, title, text = found[-1]
            found[-1] = (href, title, text + node.text_content())
    return found


class DuckduckgoClient(UpstreamClient):
    source = "duckduckgo"

    def search(self, query: str, most: int) -> list[Hit]:
        """At most `most` hits, best first. One call."""
        return self._ask(search_request(query), parse_search)[:most]
