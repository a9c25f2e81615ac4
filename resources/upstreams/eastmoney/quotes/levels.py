"""Closing levels of exchange rates and the dollar index (kline of a bare secid)."""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.quotes.envelope import check_secid, csv_rows, data_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import ascending, iso_day, ordered_ohlc, price, required

LEVEL_COLUMNS: dict[str, str] = {**texts("date"), **numbers("open close high low")}


def parse_levels(body: bytes, secid: str, since: str, until: str) -> pd.DataFrame:
    """Columns `LEVEL_COLUMNS`, oldest first, within ISO dates. No row where the portal has none."""
    what = f"kline {secid}"
    data = data_of(body, what)
    if data is None:
        return frame([], LEVEL_COLUMNS)
    check_secid(data, secid, what)
    rows: list[dict[str, Any]] = []
    for values in csv_rows(data, "klines", what, 5):
        day = iso_day(values[0], f"{what} date")
        if not since <= day <= until:
            raise PayloadError(f"{what}: bar of {day} is outside {since}..{until}")
        prices = [required(price(value, f"{what} {day}"), f"{what} {day}") for value in values[1:5]]
        open_, close, high, low = prices
        ordered_ohlc((open_, high, low, close), f"{what} {day}")
        rows.append({"date": day, "open": open_, "close": close, "high": high, "low": low})
    ascending([row["date"] for row in rows], what)
    return frame(rows, LEVEL_COLUMNS)
