"""Indicators: the published vectors, a second implementation, and what must hold on any bars."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.market.bars import Bars
from platform_assets.compute.indicators import COLUMNS, PRICE_SCALE, indicator_columns
from tests.compute import vectors
from tests.compute.reference_indicators import reference

NAMES = {
    "dif": "macd_dif",
    "dea": "macd_dea",
    "hist": "macd_hist",
    "k": "kdj_k",
    "d": "kdj_d",
    "j": "kdj_j",
    "boll_up": "boll_upper",
    "boll_low": "boll_lower",
    "atr14_ma": "atr14",
    "atr14_wilder": "atr14_w",
    "pdi": "dmi_pdi",
    "mdi": "dmi_mdi",
    "adx": "dmi_adx",
    "adxr": "dmi_adxr",
    "trix12": "trix",
}
TABLE = vectors.expected(vectors.INDICATORS)
VOLUME_SCALE = {"obv", "vol_ma5", "vol_ma10"}


def random_bars(seed: int, lengths: list[int], *, flat: float = 0.0) -> Bars:
    """Codes of some lengths with ex-right days; a share `flat` of the days has one price, that of before."""
    chance = np.random.default_rng(seed)
    frames = []
    for number, length in enumerate(lengths):
        moves = np.where(chance.random(length) < flat, 0.0, chance.normal(0, 0.02, length))
        close = np.round(10 * np.exp(np.cumsum(moves)), 2)
        still = moves == 0.0
        open_ = np.where(still, close, np.round(close * (1 + chance.normal(0, 0.01, length)), 2))
        high = np.where(
            still, close, np.round(np.maximum(open_, close) * (1 + 0.02 * chance.random(length)), 2)
        )
        low = np.where(
            still, close, np.round(np.minimum(open_, close) * (1 - 0.02 * chance.random(length)), 2)
        )
        frames.append(
            pd.DataFrame(
                {
                    "code": f"{number:06d}",
                    "date": np.arange(20200000, 20200000 + length),
                    "open": open_,
                    "high": high,
                    "low": low,
                    "close": close,
                    "volume": chance.integers(0, 1_000_000, length) * 100.0,
                    "turnover_pct": chance.random(length) * 8,
                    "adj_factor": np.cumprod(np.where(chance.random(length) < 0.02, 1.05, 1.0)),
                }
            )
        )
    return Bars.from_frame(pd.concat(frames))


@pytest.mark.parametrize("key", [key for key in TABLE if key != "boll_up_ddof0"])
def test_published_vectors(key: str) -> None:
    values = indicator_columns(vectors.bars())[NAMES.get(key, key)]
    for at, published in TABLE[key].items():
        # Ours is null before there are enough changes; a formula of the same sums is not.
        requested = np.nan if key.startswith("rsi") and at < int(key[3:]) else published
        assert values[at] == pytest.approx(requested, abs=1e-3 if key == "psy12" else 1e-4, nan_ok=True), at


def test_published_vectors_outside_the_table() -> None:
    population = indicator_columns(vectors.bars(), ddof=0)["boll_upper"]
    for at, requested in TABLE["boll_up_ddof0"].items():
        assert population[at] == pytest.approx(requested, abs=1e-4, nan_ok=True)
    assert indicator_columns(vectors.bars())["vr26"][[29, 33, 59]] == pytest.approx(
        [52.5757, 93.8111, 805.8543], abs=1e-4
    )


@pytest.mark.parametrize("flat", [0.0, 0.5, 0.95])
def test_the_kernels_equal_pandas_windows_and_plain_loops(flat: float) -> None:
    bars = random_bars(5, [1, 2, 9, 10, 59, 60, 61, 300], flat=flat)
    dates = np.arange(20200000, 20200320)
    closes = 4000.0 + np.sin(dates) * 100
    mine = indicator_columns(bars, index=(dates, closes))
    assert tuple(mine) == COLUMNS
    for code in bars.codes:
        one = bars.take([code])
        requested = reference(one, pd.Series(closes[: len(one)]))
        assert set(requested) == set(COLUMNS)
        for name in COLUMNS:
            np.testing.assert_allclose(
                mine[name][bars.rows_of(code)],
                requested[name],
                rtol=1e-7,
                atol=1e-7,
                err_msg=f"{name} {code}",
            )


def test_only_the_newest_bars_are_the_same_numbers() -> None:
    bars = random_bars(6, [1, 5, 70, 400])
    index = (np.arange(20200000, 20200500), np.linspace(3000, 4000, 500))
    whole = indicator_columns(bars, index=index)
    picked = replace(bars, amount=np.arange(len(bars), dtype=float))
    for count in (1, 3, 30):
        rows = picked.newest(count).amount.astype(int)
        for name, values in indicator_columns(bars, index=index, newest=count).items():
            assert np.array_equal(values, whole[name][rows], equal_nan=True), name


def test_a_bar_that_is_not_known_counts_as_none() -> None:
    bars = random_bars(7, [80, 80])
    factor = bars.factor.copy()
    factor[[3, 100]] = np.nan
    gaps = replace(bars, factor=factor)
    known = np.isfinite(factor)
    for newest in (None, 2):
        without, with_gaps = (indicator_columns(some, newest=newest) for some in (bars.where(known), gaps))
        for name in COLUMNS:
            kept = known if newest is None else slice(None)
            assert np.array_equal(with_gaps[name][kept], without[name], equal_nan=True)
            assert newest or np.isnan(with_gaps[name][~known]).all()


def test_a_volume_that_is_not_known_is_forgotten() -> None:
    bars = random_bars(8, [120])
    volume = bars.volume.copy()
    volume[20] = np.nan
    whole, gap = indicator_columns(bars), indicator_columns(replace(bars, volume=volume))
    assert np.isnan(gap["vol_ma5"][20:25]).all()
    for name in COLUMNS:
        assert np.array_equal(gap[name][60:], whole[name][60:], equal_nan=True) or name == "obv", name
    assert np.diff(gap["obv"])[60:] == pytest.approx(np.diff(whole["obv"])[60:])


def test_constant_prices() -> None:
    bars = vectors.one_code(
        pd.DataFrame(dict.fromkeys(["open", "high", "low", "close"], [10.1] * 300)).assign(volume=0)
    )
    last = {name: values[-1] for name, values in indicator_columns(bars).items()}
    assert [last[f"rsi{n}"] for n in (6, 12, 14, 24)] == [50.0] * 4
    assert last["kdj_k"] == last["kdj_d"] == last["kdj_j"] == 50.0
    assert last["boll_width_pct"] == last["cci14"] == last["ma_align"] == last["macd_dif"] == 0.0
    assert last["ma250"] == pytest.approx(10.1)
    for name in ("wr6", "wr10", "wr14", "dmi_pdi", "dmi_adx", "vr26", "vol_ratio_5"):
        assert np.isnan(last[name]), name
    assert 0 <= last["rtsi"] <= 100


def test_strength_is_null_before_there_are_enough_changes() -> None:
    values = indicator_columns(random_bars(3, [40]))
    for n in (6, 12, 14, 24):
        assert np.flatnonzero(np.isfinite(values[f"rsi{n}"])).tolist() == list(range(n, 40)), n


def test_one_bar() -> None:
    values = {name: column[0] for name, column in indicator_columns(random_bars(1, [1])).items()}
    given_at_once = {name for name, value in values.items() if np.isfinite(value)}
    assert given_at_once == {
        "ema12",
        "ema26",
        "macd_dif",
        "macd_dea",
        "macd_hist",
        "kdj_k",
        "kdj_d",
        "kdj_j",
        "obv",
    }
    assert indicator_columns(random_bars(1, [1]).newest(0))["ma5"].size == 0


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000), st.lists(st.integers(1, 90), min_size=1, max_size=4), st.sampled_from([0.0, 0.6])
)
def test_what_holds_on_any_bars(seed: int, lengths: list[int], flat: float) -> None:
    bars = random_bars(seed, lengths, flat=flat)
    values = indicator_columns(bars)
    assert np.allclose(values["macd_hist"], 2 * (values["macd_dif"] - values["macd_dea"]), atol=1e-9)
    assert np.allclose(values["kdj_j"], 3 * values["kdj_k"] - 2 * values["kdj_d"], atol=1e-9)
    up, down = (values[f"boll_{side}"] - values["boll_mid"] for side in ("upper", "lower"))
    assert np.allclose(up, -down, atol=1e-9, equal_nan=True)
    for name in ("rsi6", "rsi24", "wr6", "wr14", "psy12", "rtsi", "dmi_adx"):
        known = values[name][np.isfinite(values[name])]
        assert ((known >= -1e-9) & (known <= 100 + 1e-9)).all(), name
    assert not any(np.isinf(column).any() for column in values.values())

    dearer = replace(bars, **{name: getattr(bars, name) * 8 for name in ("open", "high", "low", "close")})
    busier = replace(bars, volume=bars.volume * 100)
    for name, column in indicator_columns(dearer).items():
        requested = values[name] * (8 if name in PRICE_SCALE else 1)
        assert np.allclose(column, requested, rtol=1e-6, atol=1e-6, equal_nan=True), name
    for name, column in indicator_columns(busier).items():
        requested = values[name] * (100 if name in VOLUME_SCALE else 1)
        assert np.allclose(column, requested, rtol=1e-9, equal_nan=True), name


def bars_in_ticks(seed: int, length: int) -> Bars:
    """A low-priced stock, whose highs and lows often move by the same number of ticks."""
    chance = np.random.default_rng(seed)
    close = 300 + np.cumsum(chance.integers(-2, 3, length))
    open_ = close + chance.integers(-2, 3, length)
    made = {
        "open": open_,
        "high": np.maximum(open_, close) + chance.integers(0, 3, length),
        "low": np.minimum(open_, close) - chance.integers(0, 3, length),
        "close": close,
    }
    return vectors.one_code(
        pd.DataFrame({name: ticks / 100 for name, ticks in made.items()}).assign(volume=1000)
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([10.0, 0.1, 1.0]))
@example(120, 10.0)  # a low that touches the parabolic stop
@example(1440, 0.1)
def test_another_unit_of_price_decides_no_tie(seed: int, scale: float) -> None:
    bars = bars_in_ticks(seed, 120)
    reported = indicator_columns(bars)
    prices = {name: getattr(bars, name) * scale for name in ("open", "high", "low", "close")}

    for name, column in indicator_columns(replace(bars, **prices)).items():
        requested = reported[name] * (scale if name in PRICE_SCALE else 1)
        assert np.allclose(column, requested, rtol=1e-7, atol=1e-7, equal_nan=True), name


def test_other_codes_and_a_second_run_change_nothing() -> None:
    bars = random_bars(9, [100, 3, 250])
    values = indicator_columns(bars)
    alone = indicator_columns(bars.take(["000002"]))
    for name, column in indicator_columns(bars).items():
        assert column.tobytes() == values[name].tobytes()
        assert np.array_equal(alone[name], column[bars.rows_of("000002")], equal_nan=True)


def test_relative_strength_needs_the_index_on_both_dates() -> None:
    bars = random_bars(10, [100])
    dates, closes = np.arange(20200000, 20200100), np.linspace(100, 200, 100)
    kept = np.arange(100) != 50
    values = indicator_columns(bars, index=(dates[kept], closes[kept]))
    whole = indicator_columns(bars, index=(dates, closes))
    missing = np.isnan(values["rs_20d"]) & np.isfinite(whole["rs_20d"])
    assert np.nonzero(missing)[0].tolist() == [50, 70]
    assert np.isnan(indicator_columns(bars)["rs_60d"]).all()
