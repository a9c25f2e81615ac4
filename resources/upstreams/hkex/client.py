"""Calls of the Hong Kong exchange's site."""

import math
import re
from typing import Any

import pandas as pd

from core.errors import PayloadError, Permanent
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.paging import no_file
from resources.upstreams.parsing.payload import (
    grouped_amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    required,
    string_of,
)
from resources.upstreams.parsing.stock_connect_days import DAY_COLUMNS, MILLION, accepted, day_frame
from resources.upstreams.upstream_client import UpstreamClient

# -- Stock connect by date (DailyStat): a script that assigns one list, a part per market. Millions.
# A part has tables with a schema (names) and a row for each of them. `999,999,999` means that the quota is
# not disclosed. There is no file of a day without trading in Hong Kong.

MARKETS = {
    "SSE Northbound": "hgt",
    "SZSE Northbound": "sgt",
    "SSE Southbound": "ggt_sh",
    "SZSE Southbound": "ggt_sz",
}
_TURNOVER, _COUNT = "Total Turnover", "Total Trade Count"
_BOUGHT, _SOLD, _QUOTA = "Buy Turnover", "Sell Turnover", "DQB"
_NOT_REPORTED = 999_999_999.0
_ESCAPES = re.compile(rb'\\(?!["\\/bfnrtu])')
"""The site's script escapes single characters of names (`阅\\文`), which a script may and JSON may not."""


def daily_request(day: str) -> Request:
    path = f"/chi/csm/DailyStat/data_tab_daily_{day.replace('-', '')}c.js"
    return Request("hkex.connect", "daily", path, label=day)


def parse_daily(body: bytes, day: str) -> pd.DataFrame:
    """Columns `DAY_COLUMNS`: the channels that were open, and `north`, the sum of both northbound ones.
    PayloadError for another day, a market that is missing, or figures that contradict each other."""
    what = f"stock connect {day}"
    parts = [object_of(one, what) for one in list_of(json_of(_ESCAPES.sub(b"", body)), what)]
    markets = [string_of(part.get("market"), f"{what} market") for part in parts]
    if sorted(markets) != sorted(MARKETS):
        raise PayloadError(f"{what}: markets {', '.join(markets)[:80]}")
    rows = [made for part in parts if (made := _row(part, day)) is not None]
    north = [row for row in rows if row["channel"] in {"hgt", "sgt"}]
    if len(north) == 2:
        sums = {name: round(north[0][name] + north[1][name], 2) for name in north[0] if name not in _NAMES}
        rows.append({"trade_date": day, "channel": "north", **sums})
    return day_frame(rows, what)


_NAMES = ("trade_date", "channel")


def _row(part: dict[str, Any], day: str) -> dict[str, Any] | None:
    """One market; None on a day on which it was closed."""
    market = str(part["market"])
    what = f"{market} {day}"
    stated = iso_day(string_of(part.get("date"), f"{what} date"), f"{what} date")
    if stated != day:
        raise PayloadError(f"{what} answered for {stated}")
    traded = number(part.get("tradingDay"), f"{what} tradingDay")
    if traded == 0:
        return None
    if traded != 1:
        raise PayloadError(f"{what}: tradingDay {part.get('tradingDay')!r:.20}")
    figures = _figures(part, what)
    for name in (_TURNOVER, _COUNT):
        if name not in figures:
            raise PayloadError(f"{what}: no {name}")
    turnover = _million(figures[_TURNOVER], f"{what} {_TURNOVER}")
    bought, sold = (_million(figures.get(name), f"{what} {name}") for name in (_BOUGHT, _SOLD))
    return accepted(
        {
            "trade_date": day,
            "channel": MARKETS[market],
            "net_buy": round(bought - sold, 2),
            "buy_amt": bought,
            "sell_amt": sold,
            "deal_amt": required(turnover, f"{what} {_TURNOVER}"),
            "quota_balance": _million(figures.get(_QUOTA), f"{what} {_QUOTA}"),
            "trade_count": required(grouped_amount(figures[_COUNT], f"{what} {_COUNT}"), what),
        },
        what,
    )


def _figures(part: dict[str, Any], what: str) -> dict[str, Any]:
    """Name -> value of the first table: its rows are in the order of its schema."""
    content = list_of(part.get("content"), f"{what} content")
    table = object_of(object_of(content[0] if content else None, f"{what} content").get("table"), what)
    schema = list_of(table.get("schema"), f"{what} schema")
    names = [string_of(name, f"{what} schema") for name in list_of(schema[0] if schema else None, what)]
    rows = [object_of(row, f"{what} row") for row in list_of(table.get("tr"), f"{what} rows")]
    if len(rows) != len(names) or len(set(names)) != len(names):
        raise PayloadError(f"{what}: {len(rows)} rows under {len(names)} names")
    values = []
    for row in rows:
        cells = list_of(row.get("td"), f"{what} cells")
        inner = list_of(cells[0] if cells else None, f"{what} cell")
        values.append(inner[0] if inner else None)
    return dict(zip(names, values, strict=True))


def _million(value: Any, what: str) -> float:
    """10k from millions; missing where it is not disclosed."""
    plain = grouped_amount(value, what)
    return math.nan if plain >= _NOT_REPORTED else round(plain * MILLION, 2)


class HkexClient(UpstreamClient):
    source = "hkex"

    def connect_day(self, day: str) -> pd.DataFrame:
        """The stock connect on one date by channel, with `north`, the sum of both northbound ones; columns
        `DAY_COLUMNS`, one call. Empty where there is no file: no trading in Hong Kong, not out yet, or
        longer ago than the site keeps."""
        try:
            return self._ask(daily_request(day), parse_daily, day=day)
        except Permanent as error:
            if not no_file(error):
                raise
            return frame([], DAY_COLUMNS)
