"""getKLineData: unadjusted bars without amounts, oldest first, at most 1,023 of them."""

from typing import Any

import pandas as pd

from resources.errors import InputError
from resources.transport.request import Request
from resources.upstreams.bars import BAR_COLUMNS, check_bars
from resources.upstreams.frames import frame
from resources.upstreams.payload import (
    amount,
    ascending,
    iso_day,
    json_of,
    list_of,
    object_of,
    present,
    price,
    required,
    string_of,
)
from resources.upstreams.symbols import instrument

MOST_BARS = 1023


def bars_request(symbol: str, count: int) -> Request:
    """The newest `count` daily bars of a mainland symbol. Raises InputError."""
    if not 1 <= count <= MOST_BARS:
        raise InputError("count", f"{count} is not within 1..{MOST_BARS}")
    params = (("symbol", instrument(symbol).symbol), ("scale", "240"), ("ma", "no"), ("datalen", str(count)))
    path = "/quotes_service/api/json_v2.php/CN_MarketData.getKLineData"
    return Request("sina.bars", "bars", path, params, label=symbol)


def parse_bars(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `BAR_COLUMNS`, volume shares, amount missing; no row for a symbol that the site does not
    know. A suspended day has no bar."""
    if present(body) == b"null":
        return frame([], BAR_COLUMNS)
    what = instrument(symbol)
    rows: list[dict[str, Any]] = []
    for raw in list_of(json_of(body), f"{symbol} bars"):
        item = object_of(raw, f"{symbol} bar")
        day = iso_day(string_of(item.get("day"), f"{symbol} day"), f"{symbol} day")
        row: dict[str, Any] = {"code": what.dataset_code, "date": day}
        for name in ("open", "high", "low", "close"):
            row[name] = required(price(item.get(name), f"{symbol} {day} {name}"), f"{symbol} {day} {name}")
        row["volume"] = required(
            amount(item.get("volume"), f"{symbol} {day} volume"), f"{symbol} {day} volume"
        )
        rows.append(row)
    ascending([row["date"] for row in rows], f"{symbol} bars")
    check_bars(rows, what, symbol)
    return frame(rows, BAR_COLUMNS)
