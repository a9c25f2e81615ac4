"""What followed signals, on bars written by hand."""

import numpy as np
import pytest

from platform_assets.compute.parameters.scorecards import WAIT_DAYS
from platform_assets.compute.pattern_performance import followed, outcomes, summary
from platform_assets.compute.scorecards.prices import Benchmark, Prices

CODES = ("falls", "gone", "rises", "late")
DAYS = WAIT_DAYS + 5
DATES = tuple(f"2026-01-{at + 1:02d}" for at in range(DAYS))


def market() -> Prices:
    """Closes of 100, up or down 1 a day; `gone` has a bar on the first date alone, `late` rests from the last
    date on which a signal can be waited for."""
    days = np.arange(DAYS, dtype=np.float64)
    close = np.stack([100 - days, np.full(DAYS, 100.0), 100 + days, 100 + days])
    close[1, 1:] = np.nan
    close[3, DAYS - WAIT_DAYS + 1 :] = np.nan
    one = np.ones(close.shape)
    return Prices(CODES, DATES, np.ones(DAYS, dtype=bool), close, close, close, close, one, np.nan * one)


def test_what_never_traded_again_has_not_won() -> None:
    flat = Benchmark(np.ones(DAYS), np.ones(DAYS))
    window = followed(market(), flat, DAYS, hold=1)
    hits = [("gone", DATES[0]), ("falls", DATES[0]), ("rises", DATES[0]), ("late", DATES[DAYS - WAIT_DAYS])]

    found = outcomes(window, hits, direction=-100)
    reported = summary(found, -100)

    # The one that rests is still waited for; it is no base of its date either.
    assert [one.date for one in found] == [DATES[0]] * 3
    assert (reported["samples"], reported["win_rate_pct"]) == (3, 0.0)
    # Bought and sold at the same price on the second date: nothing has changed.
    assert (reported["median_pct"], reported["best_pct"], reported["worst_pct"]) == (0.0, 0.0, 0.0)

    longer = followed(market(), flat, DAYS, hold=3)
    reported = summary(outcomes(longer, hits, direction=100), 100)
    assert (reported["samples"], reported["fillable"]["samples"]) == (3, 3)
    assert (
        reported["win_rate_pct"] == reported["fillable"]["win_rate_pct"] == pytest.approx(100 / 3, abs=1e-4)
    )
    assert reported["base_rate_pct"] == 50.0  # two of four rose
    up, down = (103 / 101 - 1) * 100, (97 / 99 - 1) * 100
    assert reported["avg_pct"] == pytest.approx((up + down) / 2, abs=1e-4)
    assert (reported["best_pct"], reported["worst_pct"]) == pytest.approx((up, down), abs=1e-4)
    assert reported["median_pct"] == pytest.approx((up + down) / 2, abs=1e-4)
    year = reported["by_year"][0]
    assert (year["samples"], year["win_rate_pct"], year["avg_pct"]) == pytest.approx(
        (3, 100 / 3, (up + down) / 2), abs=1e-4
    )


def test_codes_that_never_traded_again_have_no_return() -> None:
    flat = Benchmark(np.ones(DAYS), np.ones(DAYS))
    reported = summary(
        outcomes(followed(market(), flat, 1, hold=3), [("gone", DATES[0])], direction=100), 100
    )
    assert (reported["samples"], reported["win_rate_pct"], reported["avg_pct"]) == (1, 0.0, None)
    assert (reported["median_pct"], reported["best_pct"], reported["worst_pct"]) == (None, None, None)
