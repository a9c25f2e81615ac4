"""ulist.np of indices, rates and futures outside the mainland: rows are named by market number and code."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.eastmoney.quotes.envelope import data_of, diff_of
from resources.upstreams.eastmoney.quotes.fields import read_moment
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.foreign_markets import OUTSIDE_COLUMNS, SERIES, Outside
from resources.upstreams.parsing.frames import frame

_FIELDS = "f2,f12,f13,f14,f15,f16,f17,f18,f124"
_BY_SECID = {one.secid: one for one in SERIES.values()}


def outside_request() -> Request:
    """All series in one call."""
    secids = ",".join(_BY_SECID)
    return Request(
        "eastmoney.push2",
        "ulist",
        "/api/qt/ulist.np/get",
        (("fltt", "2"), ("invt", "2"), ("np", "1"), ("fields", _FIELDS), ("secids", secids)),
        label="outside",
    )


def parse_outside(body: bytes) -> pd.DataFrame:
    """Columns `OUTSIDE_COLUMNS`; a series that the portal does not know, or has no price of, has no row."""
    data = data_of(body, "outside")
    rows: dict[str, dict[str, Any]] = {}
    for raw in [] if data is None else diff_of(data, "outside"):
        payload.promised(raw, _FIELDS.split(","), "outside")
        one = _BY_SECID.get(f"{raw['f13']}.{raw['f12']}")
        if one is None or one.series in rows:
            raise PayloadError(f"outside: {raw['f13']}.{raw['f12']} was not asked for, or appears twice")
        row = _row(raw, one)
        if row is not None:
            rows[one.series] = row
    return frame(list(rows.values()), OUTSIDE_COLUMNS)


def _row(raw: Mapping[str, Any], one: Outside) -> dict[str, Any] | None:
    def value(field: str) -> float:
        return payload.nothing_to_missing(payload.price(raw[field], f"{one.secid} {field}"))

    prices = {"price": value("f2"), "open": value("f17"), "high": value("f15"), "low": value("f16")}
    if prices["price"] != prices["price"]:
        return None
    payload.between_extremes(prices["price"], prices["low"], prices["high"], one.secid)
    time = read_moment(raw["f124"], f"{one.secid} f124")
    if not isinstance(time, str):
        raise PayloadError(f"{one.secid}: a price without a time")
    return {
        "series": one.series,
        "name": one.name,
        "date": time[:10],
        "quote_time": time,
        **prices,
        "last_close": payload.required(value("f18"), f"{one.secid} f18"),
    }
