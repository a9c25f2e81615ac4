"""The emotion cycle over real bars: nothing looks ahead, and known days are what they were."""

import numpy as np
import pytest

from core.market.bars import Bars
from core.market.rules import limit_prices
from core.market.securities import board_of
from platform_assets.compute.limit_days import LimitCounts, LimitWindow, count_limits
from platform_assets.compute.market_phase import score_days, settle

FIRST = 320


def window_of(bars: Bars) -> tuple[np.ndarray, LimitWindow]:
    """(dates, the market on them); limits by the dated rules."""
    boards = np.array([board_of(code, "SH" if code[0] == "6" else "SZ") for code in bars.codes])
    up, down = limit_prices(
        bars.last_close,
        boards[bars.owner],
        np.zeros(len(bars), dtype=bool),
        np.array([f"{day // 10000}-{day // 100 % 100:02d}-{day % 100:02d}" for day in bars.date.tolist()]),
    )
    dates, at = np.unique(bars.date, return_inverse=True)

    def spread(values: np.ndarray) -> np.ndarray:
        grid = np.full((len(bars.codes), len(dates)), np.nan)
        grid[bars.owner, at] = values
        return grid

    return dates, LimitWindow(
        close=spread(bars.close),
        high=spread(bars.high),
        low=spread(bars.low),
        limit_up=spread(up),
        limit_down=spread(down),
        change_pct=spread((bars.close / bars.last_close - 1) * 100),
        volume=spread(bars.volume),
        amount=spread(bars.amount),
    )


def reported(window: LimitWindow) -> tuple[LimitCounts, np.ndarray, list[str | None]]:
    """(counts, scores, stages)."""
    counts = count_limits(window, np.zeros(window.close.shape, dtype=bool))
    with np.errstate(invalid="ignore", divide="ignore"):
        inputs = {
            "limit_up": counts.up,
            "limit_down": counts.down,
            "max_boards": counts.max_boards,
            "broken_rate": counts.broken / (counts.up + counts.broken),
            "promotion_rate": counts.promotion_pct / 100,
            "prev_change_pct": counts.prev_change_pct,
            "advance_share": counts.rose / (counts.rose + counts.fell),
        }
    totals = score_days(inputs).total
    return counts, totals, settle(totals)


def assert_no_look_ahead(window: LimitWindow, every: int) -> None:
    counts, totals, stages = reported(window)
    for cut in range(FIRST, window.close.shape[1] + 1, every):
        part = LimitWindow(**{name: vars(window)[name][:, :cut] for name in LimitWindow.__dataclass_fields__})
        some, scores, phases = reported(part)
        for name, values in vars(some).items():
            np.testing.assert_array_equal(values[-1], vars(counts)[name][cut - 1])
        np.testing.assert_allclose(scores[-1], totals[cut - 1], rtol=1e-9)
        assert phases[-1] == stages[cut - 1]


def test_twenty_codes(real_bars: Bars) -> None:
    assert_no_look_ahead(window_of(real_bars)[1], every=20)


@pytest.mark.soak
def test_three_hundred_codes(all_real_bars: Bars) -> None:
    dates, window = window_of(all_real_bars)
    assert_no_look_ahead(window, every=1)
    _, totals, stages = reported(window)
    day = {int(one): at for at, one in enumerate(dates.tolist())}
    # The first session after the holiday of 2020, and the last one before that of 2024.
    assert totals[day[20200203]] < 5
    assert (stages[day[20200203]], stages[day[20240930]]) == ("ice", "climax")
