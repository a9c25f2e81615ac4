"""The exchange's rules of 2022 that a comparison needs, in whole fen and written down a second time.

Own arithmetic on purpose: a limit that the product computes is compared with these, never with itself.
Shares in the files are main board (10 %, under special treatment 5 %), ChiNext and STAR (20 %, none on the
first five sessions); a main-board listing of the time had 44 % / 36 % on its first day.
"""

from dataclasses import dataclass

FREE_SESSIONS = 5


@dataclass(frozen=True)
class Band:
    """Limits in fen."""

    up: int
    down: int


def board_of(symbol: str) -> str:
    if symbol.startswith(("sh688", "sh689")):
        return "star"
    if symbol.startswith(("sz300", "sz301")):
        return "gem"
    return "main"


def band_of(symbol: str, preclose_fen: int, *, st: bool, session: int) -> Band | None:
    """Limits of the day; None where there are none. `session`: 1 on the listing day, large afterwards."""
    board = board_of(symbol)
    if board != "main":
        return None if session <= FREE_SESSIONS else _band(preclose_fen, 20, 20)
    if session == 1:
        return _band(preclose_fen, 44, 36)
    return _band(preclose_fen, 5, 5) if st else _band(preclose_fen, 10, 10)


def _band(preclose_fen: int, up_pct: int, down_pct: int) -> Band:
    """Rounded half up to the fen."""
    return Band(
        (preclose_fen * (100 + up_pct) + 50) // 100,
        (preclose_fen * (100 - down_pct) + 50) // 100,
    )


def state_of(band: Band | None, *, close: int, high: int, low: int, traded: bool) -> str:
    """none, up, down (held at the close), up_open, down_open (touched, not held); prices in fen."""
    if band is None or not traded:
        return "none"
    if close >= band.up:
        return "up"
    if close <= band.down:
        return "down"
    if high >= band.up:
        return "up_open"
    return "down_open" if low <= band.down else "none"
