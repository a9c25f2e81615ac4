"""The nine strategies, the trailing stop and validation: on the vectors and on real bars."""

from pathlib import Path

import numpy as np
import pytest

from core.calendar import shipped_calendar
from core.errors import InputError
from core.market.rules import lot_of
from platform_assets.compute.backtests.atr_stop import TrailingStop, style_of
from platform_assets.compute.backtests.days import Days, Event
from platform_assets.compute.backtests.engine import run_rule
from platform_assets.compute.backtests.figures import figures_of
from platform_assets.compute.backtests.strategies import STRATEGIES, prices_of, strategy_of
from platform_assets.compute.backtests.validation import Strategic
from platform_assets.compute.parameters.backtests import STYLES
from platform_assets.compute.studies import Prices, atr_wilder, bollinger, kdj, macd, rsi
from tests.compute.backtests.days import assert_reconciles, board_of, made, real, real_bars, s60

CAPITAL = 100_000_000


def test_studies_are_those_of_the_vectors() -> None:
    prices = prices_of(s60())
    places = [8, 19, 29, 33, 59]
    k, d = kdj(prices.high, prices.low, prices.close, 9)
    assert k[places] == pytest.approx([75.4664, 83.5689, 5.6116, 14.8553, 92.9123], abs=1e-4)
    assert d[places] == pytest.approx([78.1055, 82.1424, 12.3396, 10.4102, 93.3026], abs=1e-4)
    assert rsi(prices.close, 14)[places] == pytest.approx(
        [np.nan, 86.875, 21.0943, 31.3129, 84.1548], abs=1e-4, nan_ok=True
    )
    dif, dea = macd(prices.close, 12, 26)
    assert dif[places] == pytest.approx([0.1062, 0.4610, -1.1626, -1.3986, 1.4773], abs=1e-4)
    assert dea[places] == pytest.approx([0.0980, 0.3181, -0.5016, -1.0242, 1.1233], abs=1e-4)
    upper, middle, lower = bollinger(prices.close, 20)
    assert [one[59] for one in (upper, middle, lower)] == pytest.approx([26.8723, 22.9975, 19.1227], abs=1e-4)
    assert atr_wilder(prices, 14)[places[1:]] == pytest.approx([0.6290, 0.8493, 0.8276, 0.7795], abs=1e-4)


def test_a_block_of_codes_gives_what_each_code_gives_alone() -> None:
    alone = prices_of(s60())
    late = np.full((2, 60), np.nan)

    def both(values: np.ndarray) -> np.ndarray:
        out = late.copy()
        out[0], out[1, 25:] = values, values[:35]
        return out

    block = Prices(*(both(getattr(alone, name)) for name in ("open", "high", "low", "close", "volume")))
    cut = Prices(*(getattr(alone, name)[:35] for name in ("open", "high", "low", "close", "volume")))
    for strategy in STRATEGIES.values():
        periods = strategy.chosen()
        together = strategy.run(block, periods)
        assert together.buy[0].tolist() == strategy.run(alone, periods).buy.tolist(), strategy.key
        assert together.buy[1, 25:].tolist() == strategy.run(cut, periods).buy.tolist(), strategy.key
        assert not together.buy[1, :25].any()


def _path(*legs: tuple[int, float]) -> Days:
    """Prices that move by so many percent a bar."""
    closes = [20.0]
    for bars, pct in legs:
        closes += [round(closes[-1] * (1 + pct / 100) ** (n + 1), 2) for n in range(bars)]
    dates = shipped_calendar().last(len(closes), "2026-08-21")
    rows = [(c, c * 1.005, c * 0.995, c, 1e6) for c in closes]
    return made(dates, rows)


@pytest.mark.parametrize("key", STRATEGIES)
def test_every_strategy_buys_and_sells_on_real_bars_by_the_rules(key: str) -> None:
    strategy = STRATEGIES[key]
    deals = 0
    for code in real_bars():
        days = real(code)
        run = Strategic(days, strategy, board_of(code), CAPITAL, 0).runner(strategy.chosen())(0, len(days))
        assert_reconciles(run, days, lot_of(board_of(code)))
        # Every deal is filled at the open of the first trade date that takes it, after its signal.
        signals = strategy.run(prices_of(days), strategy.chosen())
        signal = np.zeros(len(days), dtype=bool)
        signal[days.bars] = signals.buy
        for fill in run.fills:
            assert fill.price == round(days.open[fill.at] * 100)
            assert fill.side == "sell" or signal[fill.at - 1]
        figures = figures_of(run, days)
        assert figures.final_capital == run.equity[-1] / 100
        deals += len(run.fills)
    assert deals > 0


def test_a_cut_of_the_price_on_an_ex_date_is_no_loss() -> None:
    """sz002709 on 2022-05-16: 10 for 10 and 5.00 CNY (price cut by half)."""
    days = real("sz002709")
    at = days.date.index("2022-05-16")
    assert days.factor[at] / days.factor[at - 1] > 1.9
    strategy = strategy_of("momentum")
    run = Strategic(days, strategy, "main", CAPITAL, 0).runner((20,))(0, len(days))
    changes = run.equity[1:] / run.equity[:-1] - 1
    assert changes.min() > -0.11
    assert np.isfinite(figures_of(run, days).benchmark_return_pct or np.nan)


def test_the_dividend_of_a_real_ex_date_is_paid_to_the_fen() -> None:
    """600519 paid 216.75 CNY per 10 shares on 2022-06-30."""
    days = real("sh600519", [Event("2022-06-30", cash_per10=216.75)])
    at = days.date.index("2022-06-30")
    assert days.cash[at] == 21_675_000
    run = Strategic(days, strategy_of("turtle"), "main", CAPITAL, 0).runner((5, 60))(0, len(days))
    assert [(one.day, one.paid) for one in run.given] == [("2022-06-30", run.given[0].held * 21675 // 10)]
    assert run.given[0].held > 0
    assert_reconciles(run, days)


def test_reversion_sells_at_the_middle_only_after_the_upper_band_was_touched() -> None:
    strategy = strategy_of("boll_reversion")
    days = s60()
    signals = strategy.run(prices_of(days), (20,))
    assert signals.touched is not None
    assert signals.sell_if_touched is not None
    run = Strategic(days, strategy, "main", CAPITAL, 0).runner((20,))(0, 60)
    sold = [fill.at for fill in run.fills if fill.side == "sell"]
    for at in sold:
        assert signals.sell[at - 1] or signals.touched[:at].any()


def test_periods_are_overridden_and_checked() -> None:
    assert strategy_of("ma_cross").chosen(10, 30) == (10, 30)
    assert strategy_of("turtle").chosen() == (20, 10)
    assert strategy_of("boll_breakout").chosen(fast=15) == (15,)
    wrong = [
        ("ma_cross", 30, None, "fast_period"), ("ma_cross", None, 5, "slow_period"),
        ("ma_cross", 5, 5, "fast_period"), ("kdj_cross", None, 9, "slow_period"),
        ("rsi_reversal", 1, None, "fast_period"), ("momentum", 251, None, "fast_period"),
    ]  # fmt: skip
    for key, fast, slow, parameter in wrong:
        with pytest.raises(InputError) as caught:
            strategy_of(key).chosen(fast, slow)
        assert caught.value.parameter == parameter, key
    with pytest.raises(InputError, match="strategy: 'best' is no strategy; one of ma_cross, "):
        strategy_of("best")
    with pytest.raises(InputError, match="profile: "):
        style_of("wild")


def test_neighbours_are_a_fifth_apart_and_allowed() -> None:
    assert strategy_of("ma_cross").neighbours((5, 20)) == [(4, 16), (6, 24)]
    assert strategy_of("rsi_reversal").neighbours((2,)) == [(3,)]
    assert strategy_of("turtle").neighbours((250, 1)) == [(200, 1), (250, 2)]


def test_validation_splits_in_time_and_compares_the_ratios() -> None:
    days = _path((70, 0.6), (20, -0.9), (60, 0.7), (30, -1.0), (40, 0.4), (30, -0.8))
    made_of = Strategic(days, strategy_of("ma_cross"), "main", CAPITAL, 20)
    found = made_of.validated((5, 20))
    assert found is not None
    assert (found.in_sample.start, found.out_of_sample.stop) == (20, len(days))
    assert found.in_sample.stop == found.out_of_sample.start == 20 + int((len(days) - 20) * 0.7)
    run = made_of.runner((5, 20))(found.out_of_sample.start, len(days))
    assert found.out_of_sample.figures == figures_of(run, days)
    assert [part.periods for part in found.neighbours] == [(4, 16), (6, 24)]
    inside, outside = found.in_sample.figures.sharpe, found.out_of_sample.figures.sharpe
    assert inside is not None
    assert outside is not None
    assert found.overfit_risk is (outside < 0.5 * inside)
    assert Strategic(days, strategy_of("ma_cross"), "main", CAPITAL, len(days) - 3).validated((5, 20)) is None


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.key)
def test_the_trailing_stop_follows_its_definition(style: object) -> None:
    chosen = style_of(style.key)  # type: ignore[attr-defined]
    days = _path((90, 0.8), (25, -1.2), (60, 0.9), (20, -1.5))
    run = run_rule(days, TrailingStop(days, chosen), board="main", capital=CAPITAL)
    assert_reconciles(run, days)
    assert run.fills, "an uptrend makes new highs"
    prices = prices_of(days)
    atr = atr_wilder(prices, 14)
    first = run.fills[0]
    signal = first.at - 1
    assert prices.close[signal] > prices.high[signal - chosen.breakout_bars : signal].max()
    assert prices.close[signal] > prices.close[signal - 59 : signal + 1].mean()
    by_risk = CAPITAL / 100 * chosen.risk_pct / 100 / (chosen.atr_multiple * atr[signal])
    by_size = CAPITAL / 100 * chosen.position_pct / 100 / prices.close[signal]
    assert first.shares <= min(by_risk, by_size) < first.shares + 100 + first.shares * 0.02
    # The stop by hand: the sale comes after the first close below the stop of the bar before.
    stop, highest, at = -np.inf, -np.inf, first.at
    while at < len(days) and not prices.close[at] < stop:
        highest = max(highest, prices.close[at])
        stop = max(stop, highest - chosen.atr_multiple * atr[at])
        at += 1
    sold = next(fill for fill in run.fills if fill.side == "sell")
    assert sold.at == at + 1
    assert run.trades[0].reason == "stop"


def test_the_trailing_stop_on_real_bars_breaks_no_rule() -> None:
    for code in real_bars():
        days = real(code)
        for style in STYLES:
            run = run_rule(days, TrailingStop(days, style), board=board_of(code), capital=CAPITAL)
            assert_reconciles(run, days, lot_of(board_of(code)))


@pytest.mark.soak
@pytest.mark.real_data
def test_books_balance_on_three_hundred_codes_over_five_years(real_data_dir: Path) -> None:
    path = real_data_dir / "bars_daily_raw_hs300_2020_2025.csv.gz"
    deals = blocked = 0
    for code in real_bars(path):
        days = real(code, path=path)
        board = board_of(code)
        runs = [
            Strategic(days, strategy, board, CAPITAL, 0).runner(strategy.chosen())(0, len(days))
            for strategy in STRATEGIES.values()
        ]
        runs += [run_rule(days, TrailingStop(days, style), board=board, capital=CAPITAL) for style in STYLES]
        for run in runs:
            assert_reconciles(run, days, lot_of(board))
            deals += len(run.fills)
            blocked += len(run.blocked)
    assert deals > 50_000
    assert blocked > 0
