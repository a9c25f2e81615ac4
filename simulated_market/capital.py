"""Share capital of the companies of a world: its changes, from the world's own records, and buybacks.

One company of five buys back shares, about every two years: planned on a session, begun some weeks later,
reported in between, and ended after half a year or stopped. A replayed market has no buybacks.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from simulated_market.draws import draws
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Bars, Security

LISTING, BONUS, RELEASE = "发行上市", "送、转股", "限售股份上市"
_CASH = 1
_CAUSES = {2: BONUS, 5: RELEASE}
_EVERY = 5
_BETWEEN = 680
_ORIGIN = date(2021, 2, 1)
_STEPS = ((0, "001", 0.0), (21, "002", 0.0), (50, "004", 0.2), (95, "004", 0.55), (180, "006", 0.9))
"""Days after the plan, the state reported then, and the share of the money that is spent."""


@dataclass(frozen=True)
class ShareChange:
    """The structure of a company's shares from a day on."""

    security: Security
    date: int
    total: int
    floating: int
    reason: str


@dataclass(frozen=True)
class Buyback:
    """One buyback with its newest reported state; CNY and shares."""

    security: Security
    planned: date
    reported: date
    ends: date
    progress: str
    low: float
    high: float
    price_cap: float
    spent: float
    bought: int


def share_changes(view: View, security: Security) -> list[ShareChange]:
    """Changes up to now, oldest first; of several on one day the last."""
    found: dict[int, ShareChange] = {}
    for record in view.world.exrights(security, view.now):
        if record.category == _CASH:
            continue
        _, before, floating, total = record.values
        reason = LISTING if not before else _CAUSES.get(record.category, "其他")
        found[record.date] = ShareChange(
            security, record.date, round(total * 10_000), round(floating * 10_000), reason
        )
    return [found[day] for day in sorted(found)]


def buybacks(view: View, security: Security) -> list[Buyback]:
    """Buybacks that are planned by now, oldest first."""
    random = draws("buyback", security.symbol)
    if view.world.label != "sample" or random.randrange(_EVERY):
        return []
    bars = view.world.bars(security, view.now)
    found = []
    day = _ORIGIN + timedelta(days=random.randrange(_BETWEEN))
    while day <= view.now.date():
        made = _buyback(view, security, bars, day)
        if made is not None:
            found.append(made)
        day += timedelta(days=_BETWEEN)
    return found


def _buyback(view: View, security: Security, bars: Bars, day: date) -> Buyback | None:
    at = int(np.searchsorted(bars.date, int(f"{day:%Y%m%d}"), side="right")) - 1
    if at < 0:  # not listed yet, or before the world begins
        return None
    close = int(bars.close[at]) / PRICE_UNIT
    random = draws("terms", security.symbol, day)
    low = random.randrange(2, 40) * 10_000_000.0
    cap = round(close * 1.3, 2)
    days, progress, share = next(
        step for step in reversed(_STEPS) if day + timedelta(days=step[0]) <= view.now.date()
    )
    if progress == "006" and random.random() < 0.15:
        progress, share = "005", share / 3
    spent = round(low * 1.5 * share, 2)
    return Buyback(
        security=security,
        planned=day,
        reported=day + timedelta(days=days),
        ends=day + timedelta(days=365),
        progress=progress,
        low=low,
        high=low * 2,
        price_cap=cap,
        spent=spent,
        bought=round(spent / close),
    )
