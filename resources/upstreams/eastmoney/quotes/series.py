"""kline, trends2 and fund-flow series: rows are comma strings in the order of `fields2`.

Bars: date, open, CLOSE, high, low, volume (lots), amount (CNY), amplitude %, change %, change,
turnover %. Always fqt=0: the portal's adjusted prices are additive and go negative. Flows: main,
SMALL, MEDIUM, large, super-large net (another order than the lists').
"""

from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.securities import lot_of_kind
from core.market.symbols import Instrument, instrument
from resources.rejections import accepted_rows
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes.envelope import PUBLIC_TOKEN, check_secid, csv_rows, data_of
from resources.upstreams.parsing.bars import BAR_COLUMNS, MINUTE_COLUMNS, check_bars, in_order
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    AMT,
    amount,
    iso_day,
    moment,
    number,
    price,
    required,
)

# klt -> period name; minutes first, then 101 and above with one row per date.
MINUTE_KLT = {1: "1m", 5: "5m", 15: "15m", 30: "30m", 60: "60m"}
DATE_KLT = {101: "day", 102: "week", 103: "month", 104: "quarter", 105: "half", 106: "year"}

TREND_COLUMNS: dict[str, str] = {
    **texts("code datetime"),
    **numbers("open close high low volume amount avg_price last_close"),
}
FLOW_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("main_net small_net medium_net large_net super_net main_net_pct small_net_pct"),
    **numbers("medium_net_pct large_net_pct super_net_pct close change_pct"),
}
MINUTE_FLOW_COLUMNS: dict[str, str] = {
    **texts("code datetime"),
    **numbers("main_net small_net medium_net large_net super_net"),
}

_BAR_FIELDS = "f51,f52,f53,f54,f55,f56,f57,f58,f59,f60,f61"
_FLOW_FIELDS = "f51,f52,f53,f54,f55,f56,f57,f58,f59,f60,f61,f62,f63,f64,f65"


def kline_request(secid: str, *, klt: int, beg: str, end: str, limit: int | None) -> Request:
    """`beg`, `end` as YYYYMMDD, '0' and '20500101' for open ends."""
    if klt not in MINUTE_KLT and klt not in DATE_KLT:
        raise InputError("klt", f"{klt} is no period of the portal")
    params = [
        ("secid", secid),
        ("klt", str(klt)),
        ("fqt", "0"),
        ("beg", beg),
        ("end", end),
        ("fields1", "f1,f2,f3,f4,f5,f6"),
        ("fields2", _BAR_FIELDS),
        ("ut", PUBLIC_TOKEN),
    ]
    if limit is not None:
        params.append(("lmt", str(limit)))
    return Request(
        "eastmoney.push2his", "kline", "/api/qt/stock/kline/get", tuple(params), label=f"{secid} klt={klt}"
    )


def parse_kline(body: bytes, symbol: str, *, klt: int, beg: str = "0", end: str = "20500101") -> pd.DataFrame:
    """Columns `BAR_COLUMNS` (day and longer) or `MINUTE_COLUMNS`, oldest first."""
    what = instrument(symbol)
    label = f"kline {symbol}"
    minutes = klt in MINUTE_KLT
    data = data_of(body, label)
    if data is None:
        return frame([], MINUTE_COLUMNS if minutes else BAR_COLUMNS)
    check_secid(data, what.secid, label)
    rows: list[dict[str, Any]] = []
    for values in csv_rows(data, "klines", label, 11):
        row = _bar(what, values)
        if minutes:
            when = moment(values[0], "%Y-%m-%d %H:%M", f"{label} time").isoformat(" ")
            row |= {"period": MINUTE_KLT[klt], "datetime": when}
        else:
            row["date"] = iso_day(values[0], f"{label} date")
        day = (row["datetime"] if minutes else row["date"])[:10].replace("-", "")
        if day < beg or day > end:
            raise PayloadError(f"{label}: bar of {day} is outside {beg}..{end}")
        rows.append(row)
    rows = in_order(rows, "datetime" if minutes else "date", label)
    check_bars(rows, what, label)
    return frame(rows, MINUTE_COLUMNS if minutes else BAR_COLUMNS)


def _bar(what: Instrument, values: list[str]) -> dict[str, Any]:
    name = f"kline {what.symbol} {values[0]}"
    return {
        "code": what.dataset_code,
        "open": required(price(values[1], f"{name} open"), f"{name} open"),
        "close": required(price(values[2], f"{name} close"), f"{name} close"),
        "high": required(price(values[3], f"{name} high"), f"{name} high"),
        "low": required(price(values[4], f"{name} low"), f"{name} low"),
        "volume": required(amount(values[5], f"{name} volume", scale=_lot(what)), f"{name} volume"),
        "amount": amount(values[6], f"{name} amount"),
        "amplitude_pct": number(values[7], f"{name} amplitude"),
        "change_pct": number(values[8], f"{name} change %"),
        "change_amt": number(values[9], f"{name} change"),
        "turnover_pct": number(values[10], f"{name} turnover"),
    }


def _lot(what: Instrument) -> int:
    """Lots on every board, STAR too; convertible bonds trade in lots of 10."""
    return lot_of_kind(what.kind)


def trends_request(symbol: str, days: int) -> Request:
    what = instrument(symbol)
    if not 1 <= days <= 5:
        raise InputError("days", f"{days} is not in 1..5")
    return Request(
        "eastmoney.push2his",
        "trends2",
        "/api/qt/stock/trends2/get",
        pairs(
            f"secid={what.secid}&ndays={days}&iscr=0&iscca=0"
            "&fields1=f1,f2,f3,f4,f5,f6,f7,f8,f9,f10,f11,f12,f13&fields2=f51,f52,f53,f54,f55,f56,f57,f58"
            f"&ut={PUBLIC_TOKEN}"
        ),
        label=what.symbol,
    )


def parse_trends(body: bytes, symbol: str) -> pd.DataFrame:
    """One-minute rows of up to five dates; columns `TREND_COLUMNS`."""
    what = instrument(symbol)
    label = f"trends2 {symbol}"
    data = data_of(body, label)
    if data is None:
        return frame([], TREND_COLUMNS)
    check_secid(data, what.secid, label)
    last_close = price(data.get("preClose", data.get("prePrice")), f"{label} preClose")
    rows: list[dict[str, Any]] = []
    for values in csv_rows(data, "trends", label, 8):
        row = {
            "code": what.dataset_code,
            "datetime": moment(values[0], "%Y-%m-%d %H:%M", f"{label} time").isoformat(" "),
            "open": required(price(values[1], f"{label} open"), f"{label} open"),
            "close": required(price(values[2], f"{label} close"), f"{label} close"),
            "high": required(price(values[3], f"{label} high"), f"{label} high"),
            "low": required(price(values[4], f"{label} low"), f"{label} low"),
            "volume": required(amount(values[5], f"{label} volume", scale=_lot(what)), f"{label} volume"),
            "amount": amount(values[6], f"{label} amount"),
            "avg_price": price(values[7], f"{label} average"),
            "last_close": last_close,
        }
        rows.append(row)
    rows = in_order(rows, "datetime", label)
    check_bars(rows, what, label)
    return frame(rows, TREND_COLUMNS)


def _flow_request(host: str, call: str, path: str, klt: str, secid: str, second: str = "") -> Request:
    return Request(
        host,
        call,
        path,
        (
            ("lmt", "0"),
            ("klt", klt),
            ("secid", secid),
            *((("secid2", second),) if second else ()),
            ("fields1", "f1,f2,f3,f7"),
            ("fields2", _FLOW_FIELDS),
            ("ut", PUBLIC_TOKEN),
        ),
        label=secid,
    )


def flow_days_request(secid: str) -> Request:
    path = "/api/qt/stock/fflow/daykline/get"
    return _flow_request("eastmoney.push2his", "fflow_day", path, "101", secid)


def parse_flow_days(body: bytes, secid: str, code: str) -> pd.DataFrame:
    """Net flows of about 120 dates in CNY and percent; columns `FLOW_COLUMNS`."""
    label = f"fflow {secid}"
    data = data_of(body, label)
    if data is None:
        return frame([], FLOW_COLUMNS)
    if "code" in data:
        check_secid(data, secid, label)

    def read(values: list[str]) -> dict[str, Any]:
        day = iso_day(values[0], f"{label} date")
        row: dict[str, Any] = {"code": code, "date": day}
        row |= _flows(values, f"{label} {day}")
        for at, name in enumerate(("main", "small", "medium", "large", "super"), start=6):
            row[f"{name}_net_pct"] = number(values[at], f"{label} {day} {name} %")
        row["close"] = price(values[11], f"{label} {day} close")
        row["change_pct"] = number(values[12], f"{label} {day} change %")
        return row

    rows = accepted_rows(csv_rows(data, "klines", label, 13), read, label, lambda values: values[0])
    return frame(in_order(rows, "date", label), FLOW_COLUMNS)


def flow_minutes_request(secid: str, second: str = "") -> Request:
    """`second`: a second secid whose flow is added (both exchanges through their main indices)."""
    path = "/api/qt/stock/fflow/kline/get"
    return _flow_request("eastmoney.push2", "fflow_minute", path, "1", secid, second)


def parse_flow_minutes(body: bytes, secid: str, code: str) -> pd.DataFrame:
    """Today's nets per minute, cumulative since the open (do not add them up), CNY."""
    label = f"fflow {secid}"
    data = data_of(body, label)
    if data is None:
        return frame([], MINUTE_FLOW_COLUMNS)
    if "code" in data:
        check_secid(data, secid, label)
    rows = []
    for values in csv_rows(data, "klines", label, 6):
        when = moment(values[0], "%Y-%m-%d %H:%M", f"{label} time").isoformat(" ")
        rows.append({"code": code, "datetime": when, **_flows(values, f"{label} {when}")})
    return frame(in_order(rows, "datetime", label), MINUTE_FLOW_COLUMNS)


def _flows(values: list[str], label: str) -> dict[str, Any]:
    names = ("main", "small", "medium", "large", "super")
    row = {
        f"{name}_net": number(values[at], f"{label} {name}", digits=AMT)
        for at, name in enumerate(names, start=1)
    }
    gap = abs(row["main_net"] - row["large_net"] - row["super_net"])
    if gap > 10_000:
        raise PayloadError(f"{label}: large + super misses main by {gap:.0f} CNY")
    return row
