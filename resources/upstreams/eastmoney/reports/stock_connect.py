"""Stock connect by date, a report of the data centre (RPT_MUTUAL_DEAL_HISTORY). Millions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN, Report, among, between
from resources.upstreams.parsing.payload import AMT, number, promised, string_of
from resources.upstreams.parsing.rows import day_of
from resources.upstreams.parsing.stock_connect_days import MILLION, accepted, day_frame

KINDS = {"001": "hgt", "003": "sgt", "005": "north", "002": "ggt_sh", "004": "ggt_sz"}
"""MUTUAL_TYPE -> channel."""
_PROMISED = ("MUTUAL_TYPE", "TRADE_DATE", "DEAL_AMT")
_SLACK = 3.0


def mutual_report(since: str, until: str) -> Report:
    """Every channel between two dates."""
    where = (among("MUTUAL_TYPE", tuple(KINDS)), *between("TRADE_DATE", since, until))
    sort = ("TRADE_DATE", "MUTUAL_TYPE")
    return Report("RPT_MUTUAL_DEAL_HISTORY", EVERY_COLUMN, where, sort=sort, key=("trade_date", "channel"))


def mutual_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `DAY_COLUMNS`, 10k. A row without turnover (half a day, no day) is left out. PayloadError when
    the two northbound channels are not their sum."""
    made = [row for row in map(_row, rows) if row is not None]
    by_day: dict[str, dict[str, float]] = {}
    for row in made:
        by_day.setdefault(row["trade_date"], {})[row["channel"]] = row["deal_amt"]
    for day, held in by_day.items():
        if {"hgt", "sgt", "north"} <= held.keys():
            gap = abs(held["hgt"] + held["sgt"] - held["north"])
            if gap > _SLACK:
                raise PayloadError(f"stock connect {day}: 001 + 003 is not 005: another unit")
    return day_frame(made, "stock connect")


def _row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    promised(row, _PROMISED, "stock connect")
    kind = string_of(row["MUTUAL_TYPE"], "MUTUAL_TYPE")
    if kind not in KINDS:
        raise PayloadError(f"stock connect: MUTUAL_TYPE {kind[:10]!r} was not asked for")
    day = day_of(row["TRADE_DATE"], "stock connect TRADE_DATE")
    what = f"stock connect {kind} {day}"

    def value(name: str, scale: float = MILLION) -> float:
        return number(row.get(name), f"{what} {name}", digits=AMT, scale=scale)

    traded, count = value("DEAL_AMT"), value("DEAL_NUM", 1.0)
    if math.isnan(traded):
        return None
    if traded < 0 or count < 0:
        raise PayloadError(f"{what}: turnover or deals below zero")
    return accepted(
        {
            "trade_date": day,
            "channel": KINDS[kind],
            "net_buy": value("NET_DEAL_AMT"),
            "buy_amt": value("BUY_AMT"),
            "sell_amt": value("SELL_AMT"),
            "deal_amt": traded,
            "quota_balance": value("QUOTA_BALANCE"),
            "trade_count": count,
        },
        what,
    )
