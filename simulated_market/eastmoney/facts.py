"""Values of the lists for one security or board, computed on demand and cached for one moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simulated_market.bonds import Bond
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Board, Flow, Quote, Security, Valuation

_STOCK_TYPES = {
    ("SH", "main"): "t:2",
    ("SH", "star"): "t:23",
    ("SZ", "main"): "t:6",
    ("SZ", "gem"): "t:80",
    ("BJ", "bj"): "t:81",
}
SIZES = ("super_large", "large", "medium", "small")


@dataclass(frozen=True)
class Money:
    """In and out sums of one or several days by order size, CNY."""

    inflow: Mapping[str, float]
    outflow: Mapping[str, float]

    def net(self, size: str) -> float:
        return round(self.inflow[size] - self.outflow[size], 2)

    @property
    def main(self) -> float:
        return round(self.net("super_large") + self.net("large"), 2)


def money_of(flows: list[Flow]) -> Money | None:
    """Sums of the flows, each day in whole CNY as the portal shows them in lists and lines alike."""
    if not flows:
        return None
    return Money(
        {size: sum(round(float(getattr(flow, f"{size}_in"))) for flow in flows) for size in SIZES},
        {size: sum(round(float(getattr(flow, f"{size}_out"))) for flow in flows) for size in SIZES},
    )


class SecurityFacts:
    """Facts of one security at `view.now`."""

    def __init__(self, view: View, security: Security, boards: Mapping[str, list[Board]]) -> None:
        self.view = view
        self.security = security
        self.boards = boards.get(security.symbol, [])

    @cached_property
    def quote(self) -> Quote | None:
        return self.view.world.quote(self.security, self.view.now)

    @cached_property
    def name(self) -> str:
        return self.view.world.name(self.security, self.view.now)

    @cached_property
    def valuation(self) -> Valuation | None:
        return self.view.world.valuation(self.security, self.view.now)

    @cached_property
    def shares(self) -> tuple[int, int]:
        return self.view.world.shares(self.security, self.view.now)

    @property
    def trading(self) -> Quote | None:
        """The quote of a security that trades today; everything else shows '-'."""
        quote = self.quote
        return None if quote is None or quote.suspended or not quote.price else quote

    @cached_property
    def flows(self) -> list[Flow]:
        return list(self.view.world.flows(self.security, self.view.now))

    def money(self, days: int = 1) -> Money | None:
        """Sums of the newest `days` days; None unless the newest one is the day of the quote."""
        quote = self.trading
        if quote is None or not self.flows or self.flows[-1].date != quote.date:
            return None
        return money_of(self.flows[-days:])

    @cached_property
    def bond(self) -> Bond | None:
        """Terms, where the security is a convertible bond."""
        return Bond(self.view, self.security) if self.security.kind == "cb" else None

    @cached_property
    def tags(self) -> set[str]:
        """The filter terms of the lists that are true for this security."""
        security = self.security
        tags = {"m:1" if security.market == "SH" else "m:0"}
        tags |= {f"b:{board.code}" for board in self.boards}
        if security.kind == "stock":
            tags.add(_STOCK_TYPES.get((security.market, security.board), "t:?"))
            if security.market == "BJ":
                tags.add("s:2048")
            if "ST" in self.name:
                tags.add("f:4")
        elif security.kind == "b":
            tags.add("t:3" if security.market == "SH" else "t:7")
        elif security.kind == "index":
            tags |= {"b:MK0010", "t:1", "s:2"} if security.market == "SH" else {"b:MK0010", "t:5"}
        elif security.kind == "etf":
            tags.add("b:MK0021")
        elif security.kind == "lof":
            tags.add("b:MK0404")
        elif security.kind == "cb":
            tags.add("b:MK0354")
        elif security.kind == "reit":
            tags |= {"e:97", "t:9" if security.market == "SH" else "t:10"}
        return tags

    @cached_property
    def closes(self) -> Any:
        """Closes of traded days before the day of the quote, oldest first (1e-4 CNY)."""
        quote = self.quote
        bars = self.view.world.bars(self.security, self.view.now)
        day = quote.date if quote is not None else 99_999_999
        return bars.close[np.flatnonzero((bars.date < day) & bars.traded)]

    @cached_property
    def year_close(self) -> int:
        bars = self.view.world.bars(self.security, self.view.now)
        year = self.view.now.year * 10_000
        before = bars.close[np.flatnonzero((bars.date < year) & bars.traded)]
        return int(before[-1]) if len(before) else 0

    def change_over(self, days: int) -> float | None:
        """Percent against the close `days` traded days ago."""
        quote = self.trading
        if quote is None or len(self.closes) < days:
            return None
        return (quote.price / int(self.closes[-days]) - 1) * 100

    @property
    def change_pct(self) -> float | None:
        quote = self.trading
        if quote is None or not quote.preclose:
            return None
        return (quote.price / quote.preclose - 1) * 100

    def board_names(self, kind: str) -> str | None:
        names = [board.name for board in self.boards if board.kind == kind]
        return ",".join(names) if names else None


class BoardFacts:
    """Facts of a board: sums and extremes over its members that trade. A board has no price of its
    own in a world, so it is quoted as 1,000 points at yesterday's close."""

    BASE = 1000.0

    def __init__(self, board: Board, members: list[SecurityFacts]) -> None:
        self.board = board
        self.members = [one for one in members if one.trading is not None]

    @cached_property
    def change_pct(self) -> float | None:
        return self._weighted([(one, one.change_pct or 0.0) for one in self.members])

    def change_over(self, days: int) -> float | None:
        """Percent over `days` traded days, of the members that have as many."""
        known = [(one, change) for one in self.members if (change := one.change_over(days)) is not None]
        return self._weighted(known)

    def _weighted(self, changes: list[tuple[SecurityFacts, float]]) -> float | None:
        """Weighted by float cap, by count where no caps are known."""
        if not changes:
            return None
        weights = [self._cap(one, "float_market_cap") for one, _ in changes]
        total = sum(weights)
        if total <= 0:
            return sum(change for _, change in changes) / len(changes)
        return sum(change * weight for (_, change), weight in zip(changes, weights, strict=True)) / total

    @cached_property
    def money(self) -> Money | None:
        held = [money for one in self.members if (money := one.money()) is not None]
        if not held:
            return None
        return Money(
            {size: sum(money.inflow[size] for money in held) for size in SIZES},
            {size: sum(money.outflow[size] for money in held) for size in SIZES},
        )

    @cached_property
    def amount(self) -> float:
        return round(sum(one.quote.amount for one in self.members if one.quote is not None), 2)

    def count(self, sign: int) -> int:
        """Members up (1), down (-1) or flat (0)."""
        changes = [one.change_pct or 0.0 for one in self.members]
        return [(change > 0) - (change < 0) for change in changes].count(sign)

    def cap(self, which: str) -> float | None:
        total = sum(self._cap(one, which) for one in self.members)
        return total or None

    def best(self) -> SecurityFacts | None:
        return max(self.members, key=lambda one: (one.change_pct or 0.0, one.security.code), default=None)

    def worst(self) -> SecurityFacts | None:
        return min(self.members, key=lambda one: (one.change_pct or 0.0, one.security.code), default=None)

    def favourite(self) -> SecurityFacts | None:
        """The member with the largest main net inflow."""
        rated = [(money.main, one) for one in self.members if (money := one.money()) is not None]
        return max(rated, key=lambda pair: pair[0])[1] if rated else None

    @staticmethod
    def _cap(one: SecurityFacts, which: str) -> float:
        held = one.valuation
        return 0.0 if held is None else float(getattr(held, which) or 0.0)


def cny(value: int) -> float:
    return value / PRICE_UNIT
