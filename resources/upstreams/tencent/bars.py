"""Bars of the quote site: day, week, month (newfqkline, unadjusted) and minutes (mkline).

Row order is open, CLOSE, high, low. Volume is lots (STAR and foreign: shares). newfqkline carries the
amount in 10k CNY; the seventh value of a minute row is a turnover in basis points, not an amount.
"""

import re
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import Instrument, instrument
from resources.transport.request import Request
from resources.upstreams.parsing.bars import BAR_COLUMNS, MINUTE_COLUMNS, check_bars, in_order
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    moment,
    number,
    object_of,
    price,
    required,
    string_of,
)
from resources.upstreams.tencent.quotes import check_identity, lot_of

PERIODS = ("day", "week", "month")
MINUTES = (1, 5, 15, 30, 60)
MOST_BARS = 2000
MOST_MINUTE_BARS = 320


def bars_request(symbol: str, *, period: str, start: str, end: str, count: int) -> Request:
    """`start`, `end` ISO dates or ''. The empty last field of `param` requests unadjusted bars."""
    what = instrument(symbol)
    if period not in PERIODS:
        raise InputError("period", f"{period!r} is none of {', '.join(PERIODS)}")
    if not 1 <= count <= MOST_BARS:
        raise InputError("count", f"{count} is not in 1..{MOST_BARS}")
    param = f"{what.symbol},{period},{start},{end},{count},"
    return Request(
        "tencent.finance",
        "bars",
        "/ifzqgtimg/appstock/app/newfqkline/get",
        (("param", param),),
        label=what.symbol,
    )


def parse_bars(body: bytes, symbol: str, *, period: str, start: str = "", end: str = "") -> pd.DataFrame:
    """Columns `BAR_COLUMNS`, oldest first. A symbol that the site does not have has no rows. PayloadError for
    a series under another name, as an adjusted one has."""
    what = instrument(symbol)
    rows = []
    for raw in _series(entry_of(body, what), period, what):
        values = list_of(raw, f"{symbol} bar")
        if len(values) < 6:
            raise PayloadError(f"{symbol}: a bar of {len(values)} values")
        day = iso_day(string_of(values[0], "bar date"), f"{symbol} bar date")
        if (start and day < start) or (end and day > end):
            raise PayloadError(f"{symbol}: bar of {day} is outside {start}..{end}")
        rows.append(
            _ohlcv(what, values, day)
            | {
                "code": what.dataset_code,
                "date": day,
                "turnover_pct": number(values[7] if len(values) > 7 else None, f"{symbol} {day} turnover"),
                "amount": amount(
                    values[8] if len(values) > 8 else None, f"{symbol} {day} amount", scale=10_000.0
                ),
            }
        )
    rows = in_order(rows, "date", f"{symbol} bars")
    check_bars(rows, what, f"{symbol} {period} bars")
    return frame(rows, BAR_COLUMNS)


EXRIGHT_COLUMNS = texts("code date") | numbers("cash_per10 bonus_per10")
_GIVEN = re.compile(r"(送|转增|转|派)(\d+(?:\.\d+)?)(?:股|元)?")
_DIVIDEND = re.compile(rf"10(?:{_GIVEN.pattern})+(?:[(（].*)?[;；]?")


def parse_exrights(body: bytes, symbol: str) -> pd.DataFrame:
    """Dividends that the daily bars of an answer are marked with; columns `EXRIGHT_COLUMNS`, amounts in CNY
    and shares per 10 shares. A mark without words about a dividend, or with others (rights), is none."""
    what = instrument(symbol)
    rows = []
    for raw in list_of(entry_of(body, what).get("day", []), f"{symbol} day bars"):
        for mark in list_of(raw, f"{symbol} bar"):
            if not isinstance(mark, dict) or not mark.get("cqr"):
                continue
            text = string_of(mark.get("FHcontent") or "", f"{symbol} dividend").replace(" ", "")
            if not _DIVIDEND.fullmatch(text):
                continue
            given = {"派": 0.0, "送": 0.0, "转": 0.0}
            for kind, value in _GIVEN.findall(text):
                given[kind[0]] += float(value)
            rows.append(
                {
                    "code": what.dataset_code,
                    "date": iso_day(string_of(mark["cqr"], f"{symbol} ex-date"), f"{symbol} ex-date"),
                    "cash_per10": given["派"],
                    "bonus_per10": given["送"] + given["转"],
                }
            )
    return frame(rows, EXRIGHT_COLUMNS)


def minute_bars_request(symbol: str, minutes: int, count: int) -> Request:
    what = instrument(symbol)
    if minutes not in MINUTES:
        raise InputError("minutes", f"{minutes} is none of {MINUTES}")
    if not 1 <= count <= MOST_MINUTE_BARS:
        raise InputError("count", f"{count} is not in 1..{MOST_MINUTE_BARS}")
    return Request(
        "tencent.minute",
        "minute_bars",
        "/appstock/app/kline/mkline",
        (("param", f"{what.symbol},m{minutes},,{count}"),),
        label=what.symbol,
    )


def parse_minute_bars(body: bytes, symbol: str, minutes: int) -> pd.DataFrame:
    """Columns `MINUTE_COLUMNS`; `datetime` is the end of the bar, `amount` is always missing."""
    what = instrument(symbol)
    rows = []
    for raw in _series(entry_of(body, what), f"m{minutes}", what):
        values = list_of(raw, f"{symbol} minute bar")
        if len(values) < 6:
            raise PayloadError(f"{symbol}: a minute bar of {len(values)} values")
        when = moment(string_of(values[0], "bar time"), "%Y%m%d%H%M", f"{symbol} bar time").isoformat(" ")
        rows.append(
            _ohlcv(what, values, when)
            | {"code": what.dataset_code, "period": f"{minutes}m", "datetime": when}
        )
    rows = in_order(rows, "datetime", f"{symbol} minute bars")
    check_bars(rows, what, f"{symbol} minute bars")
    return frame(rows, MINUTE_COLUMNS)


def data_of(body: bytes, what: str) -> dict[str, Any]:
    """The `data` of a JSON answer; {} when the upstream has nothing (`{}`, `[]` or null)."""
    document = object_of(json_of(body), what)
    if "code" not in document and "data" not in document:
        raise PayloadError(f"{what}: neither code nor data")
    if document.get("code", 0) != 0:
        raise PayloadError(f"{what}: code {document.get('code')!r}, {str(document.get('msg'))[:80]!r}")
    data = document.get("data")
    return object_of(data, f"{what} data") if data else {}


def entry_of(body: bytes, what: Instrument, kind: str = "bars") -> dict[str, Any]:
    """The part of an answer about its one instrument; {} when the upstream has nothing."""
    data = data_of(body, f"{what.symbol} {kind}")
    if not data:
        return {}
    if what.symbol not in data:
        raise PayloadError(f"{what.symbol}: the answer is about {', '.join(list(data)[:3])}")
    held = data[what.symbol]
    if not held:
        return {}
    held = object_of(held, f"{what.symbol} entry")
    # `qt` is [] for an unknown code, a list of fields (mkline, intraday) or absent.
    qt = held.get("qt")
    fields = qt.get(what.symbol) if isinstance(qt, dict) else None
    if isinstance(fields, list) and len(fields) > 2 and all(isinstance(field, str) for field in fields):
        check_identity(what, fields)
    return held


def _series(held: dict[str, Any], name: str, what: Instrument) -> list[Any]:
    """The bars under `name`; none of an entry without any series. PayloadError for one under another name."""
    if name not in held:
        others = [
            other for other, value in held.items() if other != "qt" and isinstance(value, list) and value
        ]
        if others:
            raise PayloadError(f"{what.symbol}: {', '.join(others[:3])} in place of {name}")
    return list_of(held.get(name, []), f"{what.symbol} {name} bars")


def _ohlcv(what: Instrument, values: list[Any], label: str) -> dict[str, Any]:
    name = f"{what.symbol} {label}"
    return {
        "open": required(price(values[1], f"{name} open"), f"{name} open"),
        "close": required(price(values[2], f"{name} close"), f"{name} close"),
        "high": required(price(values[3], f"{name} high"), f"{name} high"),
        "low": required(price(values[4], f"{name} low"), f"{name} low"),
        "volume": required(amount(values[5], f"{name} volume", scale=lot_of(what)), f"{name} volume"),
    }
