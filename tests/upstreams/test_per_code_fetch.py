"""A per-code fetch: how many codes may fail before its source is refused."""

import pytest

from core.errors import PayloadError
from resources.upstreams.tolerated_failures import check_failed

MAIN = [f"sh600{number:03d}" for number in range(80)]
STAR = [f"sh688{number:03d}" for number in range(8)]
MARKET = [*MAIN, *STAR]


def failing(*items: str) -> list[tuple[str, str]]:
    return [(item, "another unit") for item in items]


@pytest.mark.parametrize(
    "failed",
    [[], [MAIN[3]], MAIN[:8], [STAR[0]], [STAR[0], *MAIN[:7]]],
    ids=["nobody", "one", "a tenth", "one of a board", "a tenth of two boards"],
)
def test_a_few_odd_codes_are_left_out(failed: list[str]) -> None:
    check_failed(MARKET, failing(*failed))


def test_a_board_that_fails_is_no_few_odd_codes() -> None:
    """Eight of 88 are less than the tenth of everything, and a whole board."""
    with pytest.raises(PayloadError, match=r"8 of 8 codes of board star failed; sh688000: another unit"):
        check_failed(MARKET, failing(*STAR))
    with pytest.raises(PayloadError, match=r"2 of 8 codes of board star"):
        check_failed(MARKET, failing(*STAR[:2]))


def test_too_many_of_everything_and_the_only_one_fail() -> None:
    with pytest.raises(PayloadError, match="9 of 88 codes failed"):
        check_failed(MARKET, failing(*MAIN[:9]))
    with pytest.raises(PayloadError, match="1 of 1 codes failed"):
        check_failed(["sh600000"], failing("sh600000"))


def test_items_that_are_no_stocks_have_no_board() -> None:
    dates = [f"2026-08-{day:02d}" for day in range(1, 31)]
    check_failed(dates, failing(*dates[:3]))
