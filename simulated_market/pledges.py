"""Pledges of shares in a world: holders of somewhat more than half of the companies pledge theirs for a year
or two, again and again. The clearing house adds up those that run, once a week; a replayed market has none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from simulated_market.corporate import close_on, evening, stocks
from simulated_market.days import dates_between
from simulated_market.draws import draws
from simulated_market.insiders import person_of
from simulated_market.wire import View
from simulated_market.world.dates import date_of, number_of
from simulated_market.world.model import PRICE_UNIT, Security

PUBLISHED = "18:00"
"""On a Friday."""
_FRIDAY = 4
_ORIGIN = date(2022, 1, 3)
_PLEDGING = 0.55
_MOST = 4
_LENDERS = ("海川证券股份有限公司", "东岳证券股份有限公司", "云麓银行股份有限公司", "江屿信托有限责任公司")
_YEAR_SESSIONS = 245
_WARNED, _SOLD = 0.75, 0.65


@dataclass(frozen=True)
class Pledge:
    """One pledge: `shares` of `holder`, who has `held`; it runs from `start` up to the day before `end`.
    `price` CNY of the start."""

    security: Security
    holder: str
    lender: str
    shares: int
    held: int
    total: int
    start: date
    end: date
    price: float

    def runs_on(self, day: date) -> bool:
        return self.start <= day < self.end


@dataclass(frozen=True)
class Pledged:
    """The pledges of one company on one day: shares, those of them that may be sold; CNY."""

    security: Security
    name: str
    date: int
    shares: int
    sellable: int
    total: int
    count: int
    price: float
    change_1y_pct: float | None

    @property
    def ratio_pct(self) -> float:
        return round(self.shares / self.total * 100, 2)


def list_days(view: View, since: int, until: int) -> list[int]:
    """Fridays with a list that is out, oldest first."""
    return [day for day in dates_between(view, since, until, PUBLISHED) if date_of(day).weekday() == _FRIDAY]


def lists(view: View, since: int, until: int, codes: set[str]) -> list[Pledged]:
    """The lists of the weeks in [since, until], of all companies or of some."""
    days = list_days(view, since, until)
    asked = [one for one in stocks(view) if not codes or one.code in codes] if days else []
    return [made for security in asked for made in _of_security(view, security, days)]


def pledges(view: View, security: Security) -> list[Pledge]:
    """Every pledge that has begun, the newest first."""
    if view.world.label != "sample":
        return []
    return sorted(_begun(view, security), key=lambda one: (one.start, one.shares), reverse=True)


def _begun(view: View, security: Security) -> Iterator[Pledge]:
    random = draws("pledges", security.symbol)
    if random.random() > _PLEDGING:
        return
    bars = view.world.bars(security, view.now)
    if not len(bars):
        return
    first = date_of(max(int(bars.date[0]), security.list_date))
    for number in range(random.randint(1, _MOST)):
        every, lasts = random.randint(300, 800), random.uniform(0.5, 0.95)
        start = _ORIGIN + timedelta(days=random.randrange(every))
        part, lender = random.uniform(0.004, 0.07), random.choice(_LENDERS)
        while start < view.now.date():
            known = max(start, first)
            total, _ = view.world.shares(security, evening(number_of(known)))
            price = close_on(bars, number_of(known))
            end = start + timedelta(days=int(every * lasts))
            if total and price and end > first:
                shares = int(total * part)
                yield Pledge(
                    security=security,
                    holder=person_of(security) if number == 0 else f"{person_of(security)}控股{number}号",
                    lender=lender,
                    shares=shares,
                    held=int(shares * 1.6) + 1_000,
                    total=total,
                    start=start,
                    end=end,
                    price=price,
                )
            start += timedelta(days=every)


def _of_security(view: View, security: Security, days: list[int]) -> Iterator[Pledged]:
    begun = pledges(view, security)
    if not begun:
        return
    bars = view.world.bars(security, view.now)
    name = view.world.name(security, view.now)
    for day in days:
        running = [one for one in begun if one.runs_on(date_of(day))]
        total, floating = view.world.shares(security, evening(day))
        at = int(np.searchsorted(bars.date, day, side="right")) - 1
        if not running or not total or at < 0:
            continue
        shares = min(sum(one.shares for one in running), total)
        year = bars.close[at] / bars.close[at - _YEAR_SESSIONS] if at >= _YEAR_SESSIONS else None
        yield Pledged(
            security=security,
            name=name,
            date=day,
            shares=shares,
            sellable=min(shares, int(shares * floating / total)),
            total=total,
            count=len(running),
            price=int(bars.close[at]) / PRICE_UNIT,
            change_1y_pct=None if year is None else round(float(year - 1) * 100, 4),
        )


def lines(one: Pledge) -> tuple[float, float]:
    """Prices at which the lender warns, and at which it sells."""
    return round(one.price * _WARNED, 2), round(one.price * _SOLD, 2)
