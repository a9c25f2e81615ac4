"""Series that several upstreams render from a world: traded days, longer periods, minute bars.

Suspended days are absent, as on every HTTP upstream. Prices stay int64 in 1e-4 CNY.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

import numpy as np

from simulated_market.index_values import float_shares
from simulated_market.world.dates import date_of, iso_of, number_of
from simulated_market.world.model import PRICE_UNIT, Security, World

AUCTION = 570
"""09:30, under which a line of minutes shows the opening auction."""
_SIDE = 2


@dataclass(frozen=True)
class Bar:
    """One bar. `previous` is the close before it (the reference price for the first bar), `turnover`
    percent or NaN, `minute` the end of a minute bar (minutes since midnight), else 0."""

    date: int
    open: int
    high: int
    low: int
    close: int
    volume: int
    amount: float
    turnover: float
    previous: int
    minute: int = 0

    @property
    def iso(self) -> str:
        return iso_of(self.date)

    @property
    def clock(self) -> str:
        return f"{self.minute // 60:02d}:{self.minute % 60:02d}"


def daily(world: World, security: Security, now: datetime, adjust: str = "") -> list[Bar]:
    """Traded days, oldest first. `adjust` '', 'qfq' or 'hfq': additive, as both portals do it, so that
    forward-adjusted prices of long ago may fall below zero."""
    bars = world.bars(security, now)
    if not len(bars):
        return []
    shift = np.zeros(len(bars), dtype=np.int64)
    if adjust:
        gaps = np.zeros(len(bars), dtype=np.int64)
        gaps[1:] = bars.close[:-1] - bars.preclose[1:]
        upto = np.cumsum(gaps)
        shift = upto - upto[-1] if adjust == "qfq" else upto
    keep = np.flatnonzero(bars.traded & (bars.volume > 0))
    close = (bars.close + shift)[keep].tolist()
    previous = [int(bars.preclose[keep[0]] + shift[keep[0]]), *close[:-1]] if len(keep) else []
    prices = (bars.open + shift, bars.high + shift, bars.low + shift, bars.close + shift)
    turnover = bars.turnover_pct
    if security.kind == "index":
        # An index turns over the shares of its members; those of now stand for all dates.
        floating = float_shares(world, security, now)
        turnover = bars.volume / floating * 100 if floating else turnover
    columns = (bars.date, *prices, bars.volume, bars.amount, turnover)
    rows = zip(*(column[keep].tolist() for column in columns), previous, strict=True)
    return [Bar(*values) for values in rows]


def has_events(world: World, security: Security, now: datetime) -> bool:
    """Whether adjusting changes anything."""
    bars = world.bars(security, now)
    return bool(len(bars) > 1 and np.any(bars.close[:-1] != bars.preclose[1:]))


def _iso_week(day: int) -> tuple[int, int]:
    year, week, _ = date_of(day).isocalendar()
    return year, week


PERIOD_KEYS: dict[str, Callable[[int], object]] = {
    "week": _iso_week,
    "month": lambda day: day // 100,
    "quarter": lambda day: (day // 10_000, (day // 100 % 100 - 1) // 3),
    "half": lambda day: (day // 10_000, (day // 100 % 100 - 1) // 6),
    "year": lambda day: day // 10_000,
}


def periods(bars: Sequence[Bar], period: str) -> list[Bar]:
    """Bars of a longer period; each carries the date of its last trade day."""
    key = PERIOD_KEYS[period]
    return [_merged(list(group)) for _, group in groupby(bars, key=lambda bar: key(bar.date))]


def _merged(group: Sequence[Bar]) -> Bar:
    turnovers = [bar.turnover for bar in group if not math.isnan(bar.turnover)]
    return replace(
        group[-1],
        open=group[0].open,
        high=max(bar.high for bar in group),
        low=min(bar.low for bar in group),
        volume=sum(bar.volume for bar in group),
        amount=round(sum(bar.amount for bar in group), 2),
        turnover=sum(turnovers) if turnovers else math.nan,
        previous=group[0].previous,
    )


def minute_bars(world: World, security: Security, now: datetime, step: int, most: int) -> list[Bar]:
    """The newest `most` bars of `step` minutes, oldest first; [] when the world has no minutes."""
    today = number_of(now)
    dates = [int(day) for day in world.trade_dates() if int(day) <= today]
    days = -(-most * step // 240) + 1
    result: list[Bar] = []
    for day in dates[-days:]:
        result += one_day(world, security, now, day, step)
    return result[-most:]


def one_day(world: World, security: Security, now: datetime, day: int, step: int) -> list[Bar]:
    """Minute bars of one date. Minutes without trades are bars without volume."""
    minutes = world.minutes(security, day, now)
    if minutes is None or not len(minutes.minute):
        return []
    result: list[Bar] = []
    prices = (minutes.open, minutes.high, minutes.low, minutes.price)
    columns = (minutes.minute, *prices, minutes.volume, minutes.amount)
    ones = zip(*(column.tolist() for column in columns), strict=True)
    previous = int(minutes.open[0])
    singles = []
    for minute, open_, high, low, close, volume, amount in ones:
        singles.append(Bar(day, open_, high, low, close, volume, amount, math.nan, previous, minute))
        previous = close
    for slot, group in groupby(singles, key=lambda bar: _ordinal(bar.minute) // step):
        last = (slot + 1) * step - 1
        end = 571 + last if last < 120 else 781 + last - 120
        result.append(replace(_merged(list(group)), minute=end))
    return result


def line(world: World, security: Security, now: datetime, day: int) -> list[Bar]:
    """The minutes of a line: the first row, of 09:30, is the opening auction, and the next one has what was
    traded after it."""
    bars = one_day(world, security, now, day, 1)
    if not bars:
        return []
    first = bars[0]
    shares = _auctioned(world, security, now, first)
    money = first.amount * shares / first.volume if security.kind == "index" and first.volume else 0.0
    money = round(money or first.open * shares / PRICE_UNIT, 2)
    if shares == first.volume:
        money = first.amount
    price = first.open
    auction = replace(first, high=price, low=price, close=price, volume=shares, amount=money, minute=AUCTION)
    rest = replace(first, volume=first.volume - shares, amount=round(first.amount - money, 2), previous=price)
    return [auction, rest, *bars[1:]]


def _auctioned(world: World, security: Security, now: datetime, first: Bar) -> int:
    """Shares of the opening auction, so many that the rest of the first minute has a mean price within its
    range."""
    if security.kind == "index":
        return first.volume // 5
    ticks = world.ticks(security, first.date, now)
    found = [] if ticks is None else np.flatnonzero((ticks.side == _SIDE) & (ticks.minute < AUCTION)).tolist()
    most = float(ticks.volume[found[0]]) if ticks is not None and found else first.volume / 5
    if most >= first.volume:
        return first.volume
    money, volume = first.amount * PRICE_UNIT, first.volume
    if first.high > first.open:
        most = min(most, (first.high * volume - money) / (first.high - first.open))
    if first.open > first.low:
        most = min(most, (money - first.low * volume) / (first.open - first.low))
    return max(0, int(most)) // 100 * 100


def _ordinal(minute: int) -> int:
    """0 for the minute that ends at 09:31 .. 239 for the one that ends at 15:00."""
    return minute - 571 if minute <= 690 else minute - 781 + 120
