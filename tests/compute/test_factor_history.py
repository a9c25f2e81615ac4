"""Inputs of many dates at once say what the wide row of each date says, and look at nothing later."""

from dataclasses import replace

import numpy as np
import pytest

from core.calendar import shipped_calendar
from core.market.bars import Bars
from platform_assets.compute import wide_stats
from platform_assets.compute.factors.history import BarHistory, as_published, scores_by_date
from platform_assets.compute.wide_stats import BarPanel

DAYS, CODES = 330, 24


@pytest.fixture(scope="module")
def history() -> BarHistory:
    """A random walk with gaps and limit states."""
    chance = np.random.default_rng(11)
    close = 20 * np.exp(np.cumsum(chance.normal(0, 0.03, (DAYS, CODES)), axis=0))
    volume = chance.integers(0, 5000, (DAYS, CODES)).astype(float)
    gone = chance.random((DAYS, CODES)) < 0.01
    close[gone] = volume[gone] = np.nan
    state = chance.random((DAYS, CODES))
    dates = shipped_calendar().last(DAYS, "2026-08-21")
    up, up_open = (state < 0.1).astype(float), (state > 0.95).astype(float)
    up[gone] = up_open[gone] = np.nan
    return BarHistory(dates, close, volume, up, up_open)


def cut(history: BarHistory, at: int) -> BarPanel:
    """The year of bars behind one date, as the wide table reads it."""
    rows = slice(max(0, at - 250), at + 1)
    dates = list(history.dates[rows])
    earlier = [place for place, day in enumerate(dates) if day[:4] < dates[-1][:4]]
    return BarPanel(
        history.close[rows], history.close[rows], history.close[rows], history.volume[rows],
        history.up[rows], history.up_open[rows], earlier[-1] if earlier else -1,
    )  # fmt: skip


def test_every_row_is_that_of_the_wide_table(history: BarHistory) -> None:
    inputs = history.inputs()
    for at in (250, 251, 280, 329):
        panel = cut(history, at)
        requested = {
            **{f"chg_{n}d": wide_stats.change(panel, n) for n in (3, 5, 10, 20, 60)},
            "chg_1y": wide_stats.change(panel, 250),
            "chg_ytd": wide_stats.change_ytd(panel),
            "ma5_dev_pct": wide_stats.mean_deviation(panel, 5),
            "vol_accel_5_5": wide_stats.volume_acceleration(panel),
            "limit_up_count_20d": wide_stats.count_up(panel),
            "break_fail_days_5d": wide_stats.count_broken(panel),
            "limit_days_today": wide_stats.limit_days(panel),
        }
        for name, values in requested.items():
            np.testing.assert_allclose(inputs[name][at], values, rtol=1e-9, atol=1e-9, err_msg=f"{name} {at}")


def grid(bars: Bars) -> BarHistory:
    """Bars of many codes as arrays [dates, codes]."""
    days = np.unique(bars.date)
    shape = (len(days), len(bars.codes))
    line = np.searchsorted(days, bars.date)

    def spread(values: np.ndarray) -> np.ndarray:
        found = np.full(shape, np.nan)
        found[line, bars.owner] = values
        return found

    close = spread(bars.adjusted("close"))
    gain = spread(bars.close / bars.last_close - 1)
    dates = [f"{day // 10000}-{day // 100 % 100:02d}-{day % 100:02d}" for day in days.tolist()]
    up, up_open = (gain > 0.098).astype(float), ((gain > 0.08) & (gain <= 0.098)).astype(float)
    return BarHistory(dates, close, spread(bars.volume), up, up_open)


def scores(history: BarHistory, since: int) -> dict[str, np.ndarray]:
    """Scores [dates from row `since` on, codes]."""
    traded = np.isfinite(history.close)[since:]
    return scores_by_date({name: one[since:] for name, one in history.inputs().items()}, traded)


def looking_ahead(history: BarHistory, followed: BarHistory, every: int = 1) -> set[str]:
    """Factors whose score of a date from the rows up to it is not the one from all rows (`followed`: those
    rows with what follows each of them)."""
    whole = scores(followed, 320)
    found = set()
    for at in range(320, len(history.dates), every):
        rows = slice(0, at + 1)
        known = BarHistory(
            history.dates[rows], history.close[rows], history.volume[rows], history.up[rows],
            history.up_open[rows],
        )  # fmt: skip
        for key, values in scores(known, at).items():
            if not np.array_equal(values[0], whole[key][at - 320], equal_nan=True):
                found.add(key)
    return found


def test_scores_of_real_bars_do_not_change_with_what_follows(real_bars: Bars) -> None:
    history = grid(real_bars)

    assert looking_ahead(history, history) == set()
    # A close of the day after among the rows is found.
    planted = replace(history, close=np.vstack([history.close[1:], history.close[-1:]]))
    assert looking_ahead(history, planted, every=20) >= {"momentum", "trend", "shortTerm"}


@pytest.mark.soak
@pytest.mark.real_data
def test_scores_of_300_codes_do_not_change_with_what_follows(all_real_bars: Bars) -> None:
    history = grid(all_real_bars)

    assert looking_ahead(history, history, every=3) == set()


def test_what_followed_is_missing_where_it_is_to_come(history: BarHistory) -> None:
    following = history.following(5)

    assert np.isnan(following[-5:]).all()
    requested = (history.close[105] / history.close[100] - 1) * 100
    np.testing.assert_allclose(following[100], requested)


def test_a_report_counts_from_its_announcement_on_until_it_is_too_old() -> None:
    dates = ["2026-04-01", "2026-04-27", "2026-04-28", "2026-08-29", "2026-08-30"]
    reports = [
        ("2026-04-28", "2026-03-31", [2.0, None]),
        ("2026-04-28", "2025-12-31", [1.0, 1.0]),  # the annual one, on the same day
        ("2026-08-30", "2026-06-30", [3.0, 3.0]),
    ]

    found = as_published(dates, reports, 730)

    assert found[:, 0].tolist()[2:] == [2.0, 2.0, 3.0]
    assert np.isnan(found[:2]).all()
    assert np.isnan(found[2, 1])
    assert np.isnan(as_published(dates, reports, 20)).all()
