"""hq.sinajs.cn records of markets outside the mainland, five forms: American and Hong Kong indices, exchange
rates, the dollar index, futures abroad. Where a record has its own change, the prices have to agree with it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.foreign_markets import OUTSIDE_COLUMNS, SERIES, Outside
from resources.upstreams.parsing.frames import frame
from resources.upstreams.sina.quotes import statements

_STATEMENT = re.compile(r'var hq_str_([A-Za-z_$0-9]+)="([^"]*)";\s*')
_BY_SYMBOL = {one.symbol: one for one in SERIES.values()}
_SAME = 0.001
"""Of the price: the difference that rounding may leave between the stated change and the prices."""
Fields = Sequence[str]


def outside_request() -> Request:
    """All series in one call."""
    return Request("sina.quote", "quote", f"/list={','.join(_BY_SYMBOL)}", label="outside")


def parse_outside(body: bytes) -> pd.DataFrame:
    """Columns `OUTSIDE_COLUMNS`; a series with an empty record has no row."""
    answered = statements(body, _STATEMENT, _BY_SYMBOL, "outside")
    rows = [_row(_BY_SYMBOL[symbol], record) for symbol, record in answered.items() if record]
    return frame(rows, OUTSIDE_COLUMNS)


def _row(one: Outside, record: str) -> dict[str, Any]:
    fields = record.split(",")
    form = next(read for begins, read in _FORMS.items() if one.symbol.startswith(begins))
    row = form(fields, one.symbol)
    for name in ("price", "last_close"):
        payload.required(row[name], f"{one.symbol} {name}")
    payload.between_extremes(row["price"], row["low"], row["high"], one.symbol)
    return {"series": one.series, "name": one.name, "date": row["quote_time"][:10], **row}


def _field(fields: Fields, place: int, what: str) -> str:
    if len(fields) <= place:
        raise PayloadError(f"{what}: {len(fields)} fields")
    return fields[place].strip()


def _prices(fields: Fields, places: Mapping[str, int], what: str) -> dict[str, Any]:
    return {
        name: payload.nothing_to_missing(payload.price(_field(fields, place, what), f"{what} field {place}"))
        for name, place in places.items()
    }


def _fits(row: Mapping[str, Any], stated: str, what: str) -> None:
    """Raises PayloadError when the record's change is not that of its prices."""
    change = payload.number(stated, f"{what} change")
    if abs(row["price"] - row["last_close"] - change) > _SAME * row["price"]:
        raise PayloadError(f"{what}: {row['price']} - {row['last_close']} is not {change}")


def _time(text: str, what: str, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    return payload.moment(text, pattern, f"{what} time").strftime("%Y-%m-%d %H:%M:%S")


def _american(fields: Fields, what: str) -> dict[str, Any]:
    """Name, price, percent, Shanghai time, change, open, high, low ...; 26 the close before."""
    row = _prices(fields, {"price": 1, "open": 5, "high": 6, "low": 7, "last_close": 26}, what)
    _fits(row, _field(fields, 4, what), what)
    return {"quote_time": _time(_field(fields, 3, what), what), **row}


def _hong_kong(fields: Fields, what: str) -> dict[str, Any]:
    """Two names, open, close before, high, low, price, change ...; 17 date, 18 time."""
    row = _prices(fields, {"price": 6, "open": 2, "high": 4, "low": 5, "last_close": 3}, what)
    _fits(row, _field(fields, 7, what), what)
    time = f"{_field(fields, 17, what)} {_field(fields, 18, what)}"
    pattern = "%Y/%m/%d %H:%M:%S" if time.count(":") == 2 else "%Y/%m/%d %H:%M"
    return {"quote_time": _time(time, what, pattern), **row}


def _rate(fields: Fields, what: str) -> dict[str, Any]:
    """Time, bid, ask, close before, points, open, high, low, last, name ...; the date comes last."""
    row = _prices(fields, {"price": 8, "open": 5, "high": 6, "low": 7, "last_close": 3}, what)
    time = f"{_field(fields, len(fields) - 1, what)} {_field(fields, 0, what)}"
    return {"quote_time": _time(time, what), **row}


def _exchange_rate(fields: Fields, what: str) -> dict[str, Any]:
    row = _rate(fields, what)
    _fits(row, _field(fields, 11, what), what)
    return row


def _future(fields: Fields, what: str) -> dict[str, Any]:
    """Price, -, bid, ask, high, low, time, settlement before, open, volume, -, -, date, name."""
    row = _prices(fields, {"price": 0, "open": 8, "high": 4, "low": 5, "last_close": 7}, what)
    return {"quote_time": _time(f"{_field(fields, 12, what)} {_field(fields, 6, what)}", what), **row}


_FORMS: Mapping[str, Callable[[Fields, str], dict[str, Any]]] = {
    "gb_": _american,
    "rt_hk": _hong_kong,
    "fx_": _exchange_rate,
    "hf_": _future,
    "DINIW": _rate,
}
