"""Cash, shares and fees in integers: fen and whole shares."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.market.rules import RULES, lot_of, rule_on
from platform_assets.compute.backtests.days import PER_MILLION

BUY, SELL = "buy", "sell"
_PARTS = ("commission", "stamp", "transfer")


@dataclass(frozen=True)
class Fees:
    """Components in fen."""

    commission: int
    stamp: int
    transfer: int

    @property
    def total(self) -> int:
        return self.commission + self.stamp + self.transfer


@cache
def _rate(part: str, side: str, day: str) -> tuple[int, int]:
    """(millionths of the amount, least fee in fen) on a day; nothing before the first rule."""
    rule = rule_on("fee", part, day)
    if rule is None or rule.params["side"] not in {side, "both"}:
        return 0, 0
    return round(rule.value * 10_000), round(rule.params["minimum"] * 100)


def _part(part: str, amount: int, side: str, day: str) -> int:
    millionths, least = _rate(part, side, day)
    return max((amount * millionths + PER_MILLION // 2) // PER_MILLION, least)


def fees_of(amount: int, side: str, day: str) -> Fees:
    """Fees of a deal over `amount` fen; `side` is buy or sell, `day` ISO text."""
    return Fees(*(_part(part, amount, side, day) for part in _PARTS))


def fee_table() -> list[dict[str, Any]]:
    """The dated rules: percent of the amount, the least fee in CNY."""
    return [
        {
            "component": rule.scope,
            "side": rule.params["side"],
            "pct": rule.value,
            "minimum": rule.params["minimum"],
            "valid_from": rule.valid_from,
            "valid_to": rule.valid_to,
        }
        for rule in RULES
        if rule.rule == "fee"
    ]


@dataclass(frozen=True)
class Fill:
    """A deal. Money in fen; `cash` and `held` are what there was after it."""

    at: int
    day: str
    side: str
    price: int
    shares: int
    fees: Fees
    cash: int
    held: int

    @property
    def amount(self) -> int:
        return self.price * self.shares

    @property
    def moved(self) -> int:
        """Cash that came in (went out, negative)."""
        return self.amount - self.fees.total if self.side == SELL else -self.amount - self.fees.total


@dataclass(frozen=True)
class Given:
    """Cash and shares received on an ex-date: fen, shares, and the state after it."""

    at: int
    day: str
    paid: int
    bonus: int
    cash: int
    held: int


@dataclass
class Ledger:
    """Books of one account with one stock."""

    cash: int
    board: str
    shares: int = 0
    fills: list[Fill] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)

    def affordable(self, price: int, day: str, most: float) -> int:
        """The largest order at `price` fen whose cost with fees fits the cash, `most` shares at most."""
        least, step = lot_of(self.board, day)
        ceiling = int(min(self.cash // price, most)) if price > 0 else 0
        if ceiling < least:
            return 0
        low, high = -1, (ceiling - least) // step
        while low < high:
            middle = (low + high + 1) // 2
            amount = (least + middle * step) * price
            if amount + fees_of(amount, BUY, day).total <= self.cash:
                low = middle
            else:
                high = middle - 1
        return least + low * step if low >= 0 else 0

    def book(self, at: int, day: str, side: str, price: int, shares: int) -> None:
        """A deal that was made. What is sold is sold as a whole: odd remainders go with the rest, in one
        order."""
        amount = price * shares
        fees = fees_of(amount, side, day)
        sign = 1 if side == SELL else -1
        self.cash += sign * amount - fees.total
        self.shares -= sign * shares
        self.fills.append(Fill(at, day, side, price, shares, fees, self.cash, self.shares))

    def go_ex(self, at: int, day: str, cash: int, bonus: int) -> None:
        """Cash (millionths of CNY) and shares (millionths) that each held share is given; a fraction of a fen
        is rounded half up, a fraction of a share is not given."""
        paid = (self.shares * cash * 100 + PER_MILLION // 2) // PER_MILLION
        more = self.shares * bonus // PER_MILLION
        if paid or more:
            self.cash += paid
            self.shares += more
            self.given.append(Given(at, day, paid, more, self.cash, self.shares))
