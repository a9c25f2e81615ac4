"""Money flow of the quote site (hsfundtab): all numbers are texts in CNY; main = super + large.

Only the net of each size class is given, in and out for main and retail alone. The minute rows are
cumulative since the open and come in no fixed order.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.transport.request import Request
from resources.upstreams.parsing.bars import in_order
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    AMT,
    iso_day,
    list_of,
    moment,
    number,
    object_of,
    string_of,
)
from resources.upstreams.tencent.bars import data_of

MOST_DAYS = 50

TODAY_COLUMNS: dict[str, str] = {
    **texts("code"),
    **numbers("main_net main_in main_out main_in_pct main_out_pct retail_in retail_out"),
    **numbers("super_net large_net medium_net small_net"),
}
MINUTE_FLOW_COLUMNS: dict[str, str] = {**texts("code datetime"), **numbers("price main_net retail_net")}
HISTORY_COLUMNS: dict[str, str] = {"code": "s", "date": "s", "main_net": "f"}


@dataclass(frozen=True)
class FundFlowTab:
    """`today` has at most one row, `minutes` are cumulative, `history` is oldest first. CNY, percent."""

    today: pd.DataFrame
    minutes: pd.DataFrame
    history: pd.DataFrame

    def __len__(self) -> int:
        return len(self.today) + len(self.minutes) + len(self.history)


def flow_request(symbol: str, days: int) -> Request:
    what = instrument(symbol)
    if not 0 <= days <= MOST_DAYS:
        raise InputError("days", f"{days} is not in 0..{MOST_DAYS}")
    return Request(
        "tencent.finance",
        "fund_flow",
        "/cgi/cgi-bin/fundflow/hsfundtab",
        (
            ("code", what.symbol),
            ("type", "todayFundFlow,todayFundTrend,fiveDayFundFlow,historyFundFlow"),
            ("klineNeedDay", str(days)),
        ),
        label=what.symbol,
    )


def parse_flow(body: bytes, symbol: str) -> FundFlowTab:
    what = instrument(symbol)
    data = data_of(body, f"{symbol} fund flow")
    today = _section(data, "todayFundFlow", symbol)
    trend = _section(data, "todayFundTrend", symbol)
    history = _section(data, "historyFundFlow", symbol) or _section(data, "fiveDayFundFlow", symbol)
    days = history.get("oneDayKlineList", history.get("DayMainNetInList")) or []
    return FundFlowTab(
        today=frame([_today(today, what.dataset_code)] if today else [], TODAY_COLUMNS),
        minutes=_minutes(list_of(trend.get("minList") or [], "minList"), what.dataset_code),
        history=_history(list_of(days, "history"), what.dataset_code),
    )


def _section(data: dict[str, Any], name: str, symbol: str) -> dict[str, Any]:
    section = object_of(data.get(name) or {}, name)
    owner = section.get("stockCode", symbol)
    if owner != symbol:
        raise PayloadError(f"{symbol}: {name} is about {owner!r}")
    return section


def _today(section: dict[str, Any], code: str) -> dict[str, Any]:
    def cny(key: str) -> float:
        return number(section.get(key), f"fund flow {key}", digits=AMT)

    row: dict[str, Any] = {
        "code": code,
        "main_net": cny("mainNetIn"),
        "main_in": cny("mainIn"),
        "main_out": cny("mainOut"),
        "main_in_pct": number(section.get("mainInRate"), "mainInRate"),
        "main_out_pct": number(section.get("mainOutRate"), "mainOutRate"),
        "retail_in": cny("retailIn"),
        "retail_out": cny("retailOut"),
        "super_net": cny("superFlow"),
        "large_net": cny("bigFlow"),
        "medium_net": cny("normalFlow"),
        "small_net": cny("smallFlow"),
    }
    gap = abs(row["super_net"] + row["large_net"] - row["main_net"])
    if gap > 10_000:
        raise PayloadError(f"{code}: super + large misses main by {gap:.0f} CNY")
    return row


def _minutes(items: list[Any], code: str) -> pd.DataFrame:
    rows = []
    for raw in items:
        item = object_of(raw, "minute flow")
        when = moment(string_of(item.get("time"), "time"), "%Y%m%d%H%M", "minute flow time")
        rows.append(
            {
                "code": code,
                "datetime": when.isoformat(" "),
                "price": number(item.get("Price"), "Price"),
                "main_net": number(item.get("MainNetInflow"), "MainNetInflow", digits=AMT),
                "retail_net": number(item.get("RetailNetInflow"), "RetailNetInflow", digits=AMT),
            }
        )
    rows.sort(key=lambda row: str(row["datetime"]))
    return frame(in_order(rows, "datetime", f"{code} minute flow"), MINUTE_FLOW_COLUMNS)


def _history(items: list[Any], code: str) -> pd.DataFrame:
    rows = []
    for raw in items:
        item = object_of(raw, "flow of a day")
        rows.append(
            {
                "code": code,
                "date": iso_day(string_of(item.get("date"), "date"), "flow date"),
                "main_net": number(item.get("mainNetIn"), "mainNetIn", digits=AMT),
            }
        )
    rows.sort(key=lambda row: str(row["date"]))
    return frame(in_order(rows, "date", f"{code} flow history"), HISTORY_COLUMNS)
