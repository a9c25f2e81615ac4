"""Runs a rule over the days of a stock.

A signal at the close of t is an order for the open of the next trade date. A purchase that cannot be made
then (no bar, open at the upper limit, too little cash) is dropped; a sale that cannot be made (no bar, open
at the lower limit) is tried again on the next trade date. What is bought on a day can be sold from the next
one on: an order is never filled on the day of its signal, and no signal to sell comes before the purchase.
"""

from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.arrays import Ints
from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.ledger import BUY, SELL, Fill, Given, Ledger

SUSPENDED, LIMIT_UP, LIMIT_DOWN, NO_CASH = "suspended", "limit_up", "limit_down", "insufficient_cash"


class Holding(Protocol):
    """A rule's view of what was bought."""

    def sells(self, at: int) -> str:
        """Why the close of bar day `at` is a signal to sell; '' when it is none. Asked on every bar from the
        day of the purchase on, in order."""
        ...


class Rule(Protocol):
    """When to buy, how much, and when to sell. `at` counts days of `Days`; only days with a bar are asked."""

    def buys(self, at: int) -> bool: ...

    def most(self, at: int, fill: int, equity: int) -> float:
        """Shares at most, for a signal at `at` that is filled on `fill`; `equity` in fen at the signal."""
        ...

    def hold(self, fill: int) -> Holding: ...


@dataclass(frozen=True)
class Blocked:
    """An order that the market did not take on a day."""

    at: int
    day: str
    side: str
    reason: str


@dataclass(frozen=True)
class Trade:
    """A purchase and, unless it is still held, its sale. `profit` in fen, after fees, with what the shares
    were given meanwhile; of a holding, at the last close."""

    bought: Fill
    sold: Fill | None
    reason: str
    given: int
    profit: int

    @property
    def cost(self) -> int:
        return -self.bought.moved


@dataclass(frozen=True)
class Run:
    """Result of a backtest. `equity` [stop - start] is cash and shares at the close of each day, fen."""

    start: int
    stop: int
    capital: int
    equity: Ints
    cash: Ints
    held: Ints
    fills: tuple[Fill, ...]
    given: tuple[Given, ...]
    blocked: tuple[Blocked, ...]
    trades: tuple[Trade, ...]


@dataclass
class _Order:
    side: str
    reason: str = ""
    signal: int = 0
    equity: int = 0


def run_rule(
    days: Days,
    rule: Rule,
    *,
    board: str,
    capital: int,
    start: int = 0,
    stop: int | None = None,
    slippage_pct: float = 0.0,
) -> Run:
    """The account day by day from `start` to `stop` (excluded). `capital` in fen; slippage moves a price
    against the account, by whole fen and never beyond a limit."""
    stop = len(days) if stop is None else stop
    return _Account(days, rule, board, capital, slippage_pct).run(start, stop)


class _Account:
    def __init__(self, days: Days, rule: Rule, board: str, capital: int, slippage_pct: float) -> None:
        self.days = days
        self.rule = rule
        self.slippage = slippage_pct / 100
        self.ledger = Ledger(capital, board)
        self.capital = capital
        self.order: _Order | None = None
        self.holding: Holding | None = None
        self.blocked: list[Blocked] = []
        self.trades: list[Trade] = []
        self.close = 0
        self.open, self.closes, self.up, self.down = (
            _fen(column) for column in (days.open, days.close, days.limit_up, days.limit_down)
        )

    def run(self, start: int, stop: int) -> Run:
        equity, cash, held = (np.zeros(max(stop - start, 0), dtype=np.int64) for _ in range(3))
        traded = self.days.traded.tolist()
        for at in range(start, stop):
            if traded[at] and self.ledger.shares:
                given = (int(self.days.cash[at]), int(self.days.bonus[at]))
                self.ledger.go_ex(at, self.days.date[at], *given)
            if self.order is not None:
                self._try(at, self.order, is_traded=traded[at])
            if traded[at]:
                self.close = self.closes[at]
                self._decide(at)
            equity[at - start], cash[at - start], held[at - start] = (
                self._equity, self.ledger.cash, self.ledger.shares,
            )  # fmt: skip
        if self.ledger.shares:
            self._close_trade(None, "open")
        return Run(
            start, stop, self.capital, equity, cash, held, tuple(self.ledger.fills), tuple(self.ledger.given),
            tuple(self.blocked), tuple(self.trades),
        )  # fmt: skip

    @property
    def _equity(self) -> int:
        return self.ledger.cash + self.ledger.shares * self.close

    def _decide(self, at: int) -> None:
        if self.order is not None:
            return
        if self.holding is not None:
            reason = self.holding.sells(at)
            if reason:
                self.order = _Order(SELL, reason)
        elif self.rule.buys(at):
            self.order = _Order(BUY, signal=at, equity=self._equity)

    def _try(self, at: int, order: _Order, *, is_traded: bool) -> None:
        if order.side == BUY:
            self.order = None
            self._buy(at, order, is_traded=is_traded)
        elif not is_traded:
            self._refuse(at, SELL, SUSPENDED)
        elif self.down[at] and self.open[at] <= self.down[at]:
            self._refuse(at, SELL, LIMIT_DOWN)
        else:
            price = max(self.open[at] - self._slip(at), self.down[at], 1)
            self.ledger.book(at, self.days.date[at], SELL, price, self.ledger.shares)
            self._close_trade(self.ledger.fills[-1], order.reason)
            self.order = self.holding = None

    def _buy(self, at: int, order: _Order, *, is_traded: bool) -> None:
        if not is_traded:
            self._refuse(at, BUY, SUSPENDED)
            return
        if self.up[at] and self.open[at] >= self.up[at]:
            self._refuse(at, BUY, LIMIT_UP)
            return
        price = self.open[at] + self._slip(at)
        if self.up[at]:
            price = min(price, self.up[at])
        day = self.days.date[at]
        shares = self.ledger.affordable(price, day, self.rule.most(order.signal, at, order.equity))
        if not shares:
            self._refuse(at, BUY, NO_CASH)
            return
        self.ledger.book(at, day, BUY, price, shares)
        self.holding = self.rule.hold(at)

    def _slip(self, at: int) -> int:
        return ceil(self.open[at] * self.slippage - 1e-9)

    def _refuse(self, at: int, side: str, reason: str) -> None:
        self.blocked.append(Blocked(at, self.days.date[at], side, reason))

    def _close_trade(self, sold: Fill | None, reason: str) -> None:
        bought = next(fill for fill in reversed(self.ledger.fills) if fill.side == BUY)
        given = sum(one.paid for one in self.ledger.given if one.at > bought.at)
        worth = self.ledger.shares * self.close if sold is None else sold.moved
        self.trades.append(Trade(bought, sold, reason, given, worth + given + bought.moved))


def _fen(prices: npt.NDArray[np.float64]) -> list[int]:
    """Whole fen; 0 where there is no price."""
    known = np.isfinite(prices)
    fen: list[int] = np.rint(np.where(known, prices, 0.0) * 100).astype(np.int64).tolist()
    return fen
