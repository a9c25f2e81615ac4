"""Daily lines by the portal's own number (kline of a bare secid): bars of futures contracts with f63, open
interest (points, contracts, 10k CNY), and levels of exchange rates and foreign indices."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from core.errors import PayloadError, WrongUnit
from core.market.futures import turnover_fits
from resources.rejections import note
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes.envelope import PUBLIC_TOKEN, check_secid, csv_rows, data_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, ordered_ohlc, price, required

MARKETS = {"cffex": "8", "shfe": "113", "dce": "114", "czce": "115", "ine": "142", "gfex": "225"}
"""Exchange -> number of its market."""
FUTURES_BAR_COLUMNS: dict[str, str] = {
    **texts("date"),
    **numbers("open close high low volume_contracts amount_wan open_interest"),
}
LEVEL_COLUMNS: dict[str, str] = {**texts("date"), **numbers("open close high low")}
_FIELDS = "f51,f52,f53,f54,f55,f56,f57,f63"


def bars_request(secid: str, beg: str, end: str) -> Request:
    """`beg`, `end` as YYYYMMDD."""
    params = pairs(
        f"secid={secid}&klt=101&fqt=0&beg={beg}&end={end}&fields1=f1,f2,f3,f4,f5,f6&fields2={_FIELDS}"
        f"&ut={PUBLIC_TOKEN}"
    )
    return Request("eastmoney.push2his", "kline", "/api/qt/stock/kline/get", params, label=f"{secid} futures")


def parse_bars(body: bytes, secid: str, since: str, until: str) -> pd.DataFrame:
    """Columns `FUTURES_BAR_COLUMNS`, oldest first, within ISO dates."""
    what = f"kline {secid}"
    product = re.sub(r"\d", "", secid.partition(".")[2])
    rows = []
    for row, values in _lines(body, secid, since, until, width=8):
        row["volume_contracts"] = required(amount(values[5], f"{what} volume"), f"{what} volume")
        row["amount_wan"] = amount(values[6], f"{what} amount", scale=1e-4)
        if not turnover_fits(
            product, row["amount_wan"] * 1e4, row["volume_contracts"], row["low"], row["high"]
        ):
            raise WrongUnit(f"{what} {row['date']}: turnover {row['amount_wan']:g} wan: another unit")
        row["open_interest"] = amount(values[7], f"{what} open interest")
        rows.append(row)
    return frame(rows, FUTURES_BAR_COLUMNS)


def parse_levels(body: bytes, secid: str, since: str, until: str) -> pd.DataFrame:
    """Columns `LEVEL_COLUMNS`, oldest first, within ISO dates. No row where the portal has none."""
    return frame([row for row, _ in _lines(body, secid, since, until, width=5)], LEVEL_COLUMNS)


def _lines(
    body: bytes, secid: str, since: str, until: str, width: int
) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Each day with its four prices, and all its values on the wire; at least `width`."""
    what = f"kline {secid}"
    data = data_of(body, what)
    if data is None:
        return
    check_secid(data, secid, what)
    days: dict[str, list[str]] = {}
    for values in csv_rows(data, "klines", what, width):
        day = iso_day(values[0], f"{what} date")
        if not since <= day <= until:
            raise PayloadError(f"{what}: bar of {day} is outside {since}..{until}")
        open_, close, high, low = (
            required(price(value, f"{what} {day}"), f"{what} {day}") for value in values[1:5]
        )
        ordered_ohlc((open_, high, low, close), f"{what} {day}")
        if days.get(day) == values:
            note([(day, "repeats the row before")])
            continue
        if days and day <= max(days):
            raise PayloadError(f"{what}: {day} follows {max(days)}")
        days[day] = values
        yield {"date": day, "open": open_, "close": close, "high": high, "low": low}, values
