"""Calls of the telegraph."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pandas as pd

from core.clock import Clock
from core.errors import PayloadError
from core.market.securities import board_of
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Fetcher, Request, pairs
from resources.upstreams.eastmoney.news.articles import FLASH_COLUMNS
from resources.upstreams.parsing.frames import concat, frame
from resources.upstreams.parsing.payload import json_of, list_of, number, object_of, string_of, whole
from resources.upstreams.parsing.texts import plain_text, stock_codes
from resources.upstreams.upstream_client import UpstreamClient

# -- get_roll_list: flash news, newest first, asked with a signature of the query.

PAGE = 20
"""What the site's own page asks for."""
_LEVELS = {"A": 2, "B": 1, "C": 0}
_MARKETS = ("sh", "sz", "bj")


def sign(params: Sequence[tuple[str, str]]) -> str:
    """MD5 of the hex SHA-1 of the sorted query."""
    query = "&".join(f"{name}={value}" for name, value in sorted(params))
    inner = hashlib.sha1(query.encode(), usedforsecurity=False).hexdigest()
    return hashlib.md5(inner.encode(), usedforsecurity=False).hexdigest()


def roll_request(before: str, size: int = PAGE) -> Request:
    """The items before the Unix second `before`."""
    params = pairs(
        f"app=CailianpressWeb&category=&last_time={before}&os=web&refresh_type=1&rn={size}&sv=8.4.6"
    )
    signed = (*params, ("sign", sign(params)))
    return Request("cls.roll", "roll", "/v1/roll/get_roll_list", signed, label=before)


def parse_roll(body: bytes) -> pd.DataFrame:
    """Columns `FLASH_COLUMNS`, newest first, without boards and addresses."""
    document = object_of(json_of(body), "telegraph")
    if document.get("errno") != 0:
        raise PayloadError(f"telegraph: errno {document.get('errno')!r:.20} {str(document.get('msg'))[:60]}")
    data = object_of(document.get("data"), "telegraph data")
    listed = list_of(data.get("roll_data"), "roll_data")
    named = named_by("id")
    rows = accepted_rows(
        listed,
        lambda row: _item(object_of(row, "telegraph row")),
        "telegraph",
        lambda row: str(named(row) or ""),
    )
    return once_each(frame(rows, FLASH_COLUMNS), ["flash_id"], "telegraph")


def _item(row: dict[str, Any]) -> dict[str, Any]:
    item_id = whole(number(row.get("id"), "telegraph id", digits=0), "telegraph id")
    what = f"telegraph {item_id}"
    when = datetime.fromtimestamp(_second(row.get("ctime"), what), UTC).replace(tzinfo=None)
    content = plain_text(row.get("content") or row.get("brief") or "", f"{what} content")
    title = plain_text(row.get("title") or "", f"{what} title", 255) or content[:255]
    if not title:
        raise PayloadError(f"{what}: neither title nor content")
    codes = [
        code
        for raw in list_of(row.get("stock_list") or [], f"{what} stock_list")
        for value in object_of(raw, f"{what} stock").values()
        if isinstance(value, str) and value[:2] in _MARKETS
        for code in stock_codes(value[2:])
        if board_of(code, value[:2])  # not sh000001, which is an index
    ]
    return {
        "flash_id": f"cls{item_id}",
        "pub_time": str(when + timedelta(hours=8)),
        "title": title,
        "content": content or None,
        "media": "财联社",
        "importance": _LEVELS.get(string_of(row.get("level") or "C", f"{what} level"), 0),
        "codes": orjson.dumps(list(dict.fromkeys(codes))).decode(),
        "boards": "[]",
        "url": None,
    }


def _second(value: Any, what: str) -> int:
    second = whole(number(value, f"{what} ctime", digits=0), f"{what} ctime")
    if not 500_000_000 <= second <= 4_000_000_000:
        raise PayloadError(f"{what} ctime is no valid time: {value!r}")
    return second


class ClsClient(UpstreamClient):
    """The newest items are those before now."""

    source = "cls"

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        super().__init__(fetcher)
        self._clock = clock

    def flashes(self, since: str, most: int) -> pd.DataFrame:
        """Flash news from the newest back to the time `since`, at most `most`, newest first; columns
        `FLASH_COLUMNS`. One call per 20 items."""
        parts: list[pd.DataFrame] = []
        before, received = _client_second(self._clock.now().isoformat()), 0
        while received < most:
            page = self._ask(roll_request(before), parse_roll)
            received += len(page)
            parts.append(page[page["pub_time"] >= since])
            # A page may be short of a row that was rejected; the list goes on.
            if page.empty or len(parts[-1]) < len(page):
                break
            oldest = _client_second(str(page["pub_time"].iloc[-1]))
            # The same mark again would ask the same page for ever.
            if oldest == before:
                break
            before = oldest
        return concat(parts, FLASH_COLUMNS).drop_duplicates("flash_id", ignore_index=True).head(most)


def _client_second(local: str) -> str:
    when = datetime.fromisoformat(local) - timedelta(hours=8)
    return str(int(when.replace(tzinfo=UTC).timestamp()))
