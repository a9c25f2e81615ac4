"""last.js of the line host: unadjusted daily bars of one security, oldest first: a call of a function whose
name holds the code, around rows that are joined by semicolons.

A row is date, open, high, low, close, shares, CNY, turnover in percent and three fields that are not read.
"""

import re
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.transport.request import Request
from resources.upstreams.parsing.bars import BAR_COLUMNS, check_bars
from resources.upstreams.parsing.frames import frame
from resources.upstreams.parsing.payload import (
    amount,
    ascending,
    iso_day,
    json_of,
    number,
    object_of,
    present,
    price,
    required,
    string_of,
)

SHORT, MOST_BARS = 140, 1800
_FIELDS = 8
_CALL = re.compile(rb"\Aquotebridge_v6_line_hs_(\d{6})_(\d\d)_last\w*\(")
_RAW = "00"


def bars_request(symbol: str, count: int) -> Request:
    """The newest `count` daily bars of a security of Shanghai or Shenzhen. Raises InputError."""
    what = instrument(symbol)
    if what.market not in {"SH", "SZ"} or what.kind == "index":
        raise InputError("symbol", f"{symbol} is no security of Shanghai or Shenzhen")
    if not 1 <= count <= MOST_BARS:
        raise InputError("count", f"{count} is not within 1..{MOST_BARS}")
    name = "last" if count <= SHORT else f"last{MOST_BARS}"
    return Request("ths.lines", "bars", f"/v6/line/hs_{what.code}/{_RAW}/{name}.js", label=what.symbol)


def parse_bars(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `BAR_COLUMNS`. PayloadError for another security, adjusted bars, or rows that cannot be."""
    what = instrument(symbol)
    call = _CALL.match(present(body))
    if call is None or call[1].decode() != what.code or call[2].decode() != _RAW:
        raise PayloadError(f"{symbol}: not its bars but {body[:40]!r}")
    text = string_of(object_of(json_of(body), f"{symbol} bars").get("data"), f"{symbol} bars")
    rows = [_row(line.split(","), what.dataset_code, symbol) for line in text.split(";") if line]
    ascending([row["date"] for row in rows], f"{symbol} bars")
    check_bars(rows, what, symbol)
    return frame(rows, BAR_COLUMNS)


def _row(fields: list[str], code: str, symbol: str) -> dict[str, Any]:
    if len(fields) < _FIELDS:
        raise PayloadError(f"{symbol}: a bar of {len(fields)} fields")
    day = iso_day(fields[0], f"{symbol} day")
    row: dict[str, Any] = {"code": code, "date": day}
    for at, name in enumerate(("open", "high", "low", "close"), start=1):
        row[name] = required(price(fields[at], f"{symbol} {day} {name}"), f"{symbol} {day} {name}")
    row["volume"] = required(amount(fields[5], f"{symbol} {day} volume"), f"{symbol} {day} volume")
    row["amount"] = amount(fields[6], f"{symbol} {day} amount")
    row["turnover_pct"] = number(fields[7], f"{symbol} {day} turnover")
    return row
