"""Members of the broad indices with their weights, and their ratios, for both providers."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints
from simulated_market.days import at as moment
from simulated_market.valuations import Lines
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Security


@dataclass(frozen=True)
class Share:
    """One member; weight in percent by total market cap, caps CNY."""

    security: Security
    name: str
    weight_pct: float
    cap: float
    float_cap: float


def index_of(view: View, code: str) -> Security | None:
    """The index with these six digits that the world has members of."""
    found = view.world.find(f"sz{code}" if code.startswith("399") else f"sh{code}")
    return found if found is not None and found.kind == "index" else None


def shares_at(view: View, index: Security, day: int) -> list[Share]:
    """Members at the close of a date, the heaviest first; weights have three decimals and make 100."""
    then = min(view.now, moment(day, "15:00"))
    found = []
    for one in view.world.index_members(index, then):
        quote, (total, floating) = view.world.quote(one, then), view.world.shares(one, then)
        if quote is not None and total:
            price = quote.price / PRICE_UNIT
            found.append((one, view.world.name(one, then), price * total, price * floating))
    caps = sum(cap for _, _, cap, _ in found)
    made = [Share(one, name, round(cap / caps * 100, 3), cap, part) for one, name, cap, part in found]
    return sorted(made, key=lambda share: (-share.weight_pct, share.security.code))


def pe_by_date(view: View, lines: Lines, index: Security, dates: Ints) -> tuple[Floats, Ints]:
    """(PE, number of members) of an index on many dates; members are chosen half-year by half-year."""
    pe, counts = np.full(len(dates), np.nan), np.zeros(len(dates), dtype=np.int64)
    halves = dates // 10_000 * 2 + (dates // 100 % 100 > 6)
    for half in np.unique(halves):
        inside = halves == half
        then = min(view.now, moment(int(dates[inside][0]), "15:00"))
        chosen = view.world.index_members(index, then)
        pe[inside] = lines.pe_of_dates(view, chosen, dates[inside])
        counts[inside] = len(chosen)
    return pe, counts


def newest_month_end(view: View) -> int | None:
    """The last trade date of the month before that of `now`."""
    dates = view.world.trade_dates()
    before = dates[dates < view.now.year * 10_000 + view.now.month * 100]
    return int(before[-1]) if len(before) else None
