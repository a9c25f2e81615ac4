"""zhibo feed: flash news around the clock, newest first, by pages. An item's id is documented nowhere, so
that of a row is made of its time and text."""

import hashlib
import re
from typing import Any

import orjson
import pandas as pd

from core.errors import PayloadError
from core.market.securities import board_of
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.news.articles import FLASH_COLUMNS
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.payload import json_of, list_of, moment, object_of, string_of
from resources.upstreams.parsing.texts import plain_text, stock_codes

PAGE = 20
_SECOND = "%Y-%m-%d %H:%M:%S"
_TITLE = re.compile(r"\A【([^】]{1,200})】")


def feed_request(page: int) -> Request:
    params = pairs(f"page={page}&page_size={PAGE}&zhibo_id=152&tag_id=0&dire=f&dpc=1")
    return Request("sina.live", "feed", "/api/zhibo/feed", params, label=f"page {page}")


def parse_feed(body: bytes) -> pd.DataFrame:
    """Columns `FLASH_COLUMNS`, newest first; the site has no importance, boards and addresses."""
    node = object_of(object_of(json_of(body), "feed").get("result"), "feed result")
    for name in ("data", "feed"):
        node = object_of(node.get(name), f"feed {name}")
    listed = list_of(node.get("list"), "feed list")
    rows = accepted_rows(
        listed, lambda row: _item(object_of(row, "feed row")), "feed", named_by("create_time")
    )
    return once_each(frame(rows, FLASH_COLUMNS), ["flash_id"], "feed")


def _item(row: dict[str, Any]) -> dict[str, Any]:
    time = str(moment(string_of(row.get("create_time"), "feed create_time"), _SECOND, "feed create_time"))
    content = plain_text(row.get("rich_text"), f"feed {time} rich_text")
    if not content:
        raise PayloadError(f"feed {time}: no text")
    title = _TITLE.match(content)
    mark = hashlib.sha256(f"{time}\n{content}".encode()).hexdigest()[:28]
    return {
        "flash_id": f"sina{mark}",
        "pub_time": time,
        "title": title[1] if title else content[:255],
        "content": content,
        "media": "新浪财经",
        "importance": 0,
        "codes": orjson.dumps(_codes(row.get("ext"), f"feed {time}")).decode(),
        "boards": "[]",
        "url": None,
    }


def _codes(ext: Any, what: str) -> list[str]:
    """Codes of A shares in the JSON text of `ext`."""
    if not ext:
        return []
    document = object_of(json_of(string_of(ext, f"{what} ext").encode()), f"{what} ext")
    found = []
    for raw in list_of(document.get("stocks") or [], f"{what} stocks"):
        symbol = string_of(object_of(raw, f"{what} stock").get("symbol") or "", f"{what} symbol")
        if symbol[:2] in {"sh", "sz", "bj"}:
            # sh000001 is an index.
            found += [code for code in stock_codes(symbol[2:]) if board_of(code, symbol[:2])]
    return list(dict.fromkeys(found))
