"""Previous closes that betray another instrument, and those that events, roundings and listings explain."""

import numpy as np
import pytest

from core.price_identity import explained, foreign, same

NAN = float("nan")


def judged(reported: dict[str, float], stored: float, adjusted: float | None = None) -> dict[str, bool]:
    def one(value: float) -> np.ndarray:
        return np.array([value], dtype=np.float64)

    found = foreign(
        {name: one(value) for name, value in reported.items()},
        one(stored),
        one(stored if adjusted is None else adjusted),
    )
    return {name: bool(marks[0]) for name, marks in found.items()}


@pytest.mark.parametrize(
    ("reported", "stored", "guilty"),
    [
        ({"tdx": 12.88, "tencent": 12.88}, 12.88, set()),
        ({"tdx": 3246.37, "tencent": 12.88}, 12.88, {"tdx"}),
        ({"tdx": 12.88, "tencent": 1898.0}, 12.88, {"tencent"}),
        ({"tdx": 1898.0}, 12.88, {"tdx"}),
        # No bar is stored: two of three decide, two that differ beyond all events are both refused.
        ({"tdx": 1898.0, "tencent": 12.88, "eastmoney": 12.88}, NAN, {"tdx"}),
        ({"tdx": 1898.0, "tencent": 12.88}, NAN, {"tdx", "tencent"}),
        ({"tdx": 32.69}, NAN, set()),
        # An ex-date that one source shows and the other, a session behind, does not.
        ({"tdx": 19.90, "tencent": 40.00}, 40.00, set()),
        ({"tdx": 19.90, "tencent": 19.90}, 40.00, set()),
        # A near price is refused where the stored close and another source agree that it is too high.
        ({"tdx": 13.90, "tencent": 12.88}, 12.88, {"tdx"}),
        # Two upstreams agree on what no event of ours explains: a consolidation, not a mistake of one.
        ({"tdx": 128.8, "tencent": 128.8}, 12.88, set()),
        ({"tdx": 0.0, "tencent": NAN}, 12.88, set()),
    ],
)
def test_sources_with_another_instrument(reported: dict[str, float], stored: float, guilty: set[str]) -> None:
    assert {name for name, marked in judged(reported, stored).items() if marked} == guilty


def test_known_events_of_the_day_explain_any_cut() -> None:
    assert judged({"tdx": 1.29}, 12.88, 1.288) == {"tdx": False}
    assert judged({"tdx": 1.29}, 12.88) == {"tdx": True}


def test_roundings_of_a_tick_are_the_same_price() -> None:
    assert bool(same(np.array([12.89]), np.array([12.88]))[0])
    assert not bool(same(np.array([13.2]), np.array([12.88]))[0])
    assert not bool(same(np.array([NAN]), np.array([NAN]))[0])


def test_an_index_follows_from_no_stock() -> None:
    closes = np.array([12.88, 1898.0, 0.0, NAN])

    assert explained(np.full(4, 3282.58), closes).tolist() == [False, False, True, True]
