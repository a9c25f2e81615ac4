"""Orders, lots, limits, suspensions, ex-dates and books."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.calendar import shipped_calendar
from core.market.rules import lot_of
from platform_assets.compute.backtests.days import PER_MILLION, Days, Event
from platform_assets.compute.backtests.engine import Run, run_rule
from platform_assets.compute.backtests.figures import figures_of
from platform_assets.compute.backtests.ledger import fees_of
from platform_assets.compute.backtests.strategies import SignalRule, Signals, strategy_of
from platform_assets.compute.backtests.validation import Strategic
from tests.compute.backtests.days import assert_reconciles, made, s60

DATES = shipped_calendar().last(300, "2026-08-21")
NOTHING = (np.nan,) * 5


def flat(price: float = 10.0, volume: float = 1e6) -> tuple[float, ...]:
    return (price, price + 0.1, price - 0.1, price, volume)


def traded(
    days: Days,
    buys: set[int],
    sells: set[int],
    *,
    board: str = "main",
    capital: int = 10_000_000,
    **how: float,
) -> Run:
    """Signals on the given days."""
    at = np.arange(len(days))[days.bars]
    signals = Signals(np.isin(at, list(buys)), np.isin(at, list(sells)))
    return run_rule(days, SignalRule(days, signals), board=board, capital=capital, **how)


def test_the_vector_of_the_guide_to_the_cent() -> None:
    days = s60()
    run = Strategic(days, strategy_of("ma_cross"), "main", 10_000_000, 0).runner((5, 10))(0, 60)

    deals = [(f.at, f.side, f.price, f.shares, f.fees.total, f.cash) for f in run.fills]
    assert deals == [
        (14, "buy", 2233, 4400, 2554, 172246),
        (23, "sell", 2189, 4400, 7320, 9796526),
        (36, "buy", 1841, 5300, 2537, 36689),
    ]
    assert run.equity[-1] == 13689489
    assert run.blocked == ()
    assert figures_of(run, days).final_capital == 136894.89
    assert_reconciles(run, days)


def test_fees_of_the_guides_example() -> None:
    buy, sell = fees_of(1_000_000, "buy", "2026-01-05"), fees_of(1_100_000, "sell", "2026-01-05")

    assert (buy.commission, buy.stamp, buy.transfer) == (500, 0, 10)
    assert (sell.commission, sell.stamp, sell.transfer) == (500, 550, 11)
    assert 1_100_000 - sell.total - 1_000_000 - buy.total == 98429


@pytest.mark.parametrize(
    ("day", "stamp", "transfer"),
    [
        ("2023-08-25", 1000, 10),
        ("2023-08-28", 500, 10),
        ("2022-04-29", 1000, 10),
        ("2022-04-28", 1000, 20),
        ("2015-07-31", 1000, 0),
    ],
)
def test_fees_are_those_of_the_day(day: str, stamp: int, transfer: int) -> None:
    sold = fees_of(1_000_000, "sell", day)
    assert (sold.stamp, sold.transfer) == (stamp, transfer)
    assert fees_of(1_000_000, "buy", day).stamp == 0


def test_bought_on_a_day_sold_from_the_next_one_on() -> None:
    days = made(DATES[:5], [flat()] * 5)
    run = traded(days, {0}, {0, 1, 2, 3})
    assert [(fill.at, fill.side) for fill in run.fills] == [(1, "buy"), (2, "sell")]


def test_a_signal_of_the_last_day_is_never_filled() -> None:
    run = traded(made(DATES[:3], [flat()] * 3), {2}, set())
    assert (run.fills, run.blocked) == ((), ())


def test_a_purchase_at_the_upper_limit_is_dropped_and_listed() -> None:
    bars = [flat(), (11.0, 11.0, 11.0, 11.0, 100.0), flat(11.5), flat(11.6)]
    run = traded(made(DATES[:4], bars), {0}, set())
    assert run.fills == ()
    assert [(one.at, one.side, one.reason) for one in run.blocked] == [(1, "buy", "limit_up")]


def test_a_sale_at_the_lower_limit_waits_for_a_day_that_takes_it() -> None:
    bars = [flat(), flat(), (9.0, 9.0, 9.0, 9.0, 1.0), (8.1, 8.2, 8.1, 8.1, 1.0), flat(8.0)]
    run = traded(made(DATES[:5], bars), {0}, {1})
    assert [(one.at, one.reason) for one in run.blocked] == [(2, "limit_down"), (3, "limit_down")]
    assert [(fill.at, fill.price) for fill in run.fills if fill.side == "sell"] == [(4, 800)]
    assert_reconciles(run, made(DATES[:5], bars))


def test_suspended_for_a_year_the_purchase_is_dropped_and_the_sale_waits() -> None:
    gap = [NOTHING] * 243
    days = made(DATES[:250], [flat(), flat(), flat(), *gap, *([flat(9.5)] * 4)])
    sold = traded(days, {0}, {2})
    assert {one.reason for one in sold.blocked} == {"suspended"}
    assert len(sold.blocked) == 243
    assert [fill.at for fill in sold.fills] == [1, 246]
    assert_reconciles(sold, days)
    assert len(set(sold.equity[3:246].tolist())) == 1, "worth its last close meanwhile"

    bought = traded(days, {2}, set())
    assert [(one.at, one.side) for one in bought.blocked] == [(3, "buy")]
    assert bought.fills == ()


def test_too_little_cash_for_a_lot_is_said() -> None:
    run = traded(made(DATES[:3], [flat()] * 3), {0}, set(), capital=100_000)
    assert [one.reason for one in run.blocked] == ["insufficient_cash"]


@pytest.mark.parametrize(
    ("board", "capital", "shares"),
    [("main", 250_000, 200), ("gem", 250_000, 200), ("star", 250_000, 249), ("star", 199_999, 0),
     ("bj", 250_000, 249), ("bj", 100_000, 0), ("bj", 100_601, 100)],
)  # fmt: skip
def test_lots_of_the_boards(board: str, capital: int, shares: int) -> None:
    run = traded(made(DATES[:3], [flat()] * 3, limits=False), {0}, set(), board=board, capital=capital)
    assert run.held[-1] == shares


def test_slippage_costs_and_stops_at_the_limit() -> None:
    days = made(DATES[:4], [flat()] * 4)
    run = traded(days, {0}, {1}, slippage_pct=1.0)
    assert [fill.price for fill in run.fills] == [1010, 990]
    far = traded(days, {0}, {1}, slippage_pct=50.0)
    assert [fill.price for fill in far.fills] == [1100, 900]


def test_dividends_and_bonus_shares_come_on_the_ex_date() -> None:
    event = Event(DATES[3], cash_per10=5.0, bonus_per10=10.0)
    reference = [np.nan, 10.0, 10.0, 4.75, 4.8]
    days = made(
        DATES[:5], [flat(), flat(), flat(), flat(4.8), flat(4.8)],
        events=[event], factor=[1, 1, 1, 10 / 4.75, 10 / 4.75], reference=reference,
    )  # fmt: skip
    run = traded(days, {0}, {3})
    before = run.held[2]
    assert run.held[3] == 2 * before
    assert run.cash[3] - run.cash[2] == before * 50
    assert [fill.shares for fill in run.fills] == [before, 2 * before]
    assert_reconciles(run, days)
    # (0.50 + 2 x 4.80) / 10, less fees.
    assert figures_of(run, days).benchmark_return_pct == pytest.approx((4.8 / 4.75 - 1) * 100)
    assert run.trades[0].profit / run.trades[0].cost == pytest.approx(0.01, abs=0.002)


def test_an_ex_date_in_a_suspension_counts_on_the_next_bar_and_not_for_who_buys_then() -> None:
    bars = [flat(), flat(), NOTHING, flat(9.0), flat(9.0)]
    days = made(DATES[:5], bars, events=[Event(DATES[2], cash_per10=10.0)])
    assert days.cash.tolist() == [0, 0, 0, PER_MILLION, 0]
    held = traded(days, {0}, set())
    assert [one.at for one in held.given] == [3]
    late = made(DATES[:5], [flat()] * 5, events=[Event(DATES[2], cash_per10=10.0)])
    assert traded(late, {1}, set()).given == ()


def test_a_step_of_the_factor_without_an_event_keeps_the_value() -> None:
    days = made(
        DATES[:4], [flat(), flat(), flat(5.0), flat(5.0)], factor=[1, 1, 2, 2], reference=[np.nan, 10, 5, 5]
    )
    run = traded(days, {0}, set())
    assert run.equity[2] == run.equity[1]


def test_a_right_is_worth_its_discount() -> None:
    # 10 x 10.00 + 3 x 6.00 over 13: 9.08.
    event = Event(DATES[2], rights_per10=3.0, rights_price=6.0)
    bars = [flat(), flat(), flat(9.08), flat(9.08)]
    days = made(DATES[:4], bars, events=[event], reference=[np.nan, 10, 9.08, 9.08])
    run = traded(days, {0}, set())
    assert run.equity[2] / run.equity[1] == pytest.approx(1.0, abs=0.001)


@pytest.mark.parametrize("cash", [0.0, 5.0])
def test_a_right_without_a_reference_price_keeps_the_value_by_the_factor(cash: float) -> None:
    event = Event(DATES[2], cash_per10=cash, rights_per10=3.0, rights_price=6.0)
    ex_right = (100.0 - cash + 18.0) / 13
    bars = [flat(), flat(), flat(ex_right), flat(ex_right)]
    step = 10 / ex_right
    days = made(
        DATES[:4], bars, events=[event], factor=[1, 1, step, step], reference=[np.nan, 10, np.nan, ex_right]
    )
    run = traded(days, {0}, set())
    assert run.equity[2] / run.equity[1] == pytest.approx(1.0, abs=0.001)


def test_figures_of_a_run_are_those_of_its_equity() -> None:
    days = made(DATES[:4], [flat(), flat(), flat(11.0), flat(9.9)])
    run = traded(days, {0}, set())
    figures = figures_of(run, days)
    equity = run.equity / 100
    assert figures.total_return_pct == pytest.approx((equity[-1] / 100_000 - 1) * 100)
    assert figures.annual_return_pct == pytest.approx(((equity[-1] / 100_000) ** (243 / 3) - 1) * 100)
    assert figures.max_drawdown_pct == pytest.approx((equity[3] / equity[2] - 1) * 100)
    daily = np.diff(equity) / equity[:-1]
    assert figures.sharpe == pytest.approx(daily.mean() / daily.std(ddof=1) * 243**0.5)
    assert (figures.win_rate_pct, figures.profit_factor) == (None, None)
    assert figures.benchmark_return_pct == pytest.approx(-1.0)


def test_a_run_without_a_deal_has_no_ratios() -> None:
    days = made(DATES[:4], [flat()] * 4)
    figures = figures_of(traded(days, set(), set()), days)
    assert (figures.sharpe, figures.win_rate_pct, figures.turnover) == (None, None, 0.0)
    assert (figures.total_return_pct, figures.max_drawdown_pct) == (0.0, 0.0)


@st.composite
def markets(draw: st.DrawFn) -> tuple[str, Days, set[int], set[int]]:
    """Random walks with gaps, sealed days and ex-dates."""
    board = draw(st.sampled_from(["main", "gem", "star", "bj"]))
    size = draw(st.integers(3, 40))
    moves = draw(
        st.lists(
            st.sampled_from([-0.3, -0.2, -0.1, -0.03, 0.0, 0.02, 0.1, 0.2, 0.3]), min_size=size, max_size=size
        )
    )
    gaps = draw(st.sets(st.integers(0, size - 1), max_size=size // 3))
    ex_dates = draw(st.sets(st.integers(0, size - 1), max_size=3))
    price = draw(st.sampled_from([1.15, 7.77, 48.0]))
    bars: list[tuple[float, ...]] = []
    for at, move in enumerate(moves):
        if at in gaps:
            bars.append(NOTHING)
            continue
        opened = max(round(price * (1 + move), 2), 0.02)
        price = max(round(opened * (1 + moves[(at * 7 + 3) % size] / 4), 2), 0.02)
        bars.append((opened, max(opened, price), min(opened, price), price, 1000.0))
    events = [Event(DATES[at], cash_per10=1.2345, bonus_per10=3.0) for at in sorted(ex_dates)]
    days = made(DATES[:size], bars, board=board, events=events)
    return board, days, draw(st.sets(st.integers(0, size - 1))), draw(st.sets(st.integers(0, size - 1)))


@settings(max_examples=80, deadline=None)
@given(markets(), st.sampled_from([250_000, 10_000_000]), st.sampled_from([0.0, 0.3]))
def test_books_balance_and_no_rule_of_the_market_is_broken(
    market: tuple[str, Days, set[int], set[int]], capital: int, slippage: float
) -> None:
    board, days, buys, sells = market
    run = traded(days, buys, sells, board=board, capital=capital, slippage_pct=slippage)
    assert_reconciles(run, days, lot_of(board))
    # Each refusal has its cause in the bar of its day.
    for one in run.blocked:
        opened, up, down = days.open[one.at], days.limit_up[one.at], days.limit_down[one.at]
        holds = {
            "suspended": not days.traded[one.at],
            "limit_up": one.side == "buy" and opened >= up,
            "limit_down": one.side == "sell" and opened <= down,
            "insufficient_cash": one.side == "buy",
        }
        assert holds[one.reason]


@settings(max_examples=25, deadline=None)
@given(markets(), st.integers(2, 40))
def test_what_comes_later_changes_nothing_before(
    market: tuple[str, Days, set[int], set[int]], cut: int
) -> None:
    board, days, buys, sells = market
    cut = min(cut, len(days))
    columns = {name: getattr(days, name)[:cut] for name in Days.__dataclass_fields__}
    whole = traded(days, buys, sells, board=board)
    short = traded(replace(days, **columns), buys, sells, board=board)
    assert short.equity.tolist() == whole.equity[:cut].tolist()
    assert [fill for fill in whole.fills if fill.at < cut] == list(short.fills)
