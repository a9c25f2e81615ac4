"""Days that backtests run over: the series of the vectors, the committed slice of real bars, small ones."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.calendar import shipped_calendar
from core.market.rules import price_limits
from platform_assets.compute.backtests.days import Days, Event, entitlements
from platform_assets.compute.backtests.engine import Run

REAL = Path(__file__).parents[2] / "real_data" / "bars_daily_raw_hs300_2020_2025.csv.gz"
LAST = "2026-08-21"

S60 = np.array(
    [line.split() for line in """
    20.0 21.65 19.75 21.5 14500.0
    21.7 22.1 21.52 21.88 11935.0
    21.83 22.35 21.6 22.1 12218.0
    21.91 22.4 21.68 22.19 12529.0
    22.29 22.46 21.98 22.16 12959.0
    22.32 22.56 21.8 22.05 13696.0
    21.91 22.15 21.72 21.91 14148.0
    21.79 21.98 21.56 21.78 14332.0
    21.95 22.14 21.46 21.7 14238.0
    21.78 22.03 21.52 21.69 13925.0
    21.5 22.01 21.25 21.78 13907.0
    21.75 22.12 21.55 21.95 13744.0
    22.15 22.42 21.93 22.21 13482.0
    22.19 22.77 21.95 22.52 12992.0
    22.33 23.08 22.17 22.86 12360.0
    22.93 23.32 22.68 23.16 11464.0
    23.34 23.63 23.14 23.4 10487.0
    23.28 23.77 23.07 23.52 9338.0
    23.37 23.69 23.13 23.49 8320.0
    23.64 23.82 23.15 23.3 8123.0
    23.41 23.65 22.67 22.92 8113.0
    22.74 22.98 22.17 22.38 8134.0
    22.32 22.5 21.48 21.69 8264.0
    21.89 22.09 20.64 20.89 8425.0
    20.9 21.15 19.89 20.04 8565.0
    19.84 20.07 18.95 19.19 8714.0
    19.23 19.39 18.18 18.39 8866.0
    18.58 18.8 17.51 17.71 8949.0
    17.62 17.87 16.93 17.18 9065.0
    17.02 17.24 16.69 16.85 9132.0
    16.98 17.14 16.48 16.72 9272.0
    16.85 17.08 16.57 16.79 9878.0
    16.62 17.3 16.43 17.05 11246.0
    16.96 17.68 16.71 17.48 12536.0
    17.67 18.19 17.5 18.01 13566.0
    18.05 18.85 17.81 18.61 14428.0
    18.41 19.46 18.18 19.22 15005.0
    19.23 19.98 19.04 19.8 15335.0
    20.0 20.51 19.75 20.31 15402.0
    20.25 20.96 20.07 20.71 15194.0
    20.53 21.23 20.3 21.0 14827.0
    21.11 21.34 20.88 21.18 14303.0
    21.33 21.55 21.07 21.25 13628.0
    21.1 21.51 20.85 21.26 12968.0
    21.15 21.45 20.97 21.24 12400.0
    21.42 21.59 21.0 21.23 11678.0
    21.3 21.53 21.03 21.26 10982.0
    21.06 21.63 20.89 21.38 10459.0
    21.36 21.8 21.11 21.61 9993.0
    21.81 22.14 21.62 21.95 9554.0
    21.91 22.64 21.69 22.4 9174.0
    22.21 23.19 21.97 22.95 8851.0
    23.03 23.74 22.86 23.57 8549.0
    23.74 24.41 23.49 24.2 8199.0
    24.07 25.05 23.87 24.8 7876.0
    24.66 25.54 24.44 25.32 7560.0
    25.48 25.86 25.24 25.71 7253.0
    25.8 26.15 25.64 25.93 6983.0
    25.74 26.2 25.49 25.95 6769.0
    25.9 26.11 25.56 25.76 7796.0
""".strip().splitlines()],
    dtype=np.float64,
)  # fmt: skip
"""open, high, low, close, volume"""


def made(
    dates: Sequence[str],
    bars: Any,
    *,
    board: str = "main",
    events: Sequence[Event] = (),
    factor: Any = None,
    reference: Any = None,
    limits: bool = True,
) -> Days:
    """Days of `bars` [days, 5]; a row of NaN is a day without a bar. Limits follow the reference prices,
    which are the closes before unless they are given."""
    table = np.array(bars, dtype=np.float64)
    traded = np.isfinite(table[:, 3])
    if reference is None:
        closes = pd.Series(table[:, 3]).ffill().shift()
        reference = closes.to_numpy(dtype=float)
    reference = np.asarray(reference, dtype=float)
    factor = np.ones(len(dates)) if factor is None else np.asarray(factor, dtype=float)
    up, down = np.full((2, len(dates)), np.nan)
    for at in np.flatnonzero(traded & np.isfinite(reference)):
        if limits:
            found = price_limits(float(reference[at]), board, False, dates[at])
            up[at], down[at] = (np.nan, np.nan) if found[0] is None else found
    cash, bonus = entitlements(dates, traded, factor, reference, events)
    return Days(tuple(dates), *table.T, factor, up, down, cash, bonus)


def s60() -> Days:
    return made(shipped_calendar().last(60, LAST), S60)


@cache
def real_bars(path: Path = REAL) -> dict[str, pd.DataFrame]:
    """Bars by code with its market (`sh600519`), suspended days included; of the slice by default."""
    rows = pd.read_csv(path)
    return {str(code): bars.reset_index(drop=True) for code, bars in rows.groupby("code")}


def board_of(code: str) -> str:
    return {"sh688": "star", "sz300": "gem", "sz301": "gem"}.get(code[:5], "main")


def real(code: str, events: Sequence[Event] = (), path: Path = REAL) -> Days:
    """Limits and factor of the real bars follow their previous closes."""
    rows = real_bars(path)[code]
    table = rows[["open", "high", "low", "close", "volume"]].to_numpy(dtype=float)
    table[rows["tradestatus"].to_numpy() == 0] = np.nan
    reference = rows["preclose"].to_numpy(dtype=float)
    before = pd.Series(table[:, 3]).ffill().shift().to_numpy(dtype=float)
    step = np.where(np.isfinite(before) & np.isfinite(table[:, 3]), before / reference, 1.0)
    return made(
        rows["date"].tolist(),
        table,
        board=board_of(code),
        factor=np.cumprod(step),
        reference=reference,
        events=events,
    )


def assert_reconciles(run: Run, days: Days, lots: tuple[int, int] = (100, 100)) -> None:
    """Books of their own: cash, shares, fees and equity of every day follow from the deals, to the fen."""
    cash, held = run.capital, 0
    deals = {fill.at: fill for fill in run.fills}
    given = {one.at: one for one in run.given}
    close = 0
    bought_at = -1
    assert len(deals) == len(run.fills), "never two deals on a day"
    for at in range(run.start, run.stop):
        if at in given:
            assert held > 0
            assert days.traded[at]
            cash += given[at].paid
            held += given[at].bonus
        if at in deals:
            deal = deals[at]
            amount = deal.price * deal.shares
            assert days.traded[at]
            assert deal.fees.commission == max(500, (amount * 25 + 50_000) // 100_000)
            if deal.side == "buy":
                assert held == 0
                assert deal.fees.stamp == 0
                assert deal.shares >= lots[0]
                assert (deal.shares - lots[0]) % lots[1] == 0
                assert not deal.price > np.nan_to_num(days.limit_up[at] * 100, nan=np.inf) + 0.5
                assert not days.open[at] >= np.nan_to_num(days.limit_up[at], nan=np.inf) - 1e-6
                cash -= amount + deal.fees.total
                held += deal.shares
                bought_at = at
            else:
                assert deal.shares == held
                assert at > bought_at >= run.start
                assert deal.price >= np.nan_to_num(days.limit_down[at] * 100) - 0.5
                assert not days.open[at] <= np.nan_to_num(days.limit_down[at]) + 1e-6
                cash += amount - deal.fees.total
                held = 0
        if days.traded[at]:
            close = round(days.close[at] * 100)
        assert cash >= 0
        assert (run.cash[at - run.start], run.held[at - run.start]) == (cash, held)
        assert run.equity[at - run.start] == cash + held * close
    assert sum(trade.profit for trade in run.trades) == run.equity[-1] - run.capital
