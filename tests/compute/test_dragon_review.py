"""What became of leaders, by hand: rest days, dates whose bars are missing, what is settled without a bar."""

import numpy as np
import pytest

from platform_assets.compute.dragon_review import review_leaders
from platform_assets.compute.parameters.scorecards import WAIT_DAYS

N = np.nan
TRADES = [10.0, 11.0, 10.5, 12.0, 11.0, 13.0]


def reviewed(
    closes: list[float], loaded: list[bool] | None = None, day_at: int = 0
) -> tuple[list[float], str]:
    """(changes after 1, 3, 5 dates; status) of one leader scored on the date at `day_at`."""
    known = np.array([True] * len(closes) if loaded is None else loaded)
    reported = review_leaders(np.array([closes]), known, np.array([0]), np.array([day_at]))
    return reported.changes[:, 0].tolist(), str(reported.status[0])


@pytest.mark.parametrize(
    ("dates", "changes", "status"),
    [
        (1, [N, N, N], "pending"),
        (2, [10, N, N], "partial"),
        (4, [10, 20, N], "partial"),
        (6, [10, 20, 30], "reviewed"),
    ],
)
def test_changes_come_date_by_date(dates: int, changes: list[float], status: str) -> None:
    reported = reviewed(TRADES[:dates])
    assert reported == (pytest.approx(changes, nan_ok=True), status)


def test_a_leader_that_rests_is_measured_by_its_last_bar() -> None:
    assert reviewed([10.0, 11.0, 12.0, N, N, N]) == (pytest.approx([10, 20, 20]), "reviewed")
    # It rested at first: the next change is not known, and it is not waited for.
    assert reviewed([10.0, N, N, 12.0, 12.0, N]) == (pytest.approx([N, 20, 20], nan_ok=True), "reviewed")
    # It rested on its own date: the last close before is where it is measured from.
    assert reviewed([10.0, N, 11.0, 11.0, 11.0, 11.0, 12.0], day_at=1) == (
        pytest.approx([10, 10, 20]),
        "reviewed",
    )


def test_without_a_price_to_measure_from_there_is_no_change() -> None:
    reported = reviewed([N, N, 11.0, 11.0, 11.0, 11.0, 12.0], day_at=1)
    assert reported == (pytest.approx([N] * 3, nan_ok=True), "reviewed")


def test_a_date_without_the_markets_bars_is_waited_for() -> None:
    late = [10.0, 11.0, 12.0, 12.0, 12.0, N]
    assert reviewed(late, [True] * 5 + [False]) == (pytest.approx([10, 20, N], nan_ok=True), "partial")
    # Its own bar is enough, also when others have none.
    assert reviewed(TRADES, [True] * 5 + [False]) == (pytest.approx([10, 20, 30]), "reviewed")
    # The first date after is missing: the last is filled, and the row stays open for the first.
    first = [10.0, N, 12.0, 12.0, 12.0, 12.0]
    assert reviewed(first, [True, False, *[True] * 4]) == (pytest.approx([N, 20, 20], nan_ok=True), "pending")


def test_what_never_trades_again_is_settled_in_the_end() -> None:
    gone = [10.0] + [N] * WAIT_DAYS
    assert reviewed(gone[:-1]) == (pytest.approx([N] * 3, nan_ok=True), "partial")
    assert reviewed(gone) == (pytest.approx([N] * 3, nan_ok=True), "reviewed")
    # So is a date whose bars never came.
    lost = [10.0, 11.0, 12.0, 12.0, 12.0, N, *[12.5] * (WAIT_DAYS - 5)]
    assert reviewed(lost, [at != 5 for at in range(len(lost))]) == (pytest.approx([10, 20, 20]), "reviewed")


def test_a_date_that_has_not_closed_has_no_values() -> None:
    assert reviewed(TRADES, day_at=-1) == (pytest.approx([N] * 3, nan_ok=True), "pending")
    nowhere, days = np.array([-1]), np.empty(0, dtype=bool)
    assert review_leaders(np.empty((0, 0)), days, nowhere, nowhere).status.tolist() == ["pending"]


def test_each_leader_is_looked_up_by_its_own_code_and_date() -> None:
    close = np.array([TRADES, [20.0, 20.0, 22.0, 22.0, 33.0, 22.0]])
    reported = review_leaders(close, np.ones(6, dtype=bool), np.array([1, 0, -1]), np.array([1, 0, 0]))
    assert reported.changes.T[:2].tolist() == [
        pytest.approx([10, 65, N], nan_ok=True),
        pytest.approx([10, 20, 30]),
    ]
    assert reported.status.tolist() == ["partial", "reviewed", "partial"]
    assert np.isnan(reported.changes[:, 2]).all()
