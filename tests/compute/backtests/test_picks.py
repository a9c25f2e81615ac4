"""Picks of a market: the same as of each stock alone, on every date, and their scores."""

import numpy as np
import pandas as pd
import pytest

from core.market.bars import Bars
from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.picks import confirmations, picks_of
from platform_assets.compute.backtests.strategies import STRATEGIES, prices_of
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.compute.studies import Prices, atr_wilder, bollinger, kdj, macd, rsi
from tests.compute.backtests.days import real, real_bars


def market() -> Bars:
    """The real slice with the factor that follows from its previous closes."""
    frames = []
    for code in real_bars():
        days = real(code)
        frame = pd.DataFrame(
            {name: getattr(days, name) for name in ("open", "high", "low", "close", "volume")}
        )
        frame = frame.assign(code=code, date=days.date, adj_factor=days.factor)
        frames.append(frame.assign(last_close=real_bars()[code]["preclose"]))
    return Bars.from_frame(pd.concat(frames))


def test_a_market_is_bought_as_each_stock_alone_would_be() -> None:
    bars = market()
    alone: dict[tuple[str, str], set[int]] = {}
    for code in bars.codes:
        days: Days = real(code)
        dates = np.array([int(day.replace("-", "")) for day in days.date])[days.bars]
        for strategy in STRATEGIES.values():
            buy = strategy.run(prices_of(days), strategy.chosen()).buy
            alone[strategy.key, code] = set(dates[buy].tolist())
    bought = 0
    for day in sorted(set(bars.date.tolist()))[-60::7]:
        cut = bars.until(day).newest(WARM_UP_BARS + 1)
        for key, places in picks_of(cut, cut.last_rows).items():
            found = {cut.codes[at] for at in places}
            newest = dict(zip(cut.codes, cut.date[cut.last_rows].tolist(), strict=True))
            assert found == {code for code in cut.codes if newest[code] in alone[key, code]}, (key, day)
            bought += len(found)
    assert bought > 10


def test_studies_are_the_stored_indicators() -> None:
    from platform_assets.compute.indicators import indicator_columns

    bars = market()
    stored = indicator_columns(bars)
    for code in ("sh600519", "sz002709"):
        at = bars.rows_of(code)
        own = bars.take([code])
        prices = Prices(*(own.adjusted(name) for name in ("open", "high", "low", "close")), own.volume)
        upper, middle, lower = bollinger(prices.close, 20)
        k, d = kdj(prices.high, prices.low, prices.close, 9)
        dif, dea = macd(prices.close, 12, 26)
        found = {
            "macd_dif": dif, "macd_dea": dea, "boll_upper": upper, "boll_mid": middle, "boll_lower": lower,
            "atr14_w": atr_wilder(prices, 14),
        }  # fmt: skip
        for name, values in found.items():
            assert stored[name][at] == pytest.approx(values / own.factor, nan_ok=True, rel=1e-9, abs=1e-9), (
                name
            )
        for name, values in {"kdj_k": k, "kdj_d": d, "rsi14": rsi(prices.close, 14)}.items():
            assert stored[name][at] == pytest.approx(values, nan_ok=True, rel=1e-9, abs=1e-9), name


def test_a_score_is_the_mean_of_two_ranks() -> None:
    rows = []
    for code, change, surge in (("a", 0.05, 3.0), ("b", -0.02, 2.0), ("c", 0.01, 1.0)):
        for at in range(6):
            last = at == 5
            rows.append(
                {
                    "code": code, "date": 20260803 + at, "open": 10, "high": 11, "low": 9,
                    "close": 10 * (1 + change) if last else 10, "last_close": 10,
                    "volume": 100 * surge if last else 100, "adj_factor": 1.0,
                }
            )  # fmt: skip
    rows.append({**rows[-1], "code": "new", "close": 10.2, "volume": 50})
    bars = Bars.from_frame(pd.DataFrame(rows))
    scores = confirmations(bars, bars.last_rows)
    # Changes rank 4, 1, 2 and 3 of four, volumes 3, 2 and 1 of three.
    assert scores == pytest.approx([100, (25 + 200 / 3) / 2, (50 + 100 / 3) / 2, 75])


def test_an_empty_market_has_no_picks() -> None:
    nothing = market().take([])
    assert {len(places) for places in picks_of(nothing, nothing.last_rows).values()} == {0}
    assert len(confirmations(nothing, nothing.last_rows)) == 0
