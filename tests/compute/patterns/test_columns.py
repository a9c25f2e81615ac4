"""Shape of the columns, and what must not change them."""

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.patterns import DIRECTIONS, METRICS, has_row, kind_names, pattern_columns

Columns = dict[str, Floats]


@pytest.fixture(scope="module")
def found(restless: Bars) -> Columns:
    return pattern_columns(restless)


def same(one: Columns, other: Columns) -> None:
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


def test_values(restless: Bars, found: Columns) -> None:
    assert tuple(found) == (*DIRECTIONS, *METRICS)
    for name in DIRECTIONS:
        assert set(np.unique(found[name])) <= {-100.0, 0.0, 100.0}
    for name in DIRECTIONS:
        if name.endswith(("_top", "sell")):
            assert found[name].max() <= 0
        if name.endswith(("_bottom", "buy", "handle")):
            assert found[name].min() >= 0
    assert set(np.unique(found["duck_stage"])) <= {0.0, 1.0, 2.0, 3.0}
    broke = ~np.isnan(found["duck_breakout_pct"])
    assert (found["duck_stage"][broke] == 3).all()
    assert (found["duck_breakout_pct"][broke] > 0).all()
    assert broke[found["duck_buy"] == 100].all()


def test_one_reversal_of_a_side_a_day(found: Columns) -> None:
    for side in ("bottom", "top"):
        names = [f"{name}_{side}" for name in ("double", "triple", "head_shoulders")]
        assert (sum((found[name] != 0).astype(int) for name in names) <= 1).all()


def test_a_kind_stands_on_the_day_of_its_break(found: Columns) -> None:
    for name in ("triangle", "wedge", "flag"):
        broken = found[name] != 0
        assert not np.isnan(found[f"{name}_kind"][broken]).any()
    assert (np.sign(found["flag_kind"]) == np.sign(found["flag"]))[found["flag"] != 0].all()


def test_rows_of_the_table(found: Columns) -> None:
    there = has_row(found)
    assert 0 < there.sum() < len(there)
    assert not any(found[name][~there].any() for name in (*DIRECTIONS, "duck_stage"))


def test_kinds_have_words() -> None:
    assert kind_names("flag_kind", np.array([np.nan, 1.0, -2.0])).tolist() == [
        None,
        "bull_flag",
        "bear_pennant",
    ]
    with pytest.raises(KeyError):
        kind_names("flag", np.array([1.0]))


@pytest.mark.parametrize("newest", [1, 3, 500])
def test_the_newest_rows_alone(restless: Bars, found: Columns, newest: int) -> None:
    ends = restless.offsets[1:][restless.owner]
    last = ends - np.arange(len(restless)) <= newest
    same(pattern_columns(restless, newest=newest), {name: values[last] for name, values in found.items()})


def scaled(bars: Bars, price: float, volume: float) -> Bars:
    prices = {name: getattr(bars, name) * price for name in ("open", "high", "low", "close")}
    return replace(bars, volume=bars.volume * volume, **prices)


def test_scale_does_not_matter(restless: Bars, real_bars: Bars, found: Columns) -> None:
    for bars, columns in ((restless, found), (real_bars, pattern_columns(real_bars))):
        for name, values in pattern_columns(scaled(bars, 10, 100)).items():
            np.testing.assert_allclose(values, columns[name], rtol=1e-9, err_msg=name)


def test_a_split_does_not_matter(restless: Bars, found: Columns) -> None:
    """Half the price at twice the factor from some day on: the same chart."""
    later = np.arange(len(restless)) % 260 >= 130
    prices = {
        name: np.where(later, getattr(restless, name) / 2, getattr(restless, name))
        for name in ("open", "high", "low", "close")
    }
    same(pattern_columns(replace(restless, factor=np.where(later, 2.0, 1.0), **prices)), found)


def frame(bars: Bars) -> pd.DataFrame:
    columns = {
        one.name: getattr(bars, one.name) for one in fields(bars) if one.name not in ("codes", "offsets")
    }
    return pd.DataFrame(columns | {"code": np.array(bars.codes)[bars.owner]}).rename(
        columns={"factor": "adj_factor"}
    )


def test_order_of_the_input_does_not_matter(restless: Bars, found: Columns) -> None:
    shuffled = Bars.from_frame(frame(restless).sample(frac=1, random_state=3))
    same(pattern_columns(shuffled), found)


def test_codes_do_not_matter_to_each_other(restless: Bars, found: Columns) -> None:
    code = restless.codes[7]
    alone = pattern_columns(restless.take([code]))
    same(alone, {name: values[restless.rows_of(code)] for name, values in found.items()})


def broken_bars(bars: Bars) -> Bars:
    """Every 50th bar has no price, and every 70th no volume."""
    close, volume = bars.close.copy(), bars.volume.copy()
    close[::50], volume[::70] = np.nan, np.nan
    return replace(bars, close=close, volume=volume)


def test_a_bar_without_figures_counts_as_none(restless: Bars) -> None:
    gappy = broken_bars(restless)
    known = np.isfinite(gappy.close) & np.isfinite(gappy.volume)
    columns = pattern_columns(gappy)
    same({name: values[known] for name, values in columns.items()}, pattern_columns(restless.where(known)))
    assert not has_row(columns)[~known].any()
    newest = pattern_columns(gappy, newest=2)
    assert len(newest["island"]) == 2 * len(gappy.codes)


def made(close: Floats, volume: float = 1000.0) -> Bars:
    day = {"code": "000001", "date": 20200101 + np.arange(len(close)), "volume": volume}
    return Bars.from_frame(pd.DataFrame(day | dict.fromkeys(("open", "high", "low", "close"), close)))


def test_no_break_without_volume(restless: Bars, found: Columns) -> None:
    columns = pattern_columns(replace(restless, volume=np.zeros(len(restless))))
    assert {name for name in DIRECTIONS if columns[name].any()} == {"island"}
    np.testing.assert_array_equal(columns["island"], found["island"])


def limits(count: int) -> Floats:
    """One-price days of 10 % up, then down."""
    up: Floats = np.round(10 * 1.1 ** np.minimum(np.arange(count), 2 * 80 - np.arange(count)), 2)
    return up


@pytest.mark.parametrize(
    "make",
    [
        lambda: made(np.array([10.0])),
        lambda: made(np.full(200, 1.1)),
        lambda: made(np.full(200, 1.1), volume=0.0),
        lambda: made(10 + np.sin(np.arange(60.0))),
        lambda: Bars.from_frame(frame(made(np.array([10.0]))).iloc[:0]),
    ],
    ids=["one bar", "flat", "flat, untraded", "60 bars", "no bar"],
)
def test_nothing_to_see(make: Callable[[], Bars]) -> None:
    bars = make()
    columns = pattern_columns(bars)
    assert all(len(values) == len(bars) for values in columns.values())
    assert not any(columns[name].any() for name in DIRECTIONS)


def test_limit_days() -> None:
    columns = pattern_columns(made(limits(160)))
    assert np.isfinite(columns["duck_stage"]).all()
