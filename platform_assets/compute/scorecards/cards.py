"""Review of decision cards: whether a stock went where a card said it would."""

from dataclasses import dataclass

from core.days import moved
from platform_assets.compute.parameters.scorecards import (
    CARD_DAYS_PER_TRADE_DATE,
    CARD_FLAT_PCT,
    CARD_HORIZON,
)

BULLISH, BEARISH, NEUTRAL = "bullish", "bearish", "neutral"
JUDGED = (BULLISH, BEARISH)
"""Directions that can be right or wrong."""
UP, DOWN, SIDEWAYS = "上涨", "下跌", "震荡"
HIT, MISS = "hit", "miss"


@dataclass(frozen=True)
class Verdict:
    """`profit_pct` is the change of the price in percent, whatever the direction of the card."""

    outcome: str
    profit_pct: float
    trend: str


def cutoff(today: str) -> str:
    """The newest decision date whose ten trade dates have passed, counted as 1.7 calendar days each."""
    return moved(today, -round(CARD_HORIZON * CARD_DAYS_PER_TRADE_DATE))


def verdict(direction: str, start: float, end: float) -> Verdict:
    """The verdict on two prices of one scale: a move of up to one percent is sideways and confirms neither
    direction."""
    change = (end / start - 1) * 100
    if abs(round(change, 9)) <= CARD_FLAT_PCT:
        return Verdict(NEUTRAL, change, SIDEWAYS)
    right = (change > 0) == (direction == BULLISH)
    return Verdict(HIT if right else MISS, change, UP if change > 0 else DOWN)
