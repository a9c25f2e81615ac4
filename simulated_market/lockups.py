"""Releases of locked shares of a world: one and three years after a listing, and now and then of a placement.

A release is known beforehand: that of a listing from its first day on, that of a placement half a year
before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from simulated_market.draws import draws
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Security

_ORIGIN = date(2022, 1, 3)
_BETWEEN = 540
_PLACED_BEFORE = timedelta(days=183)
_LISTINGS = ((1, "首发原股东限售股份", 0.10, 0.25), (3, "首发原股东限售股份,首发战略配售股份", 0.30, 0.45))
_PLACEMENT = "定向增发机构配售股份"


@dataclass(frozen=True)
class Release:
    """One release: shares; `price` CNY is the newest close that was known."""

    security: Security
    name: str
    date: date
    kind: str
    shares: int
    able: int
    total_shares: int
    float_before: int
    price: float
    holders: int


def releases(view: View, since: date, until: date) -> list[Release]:
    """The releases between two dates that are known at the view's time, by date and code."""
    made = [
        _release(view, security, *planned)
        for security in view.world.securities(view.now)
        if security.kind in {"stock", "cb"}
        for planned in _plan(security, view.now)
        if since <= planned[0] <= until
    ]
    known = [one for one in made if one is not None]
    return sorted(known, key=lambda one: (one.date, one.security.code, one.kind))


def _plan(security: Security, now: datetime) -> Iterator[tuple[date, str, float, float]]:
    """(date, kind, bounds of the share of all shares) of every release that is known at `now`."""
    text = str(security.list_date)
    listed = date(int(text[:4]), int(text[4:6]), min(int(text[6:]), 28))
    if security.kind == "stock":
        for years, kind, low, high in _LISTINGS:
            yield _on_a_week_day(listed.replace(year=listed.year + years)), kind, low, high
    random = draws("lockup", security.symbol)
    day = _ORIGIN + timedelta(days=random.randrange(_BETWEEN))
    while day - _PLACED_BEFORE <= now.date():
        if day - _PLACED_BEFORE > listed:
            yield _on_a_week_day(day), _PLACEMENT, 0.01, 0.12
        day += timedelta(days=_BETWEEN)


def _on_a_week_day(day: date) -> date:
    return day + timedelta(days=max(0, 7 - day.weekday())) if day.weekday() > 4 else day


def _release(view: View, security: Security, day: date, kind: str, low: float, high: float) -> Release | None:
    then = min(view.now, datetime(day.year, day.month, day.day, 15))
    total, floating = view.world.shares(security, then)
    bars = view.world.bars(security, view.now)
    known = int(np.searchsorted(bars.date, number_of(then), side="right"))
    if not total or not known:
        return None
    random = draws("release", security.symbol, day, kind)
    shares = int(total * random.uniform(low, high))
    return Release(
        security=security,
        name=view.world.name(security, view.now),
        date=day,
        kind=kind,
        shares=shares,
        able=shares if random.random() < 0.7 else int(shares * random.uniform(0.2, 0.95)),
        total_shares=total,
        float_before=floating,
        price=int(bars.close[known - 1]) / PRICE_UNIT,
        holders=random.randint(1, 30),
    )
