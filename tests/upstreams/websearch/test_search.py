"""Search of the web: pages as they come, pages that are none."""

import json

import pytest

from core.errors import PayloadError, Refused
from resources.upstreams.websearch import duckduckgo, tavily

PAGE = """<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result result--ad"><h2 class="result__title"><a class="result__a"
 href="//duckduckgo.com/y.js?ad_domain=shop.example&amp;uddg=https%3A%2F%2Fshop.example">买它</a></h2>
 <a class="result__snippet" href="//duckduckgo.com/y.js?x=1">广告</a></div>
<div class="result web-result"><h2 class="result__title"><a rel="nofollow" class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fnews.example%2Fa%3Fid%3D1&amp;rut=0f">贵州<b>茅台</b>公告</a></h2>
 <a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">公司<b>发布</b>半年报<br>摘要</a></div>
<div class="result web-result"><h2><a class="result__a" href="javascript:alert(1)">坏链接</a></h2></div>
</div></body></html>"""


def test_results_without_advertisements_and_without_scripts() -> None:
    assert duckduckgo.parse_search(PAGE.encode()) == [
        {"title": "贵州茅台公告", "url": "https://news.example/a?id=1", "content": "公司发布半年报摘要"}
    ]


def test_a_puzzle_is_a_refusal_and_nothing_is_nothing() -> None:
    with pytest.raises(Refused):
        duckduckgo.parse_search(b'<html><div class="anomaly-modal__title">Unfortunately, bots</div></html>')
    assert duckduckgo.parse_search(b'<html><div class="no-results">No results.</div></html>') == []
    with pytest.raises(PayloadError):
        duckduckgo.parse_search(b"<html>hello</html>")


def test_the_api_is_asked_as_its_own_client_asks() -> None:
    sent = tavily.search_request("茅台", 6, "tvly-abc")
    assert (sent.method, sent.path, dict(sent.headers)["Authorization"]) == (
        "POST", "/search", "Bearer tvly-abc",
    )  # fmt: skip
    assert json.loads(sent.content) == {
        "query": "茅台", "search_depth": "basic", "topic": "general", "max_results": 6,
    }  # fmt: skip


def test_answers_of_the_api() -> None:
    rows = [{"title": "公告", "url": "https://news.example/b", "content": "正文", "score": 0.9},
            {"title": "没有地址", "url": "file:///etc/passwd", "content": ""}]  # fmt: skip
    body = json.dumps({"query": "x", "results": rows}).encode()
    assert tavily.parse_search(body) == [
        {"title": "公告", "url": "https://news.example/b", "content": "正文"}
    ]
    for bad in (b"{}", b"[]", b"<html>", b'{"results": [1]}'):
        with pytest.raises((PayloadError, Refused)):
            tavily.parse_search(bad)
