"""Stock-connect flow (kamt, kamt.rtmin), in 10k CNY on the wire and in the datasets alike.

Since 2024-08-19 northbound buys, sells and nets are not disclosed during the day: the portal answers
0.0, `0.00` or `-`. A zero of such a date is therefore a missing value.
"""

import math
from datetime import datetime
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.stock_connect import UNDISCLOSED_FROM
from resources.transport.request import Request
from resources.upstreams.eastmoney.quotes.envelope import csv_rows, data_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import AMT, iso_day, number, object_of, string_of

# All amounts in 10k CNY (the datasets' unit for stock-connect columns).
CHANNEL_COLUMNS: dict[str, str] = {
    **texts("channel trade_date"),
    **numbers("net_buy buy_amt sell_amt quota_balance quota is_closed"),
}
MINUTE_COLUMNS: dict[str, str] = {
    **texts("direction datetime"),
    **numbers("sh_net sz_net total_net sh_quota_balance sz_quota_balance"),
}

# f51 to f56 are status, quota and date; what was bought and sold comes with the fields behind them.
_CHANNEL_FIELDS = ",".join(f"f{number}" for number in range(51, 66))
# wire key -> (channel, northbound?)
_CHANNELS = {
    "hk2sh": ("hgt", True),
    "hk2sz": ("sgt", True),
    "sh2hk": ("ggt_sh", False),
    "sz2hk": ("ggt_sz", False),
}


def channels_request() -> Request:
    return Request(
        "eastmoney.push2",
        "kamt",
        "/api/qt/kamt/get",
        (("fields1", "f1,f2,f3,f4"), ("fields2", _CHANNEL_FIELDS)),
        label="kamt",
    )


def parse_channels(body: bytes) -> pd.DataFrame:
    """One row per channel; columns `CHANNEL_COLUMNS`."""
    data = data_of(body, "kamt")
    if data is None:
        return frame([], CHANNEL_COLUMNS)
    rows = []
    for key, (channel, northbound) in _CHANNELS.items():
        held = object_of(data.get(key), f"kamt {key}")
        day = iso_day(string_of(held.get("date2"), f"kamt {key} date2"), f"kamt {key} date2")
        hidden = northbound and day >= UNDISCLOSED_FROM
        row: dict[str, Any] = {
            "channel": channel,
            "trade_date": day,
            "quota": _wan(held, "dayAmtThreshold", key),
            "is_closed": float(number(held.get("status"), f"kamt {key} status") == 3),
        }
        if not hidden:
            row |= {
                "net_buy": _wan(held, "netBuyAmt", key),
                "buy_amt": _wan(held, "buyAmt", key),
                "sell_amt": _wan(held, "sellAmt", key),
                "quota_balance": _wan(held, "dayAmtRemain", key),
            }
        rows.append(row)
    return frame(rows, CHANNEL_COLUMNS)


def minutes_request() -> Request:
    return Request(
        "eastmoney.push2",
        "kamt_minute",
        "/api/qt/kamt.rtmin/get",
        (("fields1", "f1,f2,f3,f4"), ("fields2", "f51,f52,f53,f54,f55,f56")),
        label="kamt.rtmin",
    )


def parse_minutes(body: bytes, now: datetime) -> pd.DataFrame:
    """Cumulative nets per minute, both directions; columns `MINUTE_COLUMNS`. Minutes still to come are
    dropped. The wire has the date without a year, so the newest such date up to `now` is meant."""
    data = data_of(body, "kamt.rtmin")
    if data is None:
        return frame([], MINUTE_COLUMNS)
    rows = []
    for direction, name in (("north", "s2n"), ("south", "n2s")):
        day = _dated(string_of(data.get(f"{name}Date"), f"{name}Date"), now)
        hidden = direction == "north" and day >= UNDISCLOSED_FROM
        for values in csv_rows(data, name, "kamt.rtmin", 6):
            if len(values[0]) not in {4, 5} or ":" not in values[0]:
                raise PayloadError(f"kamt.rtmin: minute {values[0]!r}")
            sh, sh_left, sz, sz_left, total = (
                number(value, f"kamt.rtmin {name}", digits=AMT) for value in values[1:6]
            )
            if math.isnan(total) and math.isnan(sh):
                continue
            row: dict[str, Any] = {"direction": direction, "datetime": f"{day} {values[0]:0>5}:00"}
            if not hidden:
                row |= {"sh_net": sh, "sz_net": sz, "total_net": total}
                row |= {"sh_quota_balance": sh_left, "sz_quota_balance": sz_left}
            rows.append(row)
    return frame(rows, MINUTE_COLUMNS)


def _dated(text: str, now: datetime) -> str:
    for year in (now.year, now.year - 1):
        day = iso_day(f"{year}-{text}", "kamt.rtmin date")
        if day <= now.date().isoformat():
            return day
    raise PayloadError(f"kamt.rtmin: {text!r} is in the future")


def _wan(held: dict[str, Any], key: str, channel: str) -> float:
    return number(held.get(key), f"kamt {channel} {key}", digits=AMT)
