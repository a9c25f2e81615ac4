"""The simulated searches: our clients and a reader that others wrote find the same."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup

from core.errors import Refused
from resources.upstreams.websearch.duckduckgo import DuckduckgoClient, search_request
from resources.upstreams.websearch.tavily import TavilyClient
from tests.simulated_market.http.conftest import Bench


def test_the_page_is_read_as_other_clients_read_it(bench: Bench) -> None:
    fetcher = bench.transport.logged(bench.log)
    hits = DuckduckgoClient(fetcher).search("公告", 6)
    assert 0 < len(hits) <= 6
    page = fetcher.call(search_request("公告"), lambda body: BeautifulSoup(body, "html.parser"))
    read = [
        (link.get_text(), parse_qs(urlsplit(str(link["href"])).query)["uddg"][0])
        for link in page.select("div.result__body h2 a.result__a")
    ]
    assert [(hit["title"], hit["url"]) for hit in hits] == read[:6]


def test_the_api_requires_a_key(bench: Bench) -> None:
    fetcher = bench.transport.logged(bench.log)
    assert len(TavilyClient(fetcher, "tvly-abcdef").search("公告", 3)) == 3
    with pytest.raises(Refused):
        TavilyClient(fetcher, "wrong").search("公告", 3)
    assert json.dumps("tvly-abcdef") not in str(bench.log)
