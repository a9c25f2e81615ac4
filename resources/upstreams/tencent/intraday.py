"""Intraday lines of the quote site: today and the last five days.

`"HHMM price cumVolume cumAmount"`: volume in lots (STAR: shares), amount in CNY, both since the open.
Rows after 15:00 are the after-hours fixed-price session and are dropped.
"""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.symbols import Instrument, instrument
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    ascending,
    iso_day,
    list_of,
    number,
    object_of,
    price,
    required,
    string_of,
)
from resources.upstreams.tencent.bars import entry_of
from resources.upstreams.tencent.quotes import lot_of

# `volume` and `amount` are those of the minute: differences of the cumulative values.
LINE_COLUMNS: dict[str, str] = {
    **texts("code datetime"),
    **numbers("price volume amount cum_volume cum_amount last_close"),
}


def intraday_request(symbol: str) -> Request:
    what = instrument(symbol)
    return Request(
        "tencent.intraday",
        "intraday",
        "/appstock/app/minute/query",
        (("code", what.symbol),),
        label=what.symbol,
    )


def five_day_request(symbol: str) -> Request:
    what = instrument(symbol)
    return Request(
        "tencent.intraday", "five_day", "/appstock/app/day/query", (("code", what.symbol),), label=what.symbol
    )


def parse_intraday(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `LINE_COLUMNS`; no rows before the open and for unknown symbols."""
    what = instrument(symbol)
    entry = entry_of(body, what, "line")
    inner = entry.get("data")
    if not inner:
        return frame([], LINE_COLUMNS)
    inner = object_of(inner, f"{symbol} line")
    qt = list_of(object_of(entry.get("qt") or {}, f"{symbol} qt").get(symbol) or [], f"{symbol} qt")
    last_close = number(qt[4] if len(qt) > 4 else None, f"{symbol} last close")
    rows = _line(what, str(inner.get("date", "")), inner.get("data") or [], last_close)
    return frame(rows, LINE_COLUMNS)


def parse_five_day(body: bytes, symbol: str) -> pd.DataFrame:
    """The same columns for up to five dates, oldest first (the wire has the newest first)."""
    what = instrument(symbol)
    days = list_of(entry_of(body, what, "line").get("data") or [], f"{symbol} days")
    rows: list[dict[str, Any]] = []
    for raw in reversed(days):
        day = object_of(raw, f"{symbol} day")
        last_close = number(day.get("prec"), f"{symbol} last close")
        rows += _line(what, str(day.get("date", "")), day.get("data") or [], last_close)
    ascending([row["datetime"] for row in rows], f"{symbol} five days")
    return frame(rows, LINE_COLUMNS)


def _line(what: Instrument, date: str, lines: Any, last_close: float) -> list[dict[str, Any]]:
    if not lines:
        return []
    day = iso_day(date, f"{what.symbol} line date")
    rows: list[dict[str, Any]] = []
    volume_before = amount_before = 0.0
    for raw in list_of(lines, f"{what.symbol} line"):
        parts = string_of(raw, f"{what.symbol} line").split()
        clock = parts[0] if parts else ""
        valid = len(clock) == 4 and clock.isascii() and clock.isdigit()
        if len(parts) != 4 or not valid or clock[2:] > "59" or clock > "2359":
            raise PayloadError(f"{what.symbol}: intraday row {raw!r}")
        if clock > "1500":
            continue
        volume = required(amount(parts[2], "cumulative volume", scale=lot_of(what)), "cumulative volume")
        money = required(amount(parts[3], "cumulative amount"), "cumulative amount")
        if volume < volume_before or money < amount_before:
            raise PayloadError(f"{what.symbol}: cumulative values fall at {day} {clock}")
        rows.append(
            {
                "code": what.dataset_code,
                "datetime": f"{day} {clock[:2]}:{clock[2:]}:00",
                "price": required(price(parts[1], "price"), "price"),
                "volume": volume - volume_before,
                "amount": round(money - amount_before, 2),
                "cum_volume": volume,
                "cum_amount": money,
                "last_close": last_close,
            }
        )
        volume_before, amount_before = volume, money
    ascending([row["datetime"] for row in rows], f"{what.symbol} line")
    return rows
