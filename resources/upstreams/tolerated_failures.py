"""How many answers of single codes a fetch may lack, and how an item of it is named."""

from collections import Counter
from collections.abc import Sequence

from core.errors import PayloadError
from core.market.securities import board_of

FAILED_SHARE = 0.1
"""Share of all codes, and of the codes of one board, that may fail. A board that a source reports in another
format or unit is a small share of the market, so the total alone would not show it."""
_SYMBOL_LENGTH = len("sh600519")


def check_failed(asked: Sequence[str], failed: Sequence[tuple[str, str]]) -> None:
    """`failed`: (item, reason). Raises PayloadError when more than the share failed, of everything or of the
    stocks of one board. A single failure is tolerated, except where it is all that was requested: no answer
    would be left."""
    if not failed:
        return
    item, reason = failed[0]
    if len(failed) > min(len(asked) - 1, _most(len(asked))):
        raise PayloadError(f"{len(failed)} of {len(asked)} codes failed; {item}: {reason}")
    sizes = Counter(_board(one) for one in asked)
    for board, number in Counter(_board(one) for one, _ in failed).items():
        if board and number > _most(sizes[board]):
            item, reason = next(one for one in failed if _board(one[0]) == board)
            raise PayloadError(f"{number} of {sizes[board]} codes of board {board} failed; {item}: {reason}")


def _most(asked: int) -> int:
    return max(1, int(FAILED_SHARE * asked))


def _board(item: str) -> str:
    """The board of a stock's symbol; '' for any other item."""
    return board_of(item[2:], item[:2]) if len(item) == _SYMBOL_LENGTH else ""


def code_of_item(item: str) -> str:
    """The code of a symbol; any other item as it is."""
    return item[2:] if len(item) == _SYMBOL_LENGTH and item[:2].isalpha() else item
