"""The search API of Tavily: POST /search with a key; JSON {results[{title, url, content, score}]}.

The format as its own client sends and reads it (tavily-python 0.7, `TavilyClient._search`).
"""

import orjson

from resources.transport.request import Fetcher, Request
from resources.upstreams.parsing.payload import json_of, list_of, object_of
from resources.upstreams.upstream_client import UpstreamClient
from resources.upstreams.websearch.hits import Hit, hit_of


def search_request(query: str, most: int, key: str) -> Request:
    body = {"query": query, "search_depth": "basic", "topic": "general", "max_results": most}
    headers = (("Content-Type", "application/json"), ("Authorization", f"Bearer {key}"))
    return Request(
        "tavily.search", "search", "/search", method="POST", headers=headers, content=orjson.dumps(body)
    )


def parse_search(body: bytes) -> list[Hit]:
    """Raises PayloadError."""
    document = object_of(json_of(body), "tavily")
    rows = [object_of(row, "tavily result") for row in list_of(document.get("results"), "tavily results")]
    hits = (hit_of(row.get("title"), row.get("url"), row.get("content"), "tavily") for row in rows)
    return [one for one in hits if one is not None]


class TavilyClient(UpstreamClient):
    """A web search that takes a key."""

    source = "tavily"

    def __init__(self, fetcher: Fetcher, key: str) -> None:
        super().__init__(fetcher)
        self._key = key

    def search(self, query: str, most: int) -> list[Hit]:
        """At most `most` hits, best first. One call."""
        return self._ask(search_request(query, most, self._key), parse_search)[:most]
