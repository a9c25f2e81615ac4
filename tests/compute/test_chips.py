"""Chip distribution: the published vectors, the definition walked from the oldest bar on, and any bars."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.market.bars import Bars
from platform_assets.compute.chips import COLUMNS, chip_columns, chip_distribution
from tests.compute import vectors
from tests.compute.prefix import mismatches
from tests.compute.test_indicators import random_bars

TABLE = vectors.expected(vectors.CHIPS)


def by_definition(bars: Bars) -> tuple[np.ndarray, np.ndarray]:
    """(chips, prices) of the newest bar of one code: every bucket decays at every bar."""
    scale = bars.factor / bars.factor[-1]
    o, h, low, c = (getattr(bars, name)[-210:] * scale[-210:] for name in ("open", "high", "low", "close"))
    first, acc = low.min(), max(0.01, (h.max() - low.min()) / 149)
    prices = first + acc * np.arange(150)
    chips = np.zeros(150)
    for i, turnover in enumerate(bars.turnover[-210:]):
        rate, avg = min(1.0, turnover / 100), (o[i] + h[i] + low[i] + c[i]) / 4
        chips *= 1 - rate
        if h[i] == low[i]:
            chips[min(149, int(np.floor((avg - first) / acc)))] += 149 * rate / 2
            continue
        for j in range(
            int(np.ceil((low[i] - first) / acc)), min(149, int(np.floor((h[i] - first) / acc))) + 1
        ):
            if prices[j] <= avg:
                ratio = 1.0 if abs(avg - low[i]) < 1e-8 else (prices[j] - low[i]) / (avg - low[i])
            else:
                ratio = 1.0 if abs(h[i] - avg) < 1e-8 else (h[i] - prices[j]) / (h[i] - avg)
            chips[j] += 2 / (h[i] - low[i]) * rate * ratio
    return chips, prices


def cost(chips: np.ndarray, prices: np.ndarray, share: float) -> float:
    return float(prices[np.argmax(np.cumsum(chips) > share * chips.sum())])


@pytest.mark.parametrize("name", ["factor", "high"])
def test_a_bar_that_is_not_known_counts_as_none(name: str) -> None:
    """Its chips once vanished while those of the bars before it had shrunk by its turnover."""
    bars = random_bars(7, [80, 80])
    values = getattr(bars, name).copy()
    values[[40, 150, 159]] = np.nan
    gaps, known = replace(bars, **{name: values}), np.isfinite(values)
    without, with_gaps = (chip_columns(some, newest=80) for some in (bars.where(known), gaps))
    newest = chip_columns(gaps, newest=1)
    for column in COLUMNS:
        assert np.array_equal(with_gaps[column][known], without[column], equal_nan=True), column
        assert np.isnan(with_gaps[column][~known]).all()
        assert np.array_equal(newest[column], with_gaps[column][[79, 159]], equal_nan=True)
    shown = chip_distribution(gaps, newest=1)
    assert (shown[0], shown[1]) == (chip_distribution(bars.where(known), newest=1)[0], [])


@pytest.mark.parametrize("at", [29, 59])
def test_published_vectors(at: int) -> None:
    bars = vectors.bars()
    values = {name: column[-1] for name, column in chip_columns(bars.until(20000101 + at), newest=1).items()}
    requested = {key: row[at] for key, row in TABLE.items()}
    assert values["profit_ratio_pct"] == pytest.approx(100 * requested["profit_ratio"], abs=1e-4)
    assert round(values["avg_cost"], 2) == requested["avg_cost"]
    for name, key in {"cost_90": "c90", "cost_70": "c70"}.items():
        assert values[f"{name}_low"] == pytest.approx(requested[f"{key}_low"], abs=1e-6)
        assert values[f"{name}_high"] == pytest.approx(requested[f"{key}_high"], abs=1e-6)
    for width in (90, 70):
        assert values[f"concentration_{width}_pct"] == pytest.approx(100 * requested[f"con{width}"], abs=1e-4)
    for name in ("peak_price", "peak_ratio_pct", "support_price", "resistance_price"):
        assert values[name] == pytest.approx(requested[name], abs=1e-4)
    pairs = np.array(chip_distribution(bars.until(20000101 + at), newest=1)[-1])
    assert pairs[0, 0] >= requested["minprice"] - 1e-4
    assert np.diff(pairs[:, 0]).min() == pytest.approx(requested["accuracy"], abs=2e-4)
    assert pairs[:, 1].sum() == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("flat", [0.0, 0.4])
def test_walking_back_equals_the_definition(flat: float) -> None:
    bars = random_bars(3, [1, 2, 40, 260], flat=flat)
    values, pairs = chip_columns(bars, newest=3), chip_distribution(bars, newest=3)
    assert tuple(values) == COLUMNS
    row = 0
    for code in bars.codes:
        one = bars.take([code])
        for end in range(max(0, len(one) - 3), len(one)):
            upto = one.where(np.arange(len(one)) <= end)
            chips, prices = by_definition(upto)
            close = upto.close[-1]
            # A price that lies on a level within rounding may fall to either side of it.
            on_a_level = np.abs(prices - close).min() < 1e-9
            won = chips[prices <= close].sum() / chips.sum() * 100
            assert on_a_level or values["profit_ratio_pct"][row] == pytest.approx(won)
            assert values["cost_50"][row] == pytest.approx(cost(chips, prices, 0.5))
            assert values["cost_90_low"][row] == pytest.approx(cost(chips, prices, 0.05))
            assert values["cost_70_high"][row] == pytest.approx(cost(chips, prices, 0.85))
            assert values["peak_ratio_pct"][row] == pytest.approx(chips.max() / chips.sum() * 100)
            shown = chips / chips.sum() * 100 > 0.01
            assert np.array(pairs[row])[:, 1] == pytest.approx(chips[shown] / chips.sum() * 100, abs=1e-4)
            row += 1
    assert row == len(values["avg_cost"]) == len(pairs)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 230), st.sampled_from([0.0, 0.6]))
def test_what_holds_on_any_bars(seed: int, length: int, flat: float) -> None:
    bars = random_bars(seed, [length], flat=flat)
    row = {name: column[0] for name, column in chip_columns(bars, newest=1).items()}
    assert 0 <= row["profit_ratio_pct"] <= 100
    assert (
        row["cost_90_low"]
        <= row["cost_70_low"]
        <= row["cost_50"]
        <= row["cost_70_high"]
        <= row["cost_90_high"]
    )
    if np.isfinite(row["support_price"]):
        assert row["support_price"] < bars.close[-1]
    if np.isfinite(row["resistance_price"]):
        assert row["resistance_price"] > bars.close[-1]


def test_dearer_shares_have_the_same_shape() -> None:
    bars = random_bars(11, [220])
    eightfold = replace(bars, **{name: getattr(bars, name) * 8 for name in ("open", "high", "low", "close")})
    one, other = chip_columns(bars, newest=1), chip_columns(eightfold, newest=1)
    for name in ("profit_ratio_pct", "concentration_90_pct", "peak_ratio_pct"):
        assert one[name] == pytest.approx(other[name])


def test_turnover_that_is_not_known_gives_no_figure() -> None:
    bars = random_bars(12, [220])
    turnover = bars.turnover.copy()
    turnover[-1] = np.nan
    gone = replace(bars, turnover=turnover)
    assert all(np.isnan(column).all() for column in chip_columns(gone, newest=1).values())
    assert chip_distribution(gone, newest=1) == [[]]
    turnover[-1], turnover[100] = 100.0, np.nan
    assert np.isfinite(chip_columns(gone, newest=1)["avg_cost"]).all(), "all chips changed hands since"


@pytest.mark.parametrize("turnover", [0.0, 100.0])
def test_none_or_all_change_hands(turnover: float) -> None:
    bars = random_bars(13, [30])
    row = chip_columns(replace(bars, turnover=np.full(30, turnover)), newest=1)
    if turnover:
        assert bars.low[-1] <= row["cost_90_low"][0] <= row["cost_90_high"][0] <= bars.high[-1]
    else:
        assert np.isnan(row["avg_cost"]).all()


def test_one_price_for_ever() -> None:
    rows = pd.DataFrame(dict.fromkeys(["open", "high", "low", "close"], [9.9] * 40)).assign(
        volume=1.0, turn=2.0
    )
    row = {name: column[0] for name, column in chip_columns(vectors.one_code(rows), newest=1).items()}
    assert row["profit_ratio_pct"] == row["peak_ratio_pct"] == 100.0
    assert row["avg_cost"] == row["peak_price"] == 9.9
    assert row["concentration_90_pct"] == 0.0
    assert np.isnan(row["support_price"])
    assert np.isnan(row["resistance_price"])


def test_no_figure_looks_ahead(real_bars: Bars) -> None:
    def newest(bars: Bars) -> dict[str, np.ndarray]:
        return chip_columns(bars, newest=1)

    some = real_bars.take(real_bars.codes[:6])
    every_row = chip_columns(some, newest=len(some))
    assert not mismatches(lambda _: every_row, some, last=newest, every=10)
