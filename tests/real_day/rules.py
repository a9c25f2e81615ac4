"""The exchanges' dated rules that a comparison needs, in whole fen and written down a second time.

Own arithmetic on purpose: a limit that the product computes is compared with these, never with itself.
Main board 10 %, under special treatment 5 % until 2026-07-03 and 10 % after it; ChiNext 20 % since
2020-08-24 and STAR since it began; BSE 30 %. The first five sessions of a listing are free on STAR, on
ChiNext since that date and on the main board since 2023-04-10, one session at the BSE; before, a listing had
44 % and 36 % on its first day. A re-listing is free on its first day.
"""

from dataclasses import dataclass

FREE_SESSIONS = 5
GEM_REGISTERED, MAIN_REGISTERED, ST_WIDENED = "2020-08-24", "2023-04-10", "2026-07-06"


@dataclass(frozen=True)
class Band:
    """Limits in fen."""

    up: int
    down: int


def board_of(symbol: str) -> str:
    if symbol.startswith("bj"):
        return "bj"
    if symbol.startswith(("sh688", "sh689")):
        return "star"
    if symbol.startswith(("sz300", "sz301", "sz302")):
        return "gem"
    return "main"


def band_of(
    symbol: str, preclose_fen: int, *, date: str, st: bool, session: int, relisting: bool = False
) -> Band | None:
    """Limits of the day; None where there are none. `session`: 1 on the listing day, large afterwards."""
    board = board_of(symbol)
    registered = board == "star" or date >= {"gem": GEM_REGISTERED, "main": MAIN_REGISTERED}.get(board, "")
    free = 1 if board == "bj" else FREE_SESSIONS if registered else 0
    if relisting or session <= free:
        return None
    if board == "bj":
        return _band(preclose_fen, 30, 30)
    if board != "main" and registered:
        return _band(preclose_fen, 20, 20)
    if session == 1:
        return _band(preclose_fen, 44, 36)
    percent = 5 if st and date < ST_WIDENED else 10
    return _band(preclose_fen, percent, percent)


def _band(preclose_fen: int, up_pct: int, down_pct: int) -> Band:
    """Rounded half up to the fen."""
    return Band(
        (preclose_fen * (100 + up_pct) + 50) // 100,
        (preclose_fen * (100 - down_pct) + 50) // 100,
    )


def state_of(band: Band | None, *, close: int, high: int, low: int, traded: bool) -> str:
    """none, no_limit (a day without limits), up, down (held at the close), up_open, down_open (touched, not
    held); prices in fen."""
    if not traded:
        return "none"
    if band is None:
        return "no_limit"
    if close >= band.up:
        return "up"
    if close <= band.down:
        return "down"
    if high >= band.up:
        return "up_open"
    return "down_open" if low <= band.down else "none"
