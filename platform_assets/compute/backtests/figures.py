"""Result figures of a backtest, in percent and ratios. A figure that needs more than there is, is None."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats
from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.engine import Run
from platform_assets.compute.parameters import backtests as p


@dataclass(frozen=True)
class Figures:
    """Percent unless the name says otherwise. `max_drawdown_pct` is the deepest fall below an earlier high,
    zero or negative; `turnover` is bought and sold CNY over the mean equity; win rate and profit factor are
    of sold trades."""

    final_capital: float
    total_return_pct: float
    annual_return_pct: float | None
    benchmark_return_pct: float | None
    max_drawdown_pct: float
    sharpe: float | None
    win_rate_pct: float | None
    profit_factor: float | None
    turnover: float
    trade_count: int


def figures_of(run: Run, days: Days) -> Figures:
    """Needs at least one day."""
    equity = run.equity.astype(np.float64)
    gain = equity[-1] / run.capital
    sold = [trade.profit for trade in run.trades if trade.sold is not None]
    won, lost = sum(one for one in sold if one > 0), -sum(one for one in sold if one < 0)
    traded = sum(fill.amount for fill in run.fills)
    return Figures(
        final_capital=int(run.equity[-1]) / 100,
        total_return_pct=float(gain - 1) * 100,
        annual_return_pct=annual_pct(float(gain), len(equity) - 1),
        benchmark_return_pct=held_pct(days, run.start, run.stop),
        max_drawdown_pct=drawdown_pct(np.append(float(run.capital), equity)),
        sharpe=sharpe(equity),
        win_rate_pct=sum(one > 0 for one in sold) / len(sold) * 100 if sold else None,
        profit_factor=won / lost if lost else None,
        turnover=traded / float(equity.mean()),
        trade_count=len(run.trades),
    )


def annual_pct(gain: float, steps: int) -> float | None:
    """`gain` = end over begin after `steps` trade dates, as of a year of 243."""
    return (gain ** (p.DAYS_A_YEAR / steps) - 1) * 100 if steps > 0 and gain > 0 else None


def drawdown_pct(equity: Floats) -> float:
    return float((equity / np.maximum.accumulate(equity) - 1).min()) * 100


def sharpe(equity: Floats) -> float | None:
    """Mean over deviation (sample) of the daily returns, of a year; the riskless rate is 0."""
    if len(equity) < 3:
        return None
    daily = equity[1:] / equity[:-1] - 1
    spread = float(daily.std(ddof=1))
    return float(daily.mean()) / spread * p.DAYS_A_YEAR**0.5 if spread > 1e-12 else None


def held_pct(days: Days, start: int, stop: int) -> float | None:
    """The stock itself, from the first close to the last, dividends included, without fees."""
    bars = days.bars[(days.bars >= start) & (days.bars < stop)]
    if not len(bars):
        return None
    first, last = (float(days.close[at] * days.factor[at]) for at in (bars[0], bars[-1]))
    return (last / first - 1) * 100
