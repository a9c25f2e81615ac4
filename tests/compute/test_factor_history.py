"""Inputs of many dates at once say what the wide row of each date says, and look at nothing later."""

import numpy as np
import pytest

from platform_assets.compute import wide_stats
from platform_assets.compute.factors.history import BarHistory, as_published, scores_by_date
from platform_assets.compute.wide_stats import BarPanel
from resources.calendar import shipped_calendar

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
        wanted = {
            **{f"chg_{n}d": wide_stats.change(panel, n) for n in (3, 5, 10, 20, 60)},
            "chg_1y": wide_stats.change(panel, 250),
            "chg_ytd": wide_stats.change_ytd(panel),
            "ma5_dev_pct": wide_stats.mean_deviation(panel, 5),
            "vol_accel_5_5": wide_stats.volume_acceleration(panel),
            "limit_up_count_20d": wide_stats.count_up(panel),
            "break_fail_days_5d": wide_stats.count_broken(panel),
            "limit_days_today": wide_stats.limit_days(panel),
        }
        for name, values in wanted.items():
            np.testing.assert_allclose(inputs[name][at], values, rtol=1e-9, atol=1e-9, err_msg=f"{name} {at}")


def test_scores_of_a_date_do_not_change_with_what_follows(history: BarHistory) -> None:
    def scores(until: int, close: np.ndarray) -> dict[str, np.ndarray]:
        rows = slice(0, until)
        bars = BarHistory(
            history.dates[rows], close[rows], history.volume[rows], history.up[rows], history.up_open[rows]
        )
        return scores_by_date(bars.inputs(), np.isfinite(bars.close))

    full = scores(DAYS, history.close)
    for until in range(300, DAYS, 7):
        for key, values in scores(until, history.close).items():
            np.testing.assert_array_equal(values[-1], full[key][until - 1])
    # Prices that look one date ahead are told by the same comparison.
    ahead = np.vstack([history.close[1:], history.close[-1:]])
    ahead_full = scores(DAYS, ahead)
    cheated = BarHistory(history.dates[:310], np.vstack([history.close[1:310], history.close[309:310]]),
                         history.volume[:310], history.up[:310], history.up_open[:310])  # fmt: skip
    told = scores_by_date(cheated.inputs(), np.isfinite(history.close[:310]))
    assert not np.array_equal(told["trend"][-1], ahead_full["trend"][309], equal_nan=True)


def test_what_followed_is_missing_where_it_is_to_come(history: BarHistory) -> None:
    following = history.following(5)

    assert np.isnan(following[-5:]).all()
    wanted = (history.close[105] / history.close[100] - 1) * 100
    np.testing.assert_allclose(following[100], wanted)


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
