"""Factor scores, gates and presets: the worked example, what is missing, what is dropped, what wins."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.factors.breakdown import NOT_POSITIVE, NOT_THERE, breakdown
from platform_assets.compute.factors.definitions import COLUMNS, FACTORS, INPUT_COLUMNS, KEYS
from platform_assets.compute.factors.gates import Gate, check_gates, gate_of
from platform_assets.compute.factors.ic import correlation, factor_ic, lags_of, robust_t, spread
from platform_assets.compute.factors.presets import (
    PRESETS,
    Filter,
    Preset,
    apply_preset,
    in_industries,
    merged,
    ordered,
    preset_of,
)
from platform_assets.compute.factors.scores import factor_scores, score
from platform_assets.compute.nan_arithmetic import average_ranks
from platform_assets.compute.parameters.factors import WEIGHTS
from tests.compute.fulfilled import plant

NAN = float("nan")
GUIDE = {
    "chg_20d": [10.0, 5.0, -3.0, NAN],
    "chg_60d": [20.0, NAN, 5.0, 1.0],
    "chg_1y": [50.0, 10.0, NAN, NAN],
    "pe_ttm": [10.0, -5.0, 20.0, 40.0],
    "pb": [1.0, 2.0, 3.0, 4.0],
}
"""Stocks A to D: a loss (B), and gaps."""


def arrays(columns: dict[str, list[float]]) -> dict[str, Any]:
    return {name: np.array(values) for name, values in columns.items()}


def market(size: int, seed: int = 1) -> pd.DataFrame:
    """Wide rows of one date with gaps and ties."""
    chance = np.random.default_rng(seed)
    rows = pd.DataFrame({"code": [f"{at:06d}" for at in range(size)], "name": "名", "current_price": 10.0})
    for column in INPUT_COLUMNS:
        values = np.round(chance.normal(10, 30, size), 1)
        rows[column] = np.where(chance.random(size) < 0.1, NAN, values)
    for column in ("limit_up_count_20d", "limit_days_today", "break_fail_days_5d"):
        rows[column] = (chance.random(size) < 0.05).astype(float)
    rows["is_suspended"], rows["is_st"], rows["debt_ratio"] = False, False, 50.0
    return rows


# -- scores -----------------------------------------------------------------------------------------


def test_the_worked_example_of_the_guide() -> None:
    scores = score(arrays(GUIDE))

    assert scores.factors["momentum"] == pytest.approx([100, 58.3333, 50, 33.3333], abs=1e-4)
    assert scores.factors["value"] == pytest.approx([70.8333, 50, 29.1667, 0], abs=1e-4)
    assert scores.composite == pytest.approx([87.6603, 54.8077, 41.1859, 19.2308], abs=1e-4)
    assert scores.covered == pytest.approx([0.26] * 4)
    assert np.isnan(scores.factors["quality"]).all()


def test_ranks_are_those_of_pandas() -> None:
    values = np.array([3.0, 1.0, np.nan, 3.0, np.inf, 2.0, 1.0, 1.0])

    ranks, count = average_ranks(values)

    reported = pd.Series(np.where(np.isfinite(values), values, np.nan))
    assert np.array_equal(ranks, reported.rank().to_numpy(), equal_nan=True)
    assert count == 6
    assert np.array_equal(ranks / count, reported.rank(pct=True).to_numpy(), equal_nan=True)
    assert average_ranks(np.array([np.nan]))[1] == 0


def test_weights_and_directions_are_those_of_the_specification() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    assert {factor.key: factor.mark for factor in FACTORS if factor.mark != "real"} == {
        "value": "partial", "trend": "proxy", "stability": "proxy",
    }  # fmt: skip
    assert {factor.key: factor.direction for factor in FACTORS if factor.direction != "high"} == {
        "value": "low", "stability": "low", "size": "low", "limitGene": "mixed",
    }  # fmt: skip
    assert len(INPUT_COLUMNS) == len(set(INPUT_COLUMNS))


def test_a_missing_dimension_is_dropped_and_own_weights_count() -> None:
    full = score(arrays(GUIDE))
    alone = score(arrays(GUIDE), {"value": 3.0})

    assert alone.composite == pytest.approx(full.factors["value"])
    assert alone.covered.tolist() == [1.0] * 4
    lone = score({"pb": np.array([1.0, NAN])})
    assert np.isnan(lone.composite[1])
    assert lone.covered[1] == 0


def test_scores_of_a_market_have_the_columns_of_the_table_and_ignore_order() -> None:
    wide = market(60).astype({"is_suspended": object, "is_st": object})
    wide.loc[3, "is_suspended"] = True
    wide.loc[4, "current_price"] = NAN
    wide.loc[5, "is_st"] = True
    wide.loc[6, ["is_suspended", "is_st"]] = None

    rows = factor_scores(wide)

    assert list(rows.columns) == [
        "code", *COLUMNS, "composite", "covered_weight", "gate_blocked", "gate_code", "gate_reason",
    ]  # fmt: skip
    assert not {"000003", "000004"} & set(rows["code"])  # no bar, so not ranked against
    assert {"000005", "000006"} <= set(rows["code"])
    assert rows[rows["code"] == "000005"]["gate_code"].tolist() == ["st"]
    shuffled = factor_scores(wide.sample(frac=1, random_state=5))
    pd.testing.assert_frame_equal(rows, shuffled)


def test_units_do_not_matter_and_an_empty_market_has_no_scores() -> None:
    wide = market(50)
    other = wide.assign(amount=wide["amount"] * 100, main_net=wide["main_net"] / 1e4)

    pd.testing.assert_frame_equal(factor_scores(wide), factor_scores(other))
    assert factor_scores(wide.iloc[:0]).empty


def test_a_breakdown_says_why_a_cell_does_not_count() -> None:
    reported = breakdown(score(arrays(GUIDE)), 1)

    cells = {cell["field"]: cell for factor in reported["factors"] for cell in factor["inputs"]}
    assert (cells["pe_ttm"]["value"], cells["pe_ttm"]["rank"], cells["pe_ttm"]["note"]) == (
        -5.0, None, NOT_POSITIVE,
    )  # fmt: skip
    assert cells["chg_60d"]["note"] == NOT_THERE
    assert (cells["pb"]["rank"], cells["pb"]["count"], cells["pb"]["percentile"]) == (2.0, 4, 0.5)
    weights = [factor["effective_weight"] for factor in reported["factors"]]
    assert sum(weights) == pytest.approx(1)


# -- gates ------------------------------------------------------------------------------------------

SOUND = {"st": False, "roe": 10.0, "debt_ratio": 40.0, "revenue_yoy": 5.0, "profit_yoy": 5.0}


@pytest.mark.parametrize(
    ("figures", "code", "warnings"),
    [
        ({}, None, 0),
        ({"st": True}, "st", 0),
        ({"roe": -0.01}, "roe_negative", 0),
        ({"roe": 0.0}, None, 0),
        ({"debt_ratio": 90.01}, "debt_high", 0),
        ({"debt_ratio": 90.0}, None, 1),
        ({"debt_ratio": 70.0}, None, 1),
        ({"debt_ratio": 69.99}, None, 0),
        ({"revenue_yoy": -1.0, "profit_yoy": -1.0}, None, 1),
        ({"revenue_yoy": -1.0}, None, 0),
        ({"roe": None}, None, 1),
        ({"debt_ratio": NAN}, None, 1),
        ({"roe": None, "debt_ratio": None, "revenue_yoy": None, "profit_yoy": NAN}, None, 3),
        ({"st": True, "roe": -5.0, "debt_ratio": 95.0}, "st", 0),
        ({"roe": -5.0, "debt_ratio": 95.0}, "roe_negative", 0),
    ],
)
def test_gates(figures: dict[str, Any], code: str | None, warnings: int) -> None:
    gate = check_gates(**{**SOUND, **figures})

    assert (gate.code, gate.blocked, gate.passed, len(gate.warnings)) == (
        code, code is not None, code is None, warnings,
    )  # fmt: skip
    assert (gate.reason is None) is gate.passed


def test_missing_financials_block_on_demand_alone() -> None:
    nothing = {"st": False, "roe": None, "debt_ratio": None, "revenue_yoy": None, "profit_yoy": None}

    assert check_gates(**nothing).passed
    assert check_gates(**nothing, block_on_missing_financials=True).code == "financials_missing"


def test_special_treatment_is_that_of_the_date() -> None:
    def st(**row: Any) -> Gate:
        return gate_of({"roe": 1.0, "debt_ratio": 1.0, **row})

    assert st(name="*ST海航", is_st=False).passed  # the history of names knows better than today's name
    assert st(name="海航控股", is_st=True).blocked
    assert st(name="*ST海航", is_st=None).blocked
    assert st(name="XDST东方", is_st=pd.NA).blocked
    assert st(name="EAST", is_st=None).passed


# -- presets ----------------------------------------------------------------------------------------


def test_the_fourteen_presets_have_all_their_fields() -> None:
    assert [preset.key for preset in PRESETS] == (
        "momentumCore valueDeep breakoutVol growthMomentum volumeIgnition capitalFlow oversoldQuality "
        "blueChipLiquidity smallCapElastic qualityCompounder aiComputeRotation multiFactorResonance "
        "lowVolQuality limitUpGene"
    ).split()
    for preset in PRESETS:
        shown = preset.plain()
        assert all(shown[name] for name in ("label", "desc", "rationale", "watchOut", "filters", "limit"))
        assert {one["factor"] for one in shown["filters"]} <= set(KEYS)
        assert shown["sort"] in {*KEYS, "composite"}
    assert preset_of("aiComputeRotation").plain()["universeHint"]["industries"]
    assert preset_of("multiFactorResonance").plain()["minComposite"] == 70


def test_a_users_filter_replaces_the_presets_on_the_same_factor() -> None:
    preset = preset_of("valueDeep")

    assert merged(preset.filters, ()) == (Filter("value", 80), Filter("quality", 40))
    own = Filter("value", max=50)
    assert merged(preset.filters, [own, Filter("size", 10)]) == (
        Filter("quality", 40), own, Filter("size", 10),
    )  # fmt: skip


def test_a_preset_ranks_what_passes_and_leaves_out_what_is_blocked() -> None:
    scored = factor_scores(market(400)).assign(amount=1.0)
    scored.loc[scored["momentum"].idxmax(), "gate_blocked"] = True
    preset = preset_of("momentumCore")

    found = apply_preset(scored, preset)
    requested = scored[(scored["momentum"] >= 80) & (scored["trend"] >= 60)]
    allowed = requested[~requested["gate_blocked"]].sort_values("momentum", ascending=False)

    assert found["rank_no"].tolist() == list(range(1, len(found) + 1))
    assert found["code"].tolist() == allowed["code"].tolist()
    assert len(apply_preset(scored, preset, gated=False)) == len(requested)
    assert len(apply_preset(scored, preset, limit=2)) == 2
    wider = apply_preset(scored, preset, filters=[Filter("momentum", 50)])
    assert len(wider) > len(found)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda one: one.key)
def test_every_preset_can_be_fulfilled(preset: Preset) -> None:
    """One stock may have all its factors within their bounds at once, and is selected then."""
    wide = market(3000).assign(industry="银行")
    wide.loc[:40, ["limit_up_count_20d", "limit_days_today"]] = 5.0
    wide["roe"] = wide["roe"].abs()  # no gate
    code = plant(wide, 2000, preset)

    found = apply_preset(factor_scores(wide).merge(wide[["code", "industry"]], on="code"), preset, limit=3000)

    assert code in found["code"].tolist()


def test_a_preset_of_industries_selects_those_alone() -> None:
    scored = factor_scores(market(300))
    scored["sw_l2_name"] = ["半导体" if at % 2 else "银行" for at in range(len(scored))]

    found = apply_preset(scored, preset_of("aiComputeRotation"))

    assert set(found["sw_l2_name"]) == {"半导体"}
    assert apply_preset(scored.drop(columns="sw_l2_name"), preset_of("aiComputeRotation")).empty
    assert in_industries([("IT服务Ⅱ", None), (None, float("nan"))], ["IT服务"]).tolist() == [True, False]


def test_ties_are_broken_by_composite_amount_and_code() -> None:
    key = np.array([1.0, 1.0, 1.0, 1.0, NAN, 2.0])
    composite = np.array([5.0, 6.0, 5.0, 5.0, 9.0, 1.0])
    amount = np.array([1.0, 1.0, 1.0, NAN, 1.0, 1.0])
    codes = ["3", "4", "2", "1", "0", "9"]

    places = np.arange(6)
    best = ordered(places, key, composite, amount, codes, ascending=False)
    worst = ordered(places, key, composite, amount, codes, ascending=True)

    assert [codes[place] for place in best] == ["9", "4", "2", "3", "1", "0"]
    assert [codes[place] for place in worst] == ["4", "2", "3", "1", "9", "0"]


# -- predictive power of factors --------------------------------------------------------------------------


def test_a_perfect_and_a_turned_factor() -> None:
    scores = np.tile(np.arange(25.0), (4, 1))

    good, bad = factor_ic(scores, scores * 2, 5), factor_ic(-scores, scores, 5)

    assert (good.ic_mean, good.positive_rate, good.coverage, good.days) == (pytest.approx(1), 1, 1, 4)
    assert (bad.ic_mean, bad.positive_rate) == (pytest.approx(-1), 0)
    assert good.quintile_spread_pct == pytest.approx(2 * (22 - 2))


def test_rank_correlation_is_that_of_pandas_and_needs_twenty_codes() -> None:
    chance = np.random.default_rng(3)
    scores, returns = np.round(chance.random((30, 40)) * 9), chance.normal(size=(30, 40))
    scores[chance.random(scores.shape) < 0.1] = NAN
    scores[5, 19:] = NAN  # a date with too few

    reported = factor_ic(scores, returns, 1)
    pairs = [pd.DataFrame({"a": scores[day], "b": returns[day]}).dropna() for day in range(30)]
    ics = [pair["a"].rank().corr(pair["b"].rank()) for pair in pairs if len(pair) >= 20]

    assert reported.days == len(ics) < 30
    assert reported.ic_mean == pytest.approx(np.mean(ics))
    assert reported.ic_std == pytest.approx(np.std(ics, ddof=1))
    assert reported.ir == pytest.approx(np.mean(ics) / np.std(ics, ddof=1))
    assert reported.t_stat_simple == pytest.approx(reported.ir * len(ics) ** 0.5)
    assert reported.positive_rate == np.mean(np.array(ics) > 0)


def test_overlapping_windows_do_not_make_the_t_statistic_larger() -> None:
    """By hand: variance of the mean from the autocovariances, weighed 1 - lag / (lags + 1)."""
    values = np.convolve(np.random.default_rng(4).normal(0.05, 0.2, 129), np.ones(10) / 10, "valid")
    away, count = values - values.mean(), len(values)
    lags = 9
    total = away @ away + 2 * sum(
        (1 - lag / (lags + 1)) * (away[lag:] @ away[:-lag]) for lag in range(1, lags + 1)
    )
    simple = values.mean() / values.std(ddof=1) * count**0.5

    reported = robust_t(values, lags)

    assert reported == pytest.approx(values.mean() * count / total**0.5)
    assert 0 < reported < simple / 2
    assert [lags_of(*given) for given in ((120, 10), (120, 1), (5, 20), (1, 5), (0, 5))] == [9, 4, 4, 0, 0]
    assert robust_t(np.ones(9), 2) is robust_t(np.ones(1), 0) is None


def test_what_cannot_be_said_is_null() -> None:
    few = factor_ic(np.ones((3, 19)), np.ones((3, 19)), 5)

    assert (few.days, few.ic_mean, few.ir, few.positive_rate) == (0, None, None, None)
    assert correlation(np.ones(30), np.arange(30.0)) is None
    assert spread(np.zeros(30), np.arange(30.0)) is None
