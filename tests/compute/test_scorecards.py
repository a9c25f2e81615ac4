"""Forward returns by hand, statistics of groups, boards and the review of cards."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.market.bars import Bars
from platform_assets.compute.scorecards.boards import (
    pattern_score,
    signal_conditions,
    signal_score,
    tactic_score,
    top,
)
from platform_assets.compute.scorecards.cards import cutoff, verdict
from platform_assets.compute.scorecards.forward import Outcomes, forward_returns, outcomes_of, rebuilt
from platform_assets.compute.scorecards.prices import Benchmark, Prices
from platform_assets.compute.scorecards.statistics import (
    Picks,
    cumulated,
    fillable_stats,
    group_stats,
    grouped,
)

DATES = tuple(f"2026-06-{day:02d}" for day in range(1, 31))
NAN = float("nan")
Bar = tuple[float, float, float, float, float, float]
"""open, high, low, close, adj_factor, limit_up"""


def bar(open_: float, close: float, *, high: float = 0, low: float = 0, factor: float = 1.0,
        limit: float = NAN) -> Bar:  # fmt: skip
    return open_, high or max(open_, close), low or min(open_, close), close, factor, limit


def prices(bars: dict[str, dict[int, Bar]], until: int = 30) -> Prices:
    """Bars by code and day of June, all of which are loaded; `other` trades every day."""
    flat = {day: bar(1, 1) for day in range(1, 31)}
    rows = [
        (code, DATES[day - 1], *one)
        for code, own in {"other": flat, **bars}.items()
        for day, one in own.items()
        if day <= until
    ]
    columns = ["code", "date", "open", "high", "low", "close", "adj_factor", "limit_up"]
    return Prices.from_frame(pd.DataFrame(rows, columns=columns), DATES[:until], np.ones(until, dtype=bool))


def index(until: int = 30) -> Benchmark:
    """Opens at 1000 + day, closes at 1005 + day."""
    days = np.arange(1, until + 1, dtype=float)
    return Benchmark(1000 + days, 1005 + days)


def outcome(bars: dict[int, Bar], *, day: int = 1, until: int = 30, code: str = "one") -> dict[str, Any]:
    held = prices({"one": bars}, until)
    found = forward_returns(
        held, index(until), np.array([held.code_at.get(code, -1)]), np.array([held.day_at[DATES[day - 1]]])
    )
    return first(found)


def first(found: Outcomes) -> dict[str, Any]:
    return {name: values[0].item() for name, values in vars(found).items()}


FULL = {
    1: bar(9, 9.5),
    2: bar(10, 10.5, high=11, low=9.8),
    3: bar(10.5, 10.8, high=12, low=10.2),
    4: bar(10.8, 9.9, high=10.9, low=9.0),
    5: bar(9.9, 10.0),
    6: bar(10.0, 10.4, high=10.6, low=9.9),
    7: bar(99, 99),
}


def test_a_pick_is_bought_at_the_next_open_and_sold_at_the_fifth_close() -> None:
    found = outcome(FULL)
    assert found["status"] == "reviewed"
    assert (DATES[found["buy_at"]], found["buy_price"]) == ("2026-06-02", 10)
    assert (DATES[found["sell_at"]], found["sell_price"], found["hold_days"]) == ("2026-06-06", 10.4, 5)
    assert found["profit_pct"] == pytest.approx(4.0)
    assert found["index_profit_pct"] == pytest.approx((1011 / 1002 - 1) * 100)
    assert found["excess_pct"] == pytest.approx(4.0 - (1011 / 1002 - 1) * 100)
    assert found["max_gain_pct"] == pytest.approx(20.0)
    assert found["max_drawdown_pct"] == pytest.approx((9 / 12 - 1) * 100)
    assert found["unfillable"] is False


def test_nothing_is_settled_before_the_window_has_closed() -> None:
    found = outcome(FULL, until=5)
    assert found["status"] == "pending"
    assert found["buy_at"] == -1
    assert np.isnan(found["profit_pct"])
    assert outcome(FULL, until=6)["status"] == "reviewed"
    assert outcome(FULL, until=1)["status"] == "pending"


@pytest.mark.parametrize("missing", [0.0, NAN])
def test_without_an_open_the_close_of_the_day_is_paid_and_its_range_not_seen(missing: float) -> None:
    bars = FULL | {2: (missing, 15.0, 5.0, 10.0, 1.0, NAN)}
    found = outcome(bars)
    assert found["buy_price"] == 10.0
    assert found["profit_pct"] == pytest.approx(4.0)
    assert found["index_profit_pct"] == pytest.approx((1011 / 1007 - 1) * 100)
    assert found["max_gain_pct"] == pytest.approx(20.0)


def test_an_ex_right_day_is_no_loss() -> None:
    bars = {day: bar(10, 10) for day in (1, 2, 3)} | {day: bar(5, 5, factor=2.0) for day in (4, 5, 6)}
    found = outcome(bars)
    assert found["profit_pct"] == pytest.approx(0.0)
    assert (found["buy_price"], found["sell_price"]) == (10, 5)
    assert found["max_drawdown_pct"] == pytest.approx(0.0)


def test_a_stock_that_rests_is_partial_from_its_first_to_its_last_bar() -> None:
    found = outcome({1: FULL[1], 3: bar(10, 11), 4: bar(11, 12), 9: bar(50, 50)})
    assert found["status"] == "partial"
    assert (found["buy_at"], found["sell_at"], found["hold_days"]) == (2, 3, 2)
    assert found["profit_pct"] == pytest.approx(20.0)


def test_a_delisted_stock_keeps_its_last_price() -> None:
    found = outcome({1: FULL[1], 2: bar(10, 6)}, until=30)
    assert (found["status"], found["profit_pct"]) == ("partial", pytest.approx(-40.0))


def test_without_a_bar_a_pick_waits_twenty_dates_and_ends_without_a_return() -> None:
    for code in ("one", "gone"):
        assert outcome({1: FULL[1]}, until=20, code=code)["status"] == "pending"
        found = outcome({1: FULL[1]}, until=21, code=code)
        assert found["status"] == "partial"
        assert np.isnan([found["profit_pct"], found["excess_pct"], found["buy_price"]]).all()
        assert (found["buy_at"], found["hold_days"], found["unfillable"]) == (-1, -1, False)


def test_a_purchase_at_the_limit_is_marked() -> None:
    assert outcome(FULL | {2: bar(10.5, 10.5, limit=10.5)})["unfillable"] is True
    assert outcome(FULL | {2: bar(10.4, 10.5, limit=10.5)})["unfillable"] is False


def test_a_date_that_was_not_loaded_is_no_suspension() -> None:
    held = prices({"one": FULL}, 10)
    gone = {name: np.where(np.arange(10) == 3, np.nan, getattr(held, name))
            for name in ("open", "high", "low", "close")}  # fmt: skip
    lacking = replace(held, **gone, loaded=np.arange(10) != 3)
    at = np.array([held.code_at["one"]]), np.array([0])
    assert first(forward_returns(lacking, index(10), *at))["status"] == "pending"
    late = index(10)
    late.close[5] = np.nan
    assert first(forward_returns(held, late, *at))["status"] == "pending"


def test_a_suspended_stock_is_settled_also_without_other_codes() -> None:
    rested = {day: one for day, one in FULL.items() if day != 4}
    rows = [("one", DATES[day - 1], *one) for day, one in rested.items()]
    columns = ["code", "date", "open", "high", "low", "close", "adj_factor", "limit_up"]
    alone = Prices.from_frame(pd.DataFrame(rows, columns=columns), DATES[:10], np.ones(10, dtype=bool))
    found = first(outcomes_of(alone, index(10), [(DATES[0], "one")]))
    assert (found["status"], found["hold_days"]) == ("partial", 5)
    assert found["profit_pct"] == outcome(rested, until=10)["profit_pct"] == pytest.approx(4.0)


@pytest.mark.parametrize("until", [6, 10])
def test_the_bar_of_one_code_makes_no_date_of_the_market(until: int) -> None:
    """Day 6, the last of the window, has a bar of one code of twenty alone."""
    codes = [f"c{at:02d}" for at in range(20)]
    rows = [
        (code, DATES[day - 1], *bar(10, 10))
        for code in codes
        for day in range(1, until + 1)
        if day != 6 or code == "c00"
    ]
    columns = ["code", "date", "open", "high", "low", "close", "adj_factor", "limit_up"]
    wide = pd.DataFrame(rows, columns=columns).pivot(index="code", columns="date")
    dense = SimpleNamespace(
        codes=tuple(codes), dates=DATES[:until], values={name: wide[name].to_numpy() for name in columns[2:]}
    )
    held = Prices.from_dense(dense, DATES[:until])
    found = outcomes_of(held, index(until), [(DATES[0], code) for code in codes])
    assert set(found.status) == {"pending"}


def test_a_missing_factor_is_that_of_the_bar_before() -> None:
    bars = {day: bar(10, 10, factor=40.0) for day in range(1, 7)} | {5: bar(10, 10, factor=NAN)}
    assert outcome(bars)["profit_pct"] == pytest.approx(0.0)
    assert outcome(bars | {6: bar(10, 10, factor=NAN)})["profit_pct"] == pytest.approx(0.0)


def test_what_comes_later_changes_no_settled_pick() -> None:
    rng = np.random.default_rng(7)
    walk = 10 * np.exp(np.cumsum(rng.normal(0, 0.03, 30)))
    bars = {day: bar(float(walk[day - 1]), float(walk[day - 1] * 1.01)) for day in range(1, 31) if day % 4}
    whole = [outcome(bars, day=day) for day in range(1, 20)]
    for until in range(8, 30, 3):
        cut = [outcome(bars, day=day, until=until) for day in range(1, min(until, 20))]
        for now, then in zip(whole, cut, strict=False):
            if then["status"] != "pending":
                assert now == pytest.approx(then, nan_ok=True)


def test_real_returns_equal_those_chained_from_the_exchanges_reference_prices(real_bars: Bars) -> None:
    """20 codes, 420 sessions: day by day close / reference price, without our factors."""
    days = sorted(set(real_bars.date.tolist()))
    dates = [f"{day}"[:4] + "-" + f"{day}"[4:6] + "-" + f"{day}"[6:] for day in days]
    shape = len(real_bars.codes), len(days)
    where = real_bars.owner, np.searchsorted(days, real_bars.date)

    def block(values: np.ndarray) -> np.ndarray:
        made = np.full(shape, NAN)
        made[where] = values
        return made

    opens, closes, references = (block(getattr(real_bars, name)) for name in ("open", "close", "last_close"))
    held = Prices(
        real_bars.codes, tuple(dates), np.ones(len(days), dtype=bool), opens, block(real_bars.high),
        block(real_bars.low), closes, block(real_bars.factor), np.full(shape, NAN),
    )  # fmt: skip
    flat = Benchmark(np.ones(len(days)), np.ones(len(days)))
    codes, picked = (one.ravel() for one in np.indices((shape[0], len(days) - 6)))
    found = forward_returns(held, flat, codes, picked)

    expected = np.full(len(codes), NAN)
    counts = np.zeros(len(codes), dtype=int)
    for at, (code, day) in enumerate(zip(codes.tolist(), picked.tolist(), strict=True)):
        bars = [one for one in range(day + 1, day + 6) if np.isfinite(closes[code, one])]
        counts[at] = len(bars)
        if bars:
            growth = closes[code, bars[0]] / opens[code, bars[0]]
            for one in bars[1:]:
                growth *= closes[code, one] / references[code, one]
            expected[at] = (growth - 1) * 100
    np.testing.assert_allclose(found.profit_pct, expected, atol=0.02)
    assert (found.status[counts == 5] == "reviewed").all()
    assert (found.status[(counts > 0) & (counts < 5)] == "partial").all()
    assert ((counts > 0) & (counts < 5)).sum() >= 10


def picks(*rows: tuple[str, float, float, float, bool]) -> Picks:
    status, profit, excess, days, unfillable = zip(*rows, strict=True)
    return Picks(
        np.array(status), np.array(profit), np.array(excess), np.array(days), np.array(unfillable, dtype=bool)
    )


GROUP = picks(
    ("reviewed", 6.0, 5.0, 5, False),
    ("reviewed", 10.0, 9.0, 5, True),
    ("reviewed", -4.0, -5.0, 5, False),
    ("partial", 0.0, 1.0, 2, False),
    ("partial", NAN, NAN, NAN, False),
    ("pending", NAN, NAN, NAN, False),
)


def test_statistics_of_a_group_by_hand() -> None:
    found = group_stats(GROUP)
    assert (found.picks, found.reviewed, found.unfillable) == (6, 5, 1)
    assert found.win_rate_pct == pytest.approx(40.0)  # the one without a return is no winner
    assert found.avg_profit_pct == pytest.approx(3.0)
    assert found.median_profit_pct == pytest.approx(3.0)
    assert found.avg_excess_pct == pytest.approx(2.5)
    assert found.profit_loss_ratio == pytest.approx(2.0)
    assert (found.max_gain_pct, found.max_loss_pct) == (10.0, -4.0)
    assert found.avg_hold_days == pytest.approx(4.25)


def test_statistics_without_what_could_not_be_bought() -> None:
    found = fillable_stats(GROUP)
    assert (found.picks, found.reviewed) == (5, 4)
    assert found.avg_profit_pct == pytest.approx(2 / 3)


def test_a_group_without_a_settled_pick_has_no_figures() -> None:
    found = group_stats(GROUP.where(GROUP.status == "pending"))
    assert (found.picks, found.reviewed) == (1, 0)
    assert {found.win_rate_pct, found.avg_profit_pct, found.profit_loss_ratio, found.avg_hold_days} == {None}


def test_groups_by_key_and_cumulated_changes() -> None:
    keys = np.array(["b", "a", "b", None, "a", "b"], dtype=object)
    assert {key: len(own) for key, own in grouped(GROUP, keys).items()} == {"a": 2, "b": 3}
    assert cumulated(np.array([10.0, NAN, -10.0])).tolist() == pytest.approx([10.0, 10.0, -1.0])


def test_ties_go_by_composite_amount_and_code_in_whatever_order_the_rows_come() -> None:
    rows = pd.DataFrame(
        [
            ("000005", 9.0, 1.0, 1.0),
            ("000004", 8.0, 5.0, 1.0),
            ("000003", 8.0, 5.0, 2.0),
            ("000002", 8.0, 5.0, 1.0),
            ("000001", 8.0, NAN, 9.0),
            ("000000", NAN, 9.0, 9.0),
        ],
        columns=["code", "score", "composite", "amount"],
    )
    expected = ["000005", "000003", "000002", "000004", "000001"]
    for seed in range(5):
        board = top(rows.sample(frac=1, random_state=seed), "score")
        assert board["code"].tolist() == expected
        assert board["rank_no"].tolist() == [1, 2, 3, 4, 5]
    assert top(rows, "score", 2)["code"].tolist() == expected[:2]


def test_the_tactic_score_renormalises_what_is_missing() -> None:
    parts = {
        "rtsi": np.array([80.0, 80.0, 80.0]),
        "vpa": np.array([60.0, NAN, NAN]),
        "pattern": np.array([50.0, 50.0, NAN]),
        "signal": np.array([100.0, 100.0, 100.0]),
    }
    score, weight = tactic_score(parts)
    whole = 0.35 * 80 + 0.25 * 60 + 0.25 * 50 + 0.15 * 100
    without = (0.35 * 80 + 0.25 * 50 + 0.15 * 100) / 0.75
    assert score.tolist() == pytest.approx([whole, without, (0.35 * 80 + 15) / 0.5])
    assert weight.tolist() == pytest.approx([1.0, 0.75, 0.5])
    score, _ = tactic_score({"pattern": np.array([50.0]), "signal": np.array([100.0])})
    assert np.isnan(score).all()


def test_pattern_and_signal_scores() -> None:
    assert pattern_score(np.array([-3.0, -1.0, 0.0, 1.0, 2.0, 5.0])).tolist() == [0, 25, 50, 75, 100, 100]
    reported = signal_conditions(
        close=np.array([11.0, 9.0]),
        volume=np.array([2.0, NAN]),
        macd_hist=np.array([0.2, 0.1]),
        macd_hist_before=np.array([0.1, 0.2]),
        kdj_k=np.array([60.0, NAN]),
        kdj_d=np.array([50.0, 50.0]),
        boll_mid=np.array([10.0, 10.0]),
        vol_ma5=np.array([1.0, 1.0]),
        ma20=np.array([10.1, 9.9]),
        ma20_before=np.array([10.0, 10.0]),
    )
    assert signal_score(reported).tolist() == [100.0, 0.0]
    assert np.isnan(signal_score({"kdj": np.array([NAN])})).all()


def board_rows(*rows: tuple[str, str, int, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["board_key", "code", "rank_no", "status"])


def test_a_board_that_is_made_again_keeps_its_settled_picks_at_their_ranks() -> None:
    stored = board_rows(("a", "000001", 2, "reviewed"), ("a", "000009", 1, "pending"))
    found = board_rows(
        ("a", "000003", 1, "pending"), ("a", "000001", 2, "pending"), ("a", "000004", 3, "pending"),
        ("b", "000007", 1, "pending"),
    )  # fmt: skip
    made = rebuilt(found, stored, "board_key").sort_values(["board_key", "rank_no"])
    assert made[["board_key", "code", "rank_no", "status"]].to_numpy().tolist() == [
        ["a", "000003", 1, "pending"],
        ["a", "000001", 2, "reviewed"],  # 000004 would come in hindsight: there was no third pick
        ["b", "000007", 1, "pending"],
    ]
    assert rebuilt(found, stored.iloc[1:], "board_key") is found


@pytest.mark.parametrize(
    ("direction", "end", "expected"),
    [
        ("bullish", 10.2, ("hit", "上涨")),
        ("bullish", 9.8, ("miss", "下跌")),
        ("bearish", 9.8, ("hit", "下跌")),
        ("bearish", 10.2, ("miss", "上涨")),
        ("bullish", 10.1, ("neutral", "震荡")),
        ("bearish", 9.9, ("neutral", "震荡")),
    ],
)
def test_a_card_is_right_when_the_price_went_its_way(
    direction: str, end: float, expected: tuple[str, str]
) -> None:
    found = verdict(direction, 10.0, end)
    assert (found.outcome, found.trend) == expected
    assert found.profit_pct == pytest.approx((end / 10 - 1) * 100)


def test_cards_are_judged_ten_trade_dates_later_counted_as_seventeen_days() -> None:
    assert cutoff("2026-08-21") == "2026-08-04"
