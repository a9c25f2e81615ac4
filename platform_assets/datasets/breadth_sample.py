"""calc_breadth_sample: how many stocks rise and fall, every five minutes of a session.

A sample is what quotes say at its moment; a moment that has passed cannot be asked for again, so there are
no partitions and no gaps to repair. A sensor asks for it (`SCHEDULER_WARMUP_MARKET`), not a task.
"""

from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from platform_assets.compute.breadth import breadth
from platform_assets.compute.market_rules import limit_prices
from platform_assets.declaration.columns import Amt, Bool, Date, Dt, Int, Model, Pct, col, key
from platform_assets.declaration.dataset import Dataset, Source
from platform_assets.declaration.rules import Interface, Partition
from platform_assets.declaration.scope import Scope
from platform_assets.declaration.tables import Layer

EVERY_MIN = 5
MAIN_INDEX = "sh000001"
SESSIONS = (("09:30", "11:30"), ("13:00", "15:00"))
_COLUMNS = ["price", "last_close", "limit_up", "limit_down", "volume", "amount", "main_net"]


class BreadthSample(Model):
    """One moment. Counts are of stocks that have traded that day."""

    sample_time: Dt = key("moment, a whole five minutes")
    trade_date: Date = col(title="trade date of the session", nullable=False)
    up_count: Int = col("", "stocks above their reference price", nullable=False, ge=0)
    down_count: Int = col("", "stocks below it", nullable=False, ge=0)
    flat_count: Int = col("", "stocks at it", nullable=False, ge=0)
    limit_up_count: Int = col("", "stocks at the limit-up price", nullable=False, ge=0)
    limit_down_count: Int = col("", "stocks at the limit-down price", nullable=False, ge=0)
    amount: Amt = col("CNY", "turnover so far", nullable=False, ge=0)
    main_net: Amt = col("CNY", "main net inflow so far; only the portal tells it")
    index_change_pct: Pct = col("pct", f"change of the main index ({MAIN_INDEX})")
    sample_based: Bool = col(title="an estimate from some stocks; such a one is not stored")


def sample_time(now: datetime) -> datetime | None:
    """The sample that a moment belongs to; None outside the two sessions."""
    if not any(since <= now.strftime("%H:%M") <= until for since, until in SESSIONS):
        return None
    return now.replace(minute=now.minute - now.minute % EVERY_MIN, second=0, microsecond=0)


def terminal(desk: Any, scope: Scope) -> pd.DataFrame:
    """Quotes of all stocks, 80 a call, and of the main index; limits by the rules of the exchanges."""
    symbols = desk.symbols(None, "stock")
    quotes = desk.tdx.quotes([*symbols, MAIN_INDEX])
    listed = desk.securities()[["symbol", "code", "name", "board"]]
    rows = (
        quotes[~quotes["unknown"]].drop(columns=["code", "name"], errors="ignore").merge(listed, on="symbol")
    )
    return _sample(desk, scope, rows, quotes[quotes["symbol"] == MAIN_INDEX])


def quote_site(desk: Any, scope: Scope) -> pd.DataFrame:
    """The same from the quote site, 60 a call."""
    quotes = desk.tencent.quotes([*desk.symbols(None, "stock"), MAIN_INDEX])
    boards = desk.securities()[["symbol", "board"]]
    index = quotes[quotes["symbol"] == MAIN_INDEX]
    return _sample(desk, scope, quotes.merge(boards, on="symbol"), index)


def portal(desk: Any, scope: Scope) -> pd.DataFrame:
    """The portal's list of all A shares, 100 a call, with the money flow of the session."""
    rows = desk.eastmoney.stock_list()
    boards = desk.securities()[["symbol", "board"]]
    index = desk.eastmoney.ulist([MAIN_INDEX])
    return _sample(desk, scope, rows.merge(boards, on="symbol"), index)


def _sample(desk: Any, scope: Scope, rows: pd.DataFrame, index: pd.DataFrame) -> pd.DataFrame:
    """One row, or none outside a session."""
    now = desk.clock.now()
    at = sample_time(now)
    if at is None or desk.today != scope.until or not desk.calendar.is_trade_date(desk.today):
        return pd.DataFrame(columns=list(BreadthSample.to_schema().columns))
    if "limit_up" not in rows.columns or rows["limit_up"].isna().all():
        rows = _limited(desk, rows)
    told = breadth(rows.reindex(columns=_COLUMNS))
    return pd.DataFrame(
        [
            {
                "sample_time": at.strftime("%Y-%m-%d %H:%M:%S"),
                "trade_date": desk.today,
                **told,
                "index_change_pct": _change(index),
                "sample_based": False,
            }
        ]
    )


def _limited(desk: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """With limits by the rules: of the board, special treatment and the days since the listing."""
    master = desk.read("fusion_stock_master", columns=("code", "list_date"))
    listed = rows["code"].map(master.set_index("code")["list_date"]) if len(master) else None
    recent = desk.calendar.last(6, desk.today)
    days = np.full(len(rows), 0, dtype=np.int64)
    if listed is not None:
        for number, day in enumerate(reversed(recent), start=1):
            days[(listed == day).to_numpy(dtype=bool, na_value=False)] = number
    up, down = limit_prices(
        rows["last_close"].to_numpy(dtype=float, na_value=np.nan),
        rows["board"].to_numpy(dtype=str),
        rows["name"].fillna("").str.contains("ST", regex=False).to_numpy(dtype=bool),
        np.full(len(rows), desk.today),
        listed_days=days,
    )
    return rows.assign(limit_up=up, limit_down=down)


def _change(index: pd.DataFrame) -> float | None:
    if index.empty or not index["last_close"].iloc[0] > 0:
        return None
    return round((float(index["price"].iloc[0]) / float(index["last_close"].iloc[0]) - 1) * 100, 4)


DATASET = Dataset(
    name="breadth_sample",
    title="Market breadth every five minutes",
    layer=Layer.CALC,
    model=BreadthSample,
    key=("sample_time",),
    date_column="trade_date",
    partition=Partition.SNAPSHOT,
    sources=(Source("tdx", terminal), Source("tencent", quote_site), Source("eastmoney", portal)),
    reads=("fusion_stock_master",),
    of_stocks=False,
    monitored=False,
    may_be_empty=True,
    interfaces=(
        Interface(
            "get_breadth_intraday",
            "market",
            "newest_days",
            {"days": ("int", False, 5)},
            "object[]",
            60,
            "5-minute breadth samples",
        ),
    ),
)
