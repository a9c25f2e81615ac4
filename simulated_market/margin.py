"""Margin trading of a world: the facts that the portal and the three exchanges publish in their own ways.

They follow from the daily bars alone: 8 % of a day's amount is bought on credit, and as much is repaid as
brings the balance nearer to the stock's usual share of its float, 1 to 8 %; 0.05 % of the volume is sold
short and a twentieth of the short balance bought back. So a balance rolls forward exactly, in whole CNY and
shares. Two of three stocks may be bought on credit, always the same ones, but none on a date on which it is
under special treatment. The figures of a date appear at 09:00 of the next trade date.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from core.arrays import Floats, Ints
from simulated_market.days import at
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Bars, Security

PUBLISHED = "09:00"
_HUNDRED = 100
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.08
"""Usual balance as a share of the float's value: the whole market was between 2 and 4 % in 2024 to 2026."""
_PULL = 0.06
"""Of the distance to the usual balance that a day's repayments make up for."""
_CEILING = 0.11
"""Share of the float's value above which the balance is repaid at once: a lender's limit."""


@dataclass(frozen=True)
class Margin:
    """One security on one date; CNY and shares. `close` CNY, `change_pct` and `fin_ratio` percent."""

    security: Security
    name: str
    date: int
    rzye: int
    rzmre: int
    rzche: int
    rqyl: int
    rqmcl: int
    rqchl: int
    close: float
    change_pct: float
    float_cap: float

    @property
    def rqye(self) -> float:
        return round(self.rqyl * self.close, 2)

    @property
    def rzrqye(self) -> float:
        return round(self.rzye + self.rqye, 2)


_FIGURES = ("rzye", "rzmre", "rzche", "rqyl", "rqmcl", "rqchl")


@dataclass(frozen=True)
class _Series:
    date: Ints
    close: Ints
    preclose: Ints
    float_cap: Floats
    figures: Ints  # _FIGURES x dates


def is_margin_name(security: Security) -> bool:
    return security.kind == "stock" and drawn(security.symbol) % 3 != 0


def published(view: View, day: int) -> bool:
    """Whether the figures of a date are out at the view's time; never for a day without trading."""
    dates = view.world.trade_dates()
    place = int(np.searchsorted(dates, day))
    known = place < len(dates) - 1 and int(dates[place]) == day
    return known and at(int(dates[place + 1]), PUBLISHED) <= view.now


def is_special(name: str) -> bool:
    """Special treatment or the delisting period, by the name of a date: such a stock is on no list."""
    return "ST" in name or name.startswith("退市")


class MarginBook:
    """The margin figures of a world; series are remembered, since a past day does not change."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, str], _Series] = {}

    def of_date(self, view: View, day: int, market: str | None = None) -> list[Margin]:
        """Every margin security (of a market) on a date, by code; none before they are published."""
        if not published(view, day):
            return []
        listed = view.world.securities(view.now)
        requested = [one for one in listed if market in {None, one.market} and is_margin_name(one)]
        found = [self._one(view, security, day) for security in requested]
        return sorted((one for one in found if one is not None), key=lambda one: one.security.code)

    def of_security(self, view: View, security: Security) -> list[Margin]:
        """All published dates of one security, oldest first."""
        if not is_margin_name(security):
            return []
        days = [int(day) for day in self._series(view, security, 0).date]
        made = [self._one(view, security, day) for day in days if published(view, day)]
        return [one for one in made if one is not None]

    def _one(self, view: View, security: Security, day: int) -> Margin | None:
        series = self._series(view, security, day)
        at = int(np.searchsorted(series.date, day))
        if at >= len(series.date) or int(series.date[at]) != day:
            return None
        name = view.world.name(security, datetime.strptime(f"{day} 15", "%Y%m%d %H"))
        if is_special(name):
            return None
        close, preclose = int(series.close[at]), int(series.preclose[at])
        figures = dict(zip(_FIGURES, (int(value) for value in series.figures[:, at]), strict=True))
        return Margin(
            security=security,
            name=name,
            date=day,
            **figures,
            close=close / PRICE_UNIT,
            change_pct=round((close / preclose - 1) * 100, 4) if preclose else 0.0,
            float_cap=round(float(series.float_cap[at]), 2),
        )

    def _series(self, view: View, security: Security, day: int) -> _Series:
        key = (id(view.world), security.symbol)
        known = self._held.get(key)
        # A world under a fault exists for one answer: its false facts must not be cached.
        if known is not None and view.fault is None and day and len(known.date) and known.date[-1] >= day:
            return known
        bars = view.world.bars(security, view.now)
        cap = _float_cap(bars, view.world.shares(security, view.now)[1])
        figures = _rolled(bars, cap, _usual_share(security.symbol))
        made = _Series(bars.date, bars.close, bars.preclose, cap, figures)
        if view.fault is None:
            self._held[key] = made
        return made


def _rolled(bars: Bars, cap: Floats, usual: float) -> Ints:
    """Rows: balance, bought, repaid, short, sold, covered. `cap` is the float's value on each date."""
    bought = (bars.amount * 0.08).astype(np.int64)
    sold = (bars.volume * 0.0005).astype(np.int64) // _HUNDRED * _HUNDRED
    balance, short = int(cap[0] * usual) if len(cap) and bars.traded[0] else 0, 0
    balances, repaid, shorts = [], [], [0]
    for more, worth in zip(bought.tolist(), cap.tolist(), strict=True):
        back = max(more + int(_PULL * (balance - usual * worth)), balance + more - int(_CEILING * worth))
        repaid.append(min(max(back, 0), balance))
        balance += more - repaid[-1]
        balances.append(balance)
    for more in sold.tolist():
        short += more - short // 20 // _HUNDRED * _HUNDRED
        shorts.append(short)
    lent = np.asarray(shorts, dtype=np.int64)
    covered = lent[:-1] // 20 // _HUNDRED * _HUNDRED
    long = np.asarray(balances, dtype=np.int64)
    return np.stack([long, bought, np.asarray(repaid, dtype=np.int64), lent[1:], sold, covered])


def _float_cap(bars: Bars, shares: int) -> Floats:
    """CNY on each date; the shares follow from the turnover, where a date has none from the date before."""
    known = bars.traded & (bars.turnover_pct > 0)
    at = np.maximum.accumulate(np.where(known, np.arange(len(bars)), -1))
    floating = bars.volume / np.where(known, bars.turnover_pct, 1.0) * 100
    return np.where(at >= 0, floating[np.maximum(at, 0)], shares) * bars.close / PRICE_UNIT


def _usual_share(symbol: str) -> float:
    """Of its float: a constant of the stock."""
    part: float = (drawn(symbol, "credit") % 1000 / 1000) ** 1.5
    return _LEAST_SHARE + (_MOST_SHARE - _LEAST_SHARE) * part
