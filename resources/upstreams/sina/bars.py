"""getKLineData: unadjusted bars without amounts, oldest first, at most 1,023 of them."""

from typing import Any

import pandas as pd

from core.errors import InputError
from core.market.symbols import instrument
from resources.transport.request import Request, pairs
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.bars import BAR_COLUMNS, MINUTE_COLUMNS, check_bars, in_order
from resources.upstreams.parsing.frames import frame

MOST_BARS = 1023
MINUTES = (5, 15, 30, 60)
_DAY = 240


def bars_request(symbol: str, count: int, minutes: int = _DAY) -> Request:
    """The newest `count` bars of a mainland symbol, of a day (240) or of some minutes. Raises InputError."""
    if minutes not in (*MINUTES, _DAY):
        raise InputError("minutes", f"{minutes} is none of {MINUTES}")
    if not 1 <= count <= MOST_BARS:
        raise InputError("count", f"{count} is not within 1..{MOST_BARS}")
    params = pairs(f"symbol={instrument(symbol).symbol}&scale={minutes}&ma=no&datalen={count}")
    path = "/quotes_service/api/json_v2.php/CN_MarketData.getKLineData"
    call = "bars" if minutes == _DAY else "minute_bars"
    return Request("sina.bars", call, path, params, label=symbol)


def parse_bars(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `BAR_COLUMNS`, volume shares, amount missing; no row for a symbol that the site does not
    know. A suspended day has no bar."""
    rows = [
        row | {"date": payload.iso_day(payload.string_of(day, f"{symbol} day"), f"{symbol} day")}
        for day, row in _rows(body, symbol)
    ]
    rows = in_order(rows, "date", f"{symbol} bars")
    check_bars(rows, instrument(symbol), symbol)
    return frame(rows, BAR_COLUMNS)


def parse_minute_bars(body: bytes, symbol: str, minutes: int) -> pd.DataFrame:
    """Columns `MINUTE_COLUMNS`, volume shares, amount missing; `datetime` is the end of the bar."""
    rows = []
    for day, row in _rows(body, symbol):
        when = payload.moment(payload.string_of(day, f"{symbol} time"), "%Y-%m-%d %H:%M:%S", f"{symbol} time")
        rows.append(row | {"period": f"{minutes}m", "datetime": when.isoformat(" ")})
    rows = in_order(rows, "datetime", f"{symbol} minute bars")
    check_bars(rows, instrument(symbol), symbol)
    return frame(rows, MINUTE_COLUMNS)


def _rows(body: bytes, symbol: str) -> list[tuple[Any, dict[str, Any]]]:
    """(day as on the wire, code with prices and volume) of every bar."""
    if payload.present(body) == b"null":
        return []
    what = instrument(symbol)
    rows = []
    for raw in payload.list_of(payload.json_of(body), f"{symbol} bars"):
        item = payload.object_of(raw, f"{symbol} bar")
        label = f"{symbol} {item.get('day')!s:.20}"
        row: dict[str, Any] = {"code": what.dataset_code}
        for name in ("open", "high", "low", "close"):
            row[name] = payload.required(payload.price(item.get(name), f"{label} {name}"), f"{label} {name}")
        row["volume"] = payload.required(
            payload.amount(item.get("volume"), f"{label} volume"), f"{label} volume"
        )
        rows.append((item.get("day"), row))
    return rows
