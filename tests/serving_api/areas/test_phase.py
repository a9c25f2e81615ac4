"""Limit counts and the emotion cycle: from loaded bars and pools to the routes."""

from itertools import pairwise
from typing import Any

import pytest

from tests.pipeline.conftest import TODAY
from tests.serving_api.areas.conftest import Topics

BARE = 3
"""Dates of the window whose pools are not loaded."""


@pytest.fixture(scope="module")
def phases(topics: Topics) -> Topics:
    """The shared market with the pools of its newer dates, counted and told: nine dates at once, then one."""
    dates = topics.services.run.calendar.last(10, TODAY)
    topics.services.raw("raw_limit_pool", *dates[BARE:])
    topics.services.fuse("index_daily", *dates)
    for name in ("limit_count", "market_phase"):
        topics.services.fuse(name, *dates[:-1])
        topics.services.fuse(name, TODAY)
    return topics


def test_both_counts_agree_where_both_are_known(phases: Topics) -> None:
    reported = phases.reported("/market/limit-count-history", days=10)

    items = reported["items"]
    assert reported["total"] == len(items) == 10
    pools = phases.rows("raw_limit_pool")
    # A date on which nobody touched a limit has no row in any pool: nothing tells it from one not loaded.
    dates_with_pools = {row["trade_date"] for row in pools}
    assert [row["match"] for row in items] == [
        True if row["date"] in dates_with_pools else None for row in items
    ]
    assert sum(row["match"] is True for row in items) >= 4
    assert sum(row["limit_up_recomputed"] for row in items) >= 5
    assert [row["limit_up_official"] for row in items[:BARE]] == [None] * BARE
    assert all(row["diff_note"] is None for row in items)
    newest = items[-1]
    today = [row["pool"] for row in pools if row["trade_date"] == TODAY]
    assert (newest["limit_up_official"], newest["broken"]) == (today.count("up"), today.count("broken"))
    assert newest["max_limit_days"] >= 1
    assert phases.reported("/market/limit-count-history", days=1)["items"] == [newest]


def test_the_cycle_its_history_and_the_regime_agree(phases: Topics) -> None:
    cycle = phases.reported("/market/emotion-cycle", days=10)
    history = phases.reported("/market/phase-history", days=10)
    regime = phases.reported("/market/regime")

    assert cycle["total"] == history["total"] == 10
    assert [row["stage"] for row in cycle["items"]] == [row["phase"] for row in history["rows"]]
    assert all(0 <= row["score"] <= 100 for row in cycle["items"])
    runs = history["segments"]
    assert sum(run["days"] for run in runs) == 10
    assert (runs[0]["from"], runs[-1]["to"]) == (cycle["items"][0]["date"], TODAY)
    assert all(one["phase"] != two["phase"] for one, two in pairwise(runs))
    assert history["current"] == {"phase": runs[-1]["phase"], "duration_days": runs[-1]["days"]}
    assert cycle["current"] == {"stage": runs[-1]["phase"], "days": runs[-1]["days"]}
    for phase, following in history["transitions"].items():
        assert sum(following.values()) == pytest.approx(1, abs=3e-4)
        counts = history["transition_counts"][phase]
        assert following == {then: round(count / sum(counts.values()), 4) for then, count in counts.items()}
    assert sum(sum(counts.values()) for counts in history["transition_counts"].values()) == 9
    assert (regime["trade_date"], regime["phase"]) == (TODAY, runs[-1]["phase"])
    assert (regime["source"], regime["duration_days"]) == ("snapshot", runs[-1]["days"])


def test_an_answer_that_is_shorter_than_asked_says_why(phases: Topics) -> None:
    first = phases.services.run.calendar.last(10, TODAY)[0]

    for path in ("limit-count-history", "emotion-cycle", "phase-history"):
        whole, cut = (phases.reported(f"/market/{path}", days=days) for days in (10, 30))
        assert (whole["first_date"], whole["note"]) == (first, None)
        assert cut["note"] == f"10 of 30 trade dates are stored; the first stored date is {first}"


def test_the_score_follows_from_its_evidence(phases: Topics) -> None:
    regime = phases.reported("/market/regime")

    weight = sum(one["weight"] for one in regime["evidence"])
    summed = sum(one["weight"] * one["score"] for one in regime["evidence"])
    assert regime["confidence"] == pytest.approx(weight)
    assert regime["score"] == pytest.approx(summed / weight, abs=0.01)


def test_one_range_or_day_by_day_is_the_same(phases: Topics) -> None:
    before = phases.rows("calc_market_phase")
    dates = phases.services.run.calendar.last(4, TODAY)

    again = phases.services.fuse("market_phase", *dates)

    assert sum(one.rows_written for one in again.results) == 0
    assert phases.rows("calc_market_phase") == before


def test_the_catalog_reads_them(phases: Topics) -> None:
    def call(name: str, **params: Any) -> Any:
        answer = phases.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    assert call("get_market_phase")["trade_date"] == TODAY
    assert call("get_market_phase", trade_date="2020-01-02") is None
    assert [row["trade_date"] for row in call("get_market_phase_history", days=2)][-1] == TODAY
    assert len(call("get_limit_count_history", days=3)) == 3


@pytest.mark.parametrize(
    ("path", "days"),
    [
        ("limit-count-history", 251), ("limit-count-history", 0), ("emotion-cycle", 251),
        ("phase-history", 4), ("phase-history", "x"),
    ],
)  # fmt: skip
def test_a_window_out_of_range_is_named(topics: Topics, path: str, days: Any) -> None:
    answer = topics.get(f"/market/{path}", days=days)
    assert answer.status_code == 422
    assert "days" in answer.json()["detail"]
