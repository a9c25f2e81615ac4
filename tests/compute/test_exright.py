"""Reference prices and factors: the worked figures, and what holds for any history of events."""

import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.market.securities import tick_of_code
from platform_assets.compute.exright import TERMS, bonus_of_split, gaps
from resources.upstreams.tdx import corporate
from resources.upstreams.tdx.instruments import instrument
from tests.upstreams.tdx.recorded import payload


def events(*rows: tuple[str, float, float, float, float]) -> pd.DataFrame:
    """(date, cash, bonus, rights, price of the rights), amounts per 10 shares."""
    return pd.DataFrame(rows, columns=["date", *TERMS])


def split(date: str, ratio: float) -> tuple[str, float, float, float, float]:
    return date, 0.0, float(bonus_of_split(np.array([ratio]))[0]), 0.0, 0.0


@pytest.mark.parametrize(
    ("symbol", "close", "event", "reference", "factor"),
    [
        ("sh510210", 4.510, split("2026-09-02", 5), 0.902, 5.0),
        ("sh512000", 1.500, split("2026-09-02", 2), 0.750, 2.0),
        ("sh512000", 1.200, split("2026-09-02", 0.5), 2.400, 0.5),
        ("sh515000", 0.687, ("2026-09-02", 0.43, 0, 0, 0), 0.644, 1.06677),
        ("sz161725", 1.005, ("2026-09-02", 0.12, 0, 0, 0), 0.993, 1.01208),
        ("sh508000", 3.217, ("2026-09-02", 0.385, 0, 0, 0), 3.179, 1.01195),
        # Shanghai's B shares are quoted in thousandths of a dollar, Shenzhen's in cents of Hong Kong.
        ("sh900901", 0.510, ("2026-09-02", 0.05, 0, 0, 0), 0.505, 1.0099),
        ("sz200002", 9.87, ("2026-09-02", 0.55, 0, 0, 0), 9.82, 1.00509),
        ("sh600000", 12.30, ("2026-09-02", 4.1, 3, 2, 8.0), 8.99, 1.36819),
    ],
)
def test_the_reference_price_is_a_price_of_the_instrument(
    symbol: str, close: float, event: tuple[str, float, float, float, float], reference: float, factor: float
) -> None:
    dates = np.array(["2026-09-01", "2026-09-02"])

    made = gaps(symbol[2:], symbol[:2], dates, np.array([close, close]), events(event))

    assert made.references[1] == reference
    assert made.factors[0] == pytest.approx(factor, abs=1e-5)


def test_events_of_one_suspension_follow_each_other() -> None:
    """10.00 less 1.00 is 9.00; ten shares for five of them, 4.50; less 0.25 once more."""
    dates = np.array(["2026-09-01", "2026-09-30"])
    several = events(("2026-09-21", 2.5, 0, 0, 0), ("2026-09-07", 10, 0, 0, 0), split("2026-09-14", 2))

    made = gaps("600000", "SH", dates, np.array([10.0, 4.3]), several)

    assert made.references[1] == 4.25
    assert made.factors.tolist() == pytest.approx([4.5 / 4.25, 10 / 9, 2.0])


def test_what_goes_ex_on_one_date_is_one_reference_price_in_any_order() -> None:
    """(10 x 10.00 - 5) / 20 = 4.75; the cash is of the shares before the bonus."""
    dates = np.array(["2026-09-01", "2026-09-02"])
    both = [("2026-09-02", 5.0, 0.0, 0.0, 0.0), ("2026-09-02", 0.0, 10.0, 0.0, 0.0)]

    for order in (both, both[::-1]):
        made = gaps("600000", "SH", dates, np.array([10.0, 4.8]), events(*order))
        assert made.references[1] == 4.75
        assert made.factors.prod() == pytest.approx(10 / 4.75)


_DAYS = pd.bdate_range("2026-01-01", periods=40).strftime("%Y-%m-%d").to_list()
_EVENT = st.one_of(
    st.tuples(
        st.sampled_from(_DAYS), st.integers(0, 3000).map(lambda mille: mille / 1000), *[st.just(0.0)] * 3
    ),
    st.tuples(
        st.sampled_from(_DAYS),
        st.integers(0, 300).map(lambda fen: fen / 100),
        st.integers(0, 200).map(lambda tenths: tenths / 10),
        st.integers(0, 30).map(lambda tenths: tenths / 10),
        st.integers(1, 2000).map(lambda fen: fen / 100),
    ),
    st.tuples(st.sampled_from(_DAYS), st.sampled_from([0.1, 0.5, 0.8, 2, 3, 5, 10])).map(
        lambda one: split(*one)
    ),
)


@given(
    symbol=st.sampled_from(
        ["sh600000", "sz161725", "sh510210", "sh508000", "sh900901", "sz200002", "bj920002"]
    ),
    bars=st.lists(
        st.tuples(st.sampled_from(_DAYS), st.integers(500, 99_999)),
        min_size=2,
        max_size=20,
        unique_by=lambda b: b[0],
    ),
    history=st.lists(_EVENT, max_size=8),
)
def test_the_close_before_is_the_reference_times_the_factors_of_the_gap(
    symbol: str, bars: list[tuple[str, int]], history: list[tuple[str, float, float, float, float]]
) -> None:
    tick = tick_of_code(symbol[2:], symbol[:2])
    dates, ticks = zip(*sorted(bars), strict=True)
    close = np.round(np.array(ticks) * tick, 4)
    reported = events(*history)

    made = gaps(symbol[2:], symbol[:2], np.array(dates), close, reported)

    assert_each_gap_closes(np.array(dates), close, reported, made.references, made.factors)
    steps = made.references / tick
    assert np.abs(steps[1:] - np.rint(steps[1:])).max() < 1e-6  # whole ticks
    backwards = gaps(symbol[2:], symbol[:2], np.array(dates), close, reported.iloc[::-1])
    assert backwards.references[1:].tolist() == made.references[1:].tolist()


def assert_each_gap_closes(
    dates: np.ndarray, close: np.ndarray, reported: pd.DataFrame, references: np.ndarray, factors: np.ndarray
) -> None:
    """close before = reference x factors of the gap, so adjusted returns are the quoted changes."""
    days = reported["date"].to_numpy(dtype=str)
    counted = np.nan_to_num(factors, nan=1.0)
    cumulative = np.array([counted[days <= day].prod() for day in dates])
    of_gap = cumulative[1:] / cumulative[:-1]
    np.testing.assert_allclose(close[:-1], references[1:] * of_gap, rtol=1e-9)
    adjusted = close * cumulative
    np.testing.assert_allclose(adjusted[1:] / adjusted[:-1], close[1:] / references[1:], rtol=1e-9)


def dividends_of_the_recording() -> pd.DataFrame:
    columns = corporate.parse_xdxr(payload("tdx_gbbq_sz000001.hex"), instrument("sz000001"))
    records = pd.DataFrame(columns)
    return records[records["category"] == 1].reset_index(drop=True)


def test_recorded_events_give_the_reference_prices_that_the_exchange_quoted(real_data_dir: Path) -> None:
    """Records of sz000001 as received, and its bars of 2020 to 2025 with the quoted previous closes."""
    bars = pd.read_csv(real_data_dir / "bars_daily_raw_hs300_2020_2025.csv.gz").query("code == 'sz000001'")
    dates, close = bars["date"].to_numpy(dtype=str), bars["close"].to_numpy(dtype=float)
    reported = dividends_of_the_recording()
    inside = ((reported["date"] > dates[0]) & (reported["date"] <= dates[-1])).to_numpy()
    assert inside.sum() == 6

    made = gaps("000001", "SZ", dates, close, reported)

    assert made.references[1:].tolist() == bars["preclose"].round(4).tolist()[1:]
    assert_each_gap_closes(dates, close, reported[inside], made.references, made.factors[inside])


def test_every_gap_closes_under_the_records_of_two_decades(real_data_dir: Path) -> None:
    """Every tenth of 3,366 securities with its records of 1990 to 2011, on bars with long suspensions."""
    records = pd.read_csv(real_data_dir / "xdxr_1990_2011.csv.gz", dtype={"date": str})
    records["date"] = pd.to_datetime(records["date"]).dt.strftime("%Y-%m-%d")
    records["bonus_per10"] += records["transfer_per10"]
    sessions = pd.read_csv(real_data_dir / "trade_dates_1990_2026.csv")["trade_date"].to_numpy(dtype=str)
    sessions = sessions[sessions < "2012-01-01"]
    draws = np.random.default_rng(37)
    several = 0
    for code, reported in records[records["code"].str[-1] == "7"].groupby("code"):
        dates = sessions[draws.random(len(sessions)) < 0.02]
        close = np.round(draws.uniform(3, 60, len(dates)), 2)
        made = gaps(str(code)[2:], str(code)[:2], dates, close, reported)
        assert_each_gap_closes(dates, close, reported, made.references, made.factors)
        places = np.searchsorted(dates, reported["date"].to_numpy(dtype=str))
        several += len(places) - len(set(places.tolist()))
    assert several > 100


@pytest.mark.parametrize("symbol", ["sh600000", "sz000001"])
def test_every_gap_closes_on_real_bars(real_data_dir: Path, symbol: str) -> None:
    """Bars of the terminal's own files under the records of the same security."""
    parse = struct.Struct("<IIIIIfII").iter_unpack
    bars = list(parse((real_data_dir / "tdx_files" / f"{symbol}.day").read_bytes()))
    dates = np.array([f"{day // 10_000}-{day // 100 % 100:02d}-{day % 100:02d}" for day, *_ in bars])
    close = np.array([row[4] / 100 for row in bars])
    records = pd.read_csv(real_data_dir / "xdxr_1990_2011.csv.gz", dtype={"date": str}).query(
        "code == @symbol"
    )
    reported = records.assign(
        date=pd.to_datetime(records["date"]).dt.strftime("%Y-%m-%d"),
        bonus_per10=records["bonus_per10"] + records["transfer_per10"],
    )

    made = gaps(symbol[2:], symbol[:2], dates, close, reported)

    assert_each_gap_closes(dates, close, reported, made.references, made.factors)
    changes = close[1:] / made.references[1:] - 1
    known = dates[1:] <= "2011-11-25"
    # Share reforms resumed without an ex-right price; hardly another day left its limits.
    assert (np.abs(changes[known]) > 0.11).sum() <= 2
