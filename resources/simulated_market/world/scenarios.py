"""Engineered chart patterns: day-by-day moves that end in a known breakout."""

from resources.simulated_market.world.plan import Move


def _leg(days: int, total: float, turn: float = 1.0) -> list[Move]:
    """`days` sessions that add up to `total` (log), with a small saw so that bars are not lines."""
    step = total / days
    saw = (0.003, -0.003)
    return [Move(ret=step + saw[k % 2], gap=step * 0.3, turn=turn, wick=0.35) for k in range(days)]


def cup_handle() -> list[Move]:
    """Rim, a 20 % cup of 50 sessions, a shallow handle, then the close above the right rim."""
    cup = [*_leg(14, 0.15), *_leg(16, -0.16), *_leg(8, -0.03, 0.6), *_leg(8, 0.03, 0.6), *_leg(18, 0.16)]
    return [*cup, *_leg(8, -0.05, 0.6), Move(ret=0.07, gap=0.01, turn=3.0, wick=0.2)]


def double_bottom() -> list[Move]:
    """A fall, two equal lows, then the close above the high between them."""
    lows = [*_leg(24, -0.22), *_leg(10, 0.10), *_leg(10, -0.098, 0.8), *_leg(8, 0.07, 0.9)]
    return [*lows, Move(ret=0.06, gap=0.01, turn=2.8, wick=0.2)]


def island() -> list[Move]:
    """A fall, a gap down, five sessions beyond it, a gap up: island reversal at the bottom."""
    sea = [Move(ret=0.001 * (-1) ** k, gap=0.0, turn=0.8, wick=0.1) for k in range(5)]
    return [
        *_leg(20, -0.14),
        Move(ret=-0.045, gap=-0.042, turn=1.2, wick=0.05),
        *sea,
        Move(ret=0.055, gap=0.05, turn=2.5, wick=0.05),
    ]


def old_duck() -> list[Move]:
    """Flat base, neck (both short averages above the long one), head, quiet pullback, break of the head."""
    base = [*_leg(70, 0.0), *_leg(18, 0.20, 1.6), *_leg(9, -0.075, 0.45), *_leg(6, 0.045, 0.6)]
    return [*base, Move(ret=0.06, gap=0.01, turn=3.2, wick=0.2)]


SCENES = {"cup_handle": cup_handle, "double_bottom": double_bottom, "island": island, "old_duck": old_duck}
