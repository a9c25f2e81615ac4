"""Fees of a deal in fen, by the dated rules of the market. Each component is rounded half up."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from core.market.rules import RULES, rule_on

BUY, SELL = "buy", "sell"
_PARTS = ("commission", "stamp", "transfer")
_MILLION = 1_000_000


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
    return max((amount * millionths + _MILLION // 2) // _MILLION, least)


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
