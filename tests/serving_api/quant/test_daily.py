"""/quant/indicators, /patterns, /cyq, /signal-pool and /recalc."""

from itertools import pairwise
from typing import Any

import pytest

from platform_assets.compute.parameters.patterns import DIRECTIONS
from tests.pipeline.conftest import TODAY
from tests.serving_api.conftest import Bench
from tests.serving_api.quant.conftest import Topics


def test_indicators_are_the_stored_rows_oldest_first(quant: Topics) -> None:
    reported = quant.reported("/quant/indicators/600040")

    days = [row["date"] for row in reported["items"]]
    assert (reported["code"], days) == ("600040", sorted(days))
    stored = {str(row["date"]): row for row in quant.rows("calc_indicator_daily") if row["code"] == "600040"}
    assert reported["items"][-1]["ma20"] == stored[TODAY]["ma20"]
    assert quant.reported("/quant/indicators/600040", date=days[0])["items"][-1]["date"] == days[0]
    few = quant.reported("/quant/indicators/600040", fields="ma5, rsi6", days=1)["items"]
    assert [set(row) for row in few] == [{"code", "date", "ma5", "rsi6"}]
    assert quant.reported("/quant/indicators/999999")["items"] == []


def test_the_obv_of_a_series_moves_by_the_volume_of_each_bar(quant: Topics) -> None:
    """As stored every row counts from a first bar of its own, so that the rows may not be compared."""
    items = quant.reported("/quant/indicators/600040")["items"]
    days = [item["date"] for item in items]
    bars = [
        row
        for row in sorted(quant.rows("fusion_kline_daily"), key=lambda row: str(row["date"]))
        if row["code"] == "600040" and days[0] <= str(row["date"]) <= days[-1] and not row["is_suspended"]
    ]
    expected = [items[0]["obv"]]
    for before, bar in pairwise(bars):
        change = bar["close"] * bar["adj_factor"] - before["close"] * before["adj_factor"]
        expected.append(expected[-1] + (change > 0) * bar["volume"] - (change < 0) * bar["volume"])

    assert len(items) > 1
    reported = dict(zip([str(bar["date"]) for bar in bars], expected, strict=True))
    assert [item["obv"] for item in items] == pytest.approx([reported[day] for day in days])
    one = quant.reported("/quant/indicators/600040", fields="obv")["items"]
    assert [item["obv"] for item in one] == [item["obv"] for item in items]


def test_patterns_name_the_directions_that_fired(quant: Topics) -> None:
    fired = [
        (row, name)
        for row in quant.rows("calc_pattern_daily")
        for name, value in row.items()
        if value in (100, -100) and name not in ("duck_neck_days", "rev")
    ]
    assert fired
    row, name = fired[0]

    items = quant.reported(f"/quant/patterns/{row['code']}")["items"]

    shown = next(item for item in items if item["date"] == str(row["date"]))
    assert {"pattern": name, "direction": row[name]} in shown["hits"]


def test_chips_show_their_newest_row_in_front(quant: Topics) -> None:
    reported = quant.reported("/quant/cyq/600040", days=2)

    assert reported["date"] == reported["items"][-1]["date"] == TODAY
    assert reported["cost_90"] == [
        reported["items"][-1]["cost_90_low"],
        reported["items"][-1]["cost_90_high"],
    ]
    assert sum(one["ratio"] for one in reported["distribution"]) == pytest.approx(100, abs=1.5)
    nothing = quant.reported("/quant/cyq/999999")
    assert (nothing["date"], nothing["items"], nothing["distribution"]) == (None, [], [])


def test_the_pool_counts_by_signal_and_filters(quant: Topics) -> None:
    reported = quant.reported("/quant/signal-pool", limit=500)

    assert reported["date"] == TODAY
    assert sum(reported["by_signal"].values()) == reported["total"] == len(reported["items"])
    signal = reported["items"][0]["signal_key"]
    some = quant.reported("/quant/signal-pool", signal=signal, limit=1)
    assert (some["total"], len(some["items"])) == (reported["by_signal"][signal], 1)
    assert some["by_signal"] == reported["by_signal"]
    down = quant.reported("/quant/signal-pool", direction=-1)["items"]
    assert {row["direction"] for row in down} <= {-1}
    assert all(row["name"] and row["price"] > 0 for row in reported["items"])
    patterns = [row for row in reported["items"] if row["signal_key"] in DIRECTIONS]
    assert all(row["label"] and (row["measure"] is None) == (row in patterns) for row in reported["items"])
    assert quant.reported("/quant/signal-pool", signal="new_high_60")["total"] == reported["by_signal"].get(
        "new_high_60", 0
    )


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        ("/quant/indicators/600040", {"fields": "ma5,nonsense"}, "fields"),
        ("/quant/indicators/600040", {"days": 0}, "days"),
        ("/quant/patterns/600040", {"days": 751}, "days"),
        ("/quant/cyq/600040", {"date": "2099-01-01"}, "date"),
        ("/quant/signal-pool", {"direction": 2}, "direction"),
        ("/quant/signal-pool", {"signal": "golden_cros"}, "signal"),
        ("/quant/signal-pool", {"signal": "duck_stage"}, "signal"),
        ("/quant/signal-pool", {"limit": 501}, "limit"),
    ],
)
def test_bad_questions_name_their_parameter(
    quant: Topics, path: str, params: dict[str, Any], named: str
) -> None:
    answer = quant.get(path, **params)

    assert answer.status_code == 422
    assert named in answer.text


def test_a_recalculation_is_accepted_once_at_a_time(own: Bench) -> None:
    admin = own.admin()
    for wish, named in (
        ({"date": "2016-07-29"}, "2016-08-01"),
        ({"date": "2099-01-04"}, "future"),
        ({"date": "2026-08-16"}, "no trade date"),
    ):
        refused = own.api.post("/quant/recalc", json=wish, headers=admin)
        assert (refused.status_code, refused.json()["detail"][:6]) == (422, "date: ")
        assert named in refused.text

    first = own.api.post("/quant/recalc", json={"date": "2016-08-01", "parts": ["patterns"]}, headers=admin)
    second = own.api.post("/quant/recalc", json={}, headers=admin)

    assert (first.status_code, second.status_code) == (202, 409)
    assert str(first.json()["command_id"]) in second.text
