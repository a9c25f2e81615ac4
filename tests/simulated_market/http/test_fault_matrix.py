"""Every fault x {snapshot, list, bars}: the right typed error, retries where they help, never a
partial frame; and for the faults that no parser can see, the false value that the quality checks must
find."""

import pytest

from core.errors import PayloadError, Refused, Transient, Unavailable
from simulated_market.corrupted_responses import CORRUPTIONS
from simulated_market.faults import KINDS
from tests.simulated_market.http.conftest import bench_of
from tests.simulated_market.http.tiny_world import NOW, TinyWorld

SYMBOL = "sz000001"
CALLS = {
    "tencent-quote": lambda bench: bench.tencent.quotes([SYMBOL]),
    "eastmoney-clist": lambda bench: bench.eastmoney.stock_list(),
    "eastmoney-kline": lambda bench: bench.eastmoney.daily_bars(SYMBOL),
}
SITES = list(CALLS)
LATE = "2026-08-20"
"""A trade date whose late figures are out at NOW."""
CALLS |= {
    "eastmoney-margin": lambda bench: bench.eastmoney.margin(LATE),
    "sse-margin": lambda bench: bench.sse.margin(LATE),
    "szse-margin": lambda bench: bench.szse.margin(LATE),
    "bse-margin": lambda bench: bench.bse.margin(LATE),
    "cninfo-announcements": lambda bench: bench.cninfo.announcements("2026-07-01", LATE),
    "sse-deals": lambda bench: bench.sse.block_trades("2026-05-06", LATE),
    "szse-deals": lambda bench: bench.szse.block_trades("2026-05-06", LATE),
    "eastmoney-popularity": lambda bench: bench.eastmoney.popularity(),
    "ths-hot-list": lambda bench: bench.ths.hot_list(),
    "sina-quote": lambda bench: bench.sina.quotes([SYMBOL]),
    "sina-bars": lambda bench: bench.sina.daily_bars(SYMBOL),
    "chinabond-curve": lambda bench: bench.chinabond.government_curve("2026-08-01", LATE),
}

# kind -> (args, error, attempts). Two attempts: then the host cools down.
WIRE = {
    "timeout": ({}, Transient, 2),
    "reset": ({}, Transient, 2),
    "truncate": ({"keep": 0.5}, Transient, 2),
    "empty": ({}, Transient, 2),
    "slow": ({"bytes_per_second": 20}, Transient, 2),
    "html": ({}, Refused, 1),
    "garbage": ({}, PayloadError, 1),
    "status-403": ({"code": 403}, Refused, 1),
    "status-456": ({"code": 456}, Refused, 1),
    "status-429": ({"code": 429}, Transient, 2),
    "status-500": ({"code": 500}, Transient, 2),
    "status-501": ({"code": 501}, Transient, 2),
    "status-503": ({"code": 503}, Transient, 2),
}
SLOW = ("timeout", "slow")
# kind -> args of faults that falsify facts and that a parser can see
VISIBLE = {
    "negative_price": {"code": "000001"},
    "lots_for_shares": {"board": "main"},
    "double_rows": {},
    "wrong_instrument": {"serve": "sh000001", "under": "000001"},
}
INVISIBLE = {"stale_day", "swap_open_close", "override_bar"}
# Not for this side: a command of the terminal protocol, lists with a count, two requests that have a second
# form (tests/witness/test_dialects.py), and reports alone (test_conditions.py).
ELSEWHERE = {"dead", "cut_list", "unknown_report", "unregistered", "no_series", "late_record", "untidy_rows"}


def test_the_matrix_covers_every_kind():
    reported = {name.partition("-")[0] for name in WIRE} | set(VISIBLE) | INVISIBLE | ELSEWHERE
    # Every dataset gets well-formed corrupted responses in tests/pipeline/test_silent_corruptions.py.
    assert reported | CORRUPTIONS.keys() == KINDS


@pytest.fixture
def hasty(market, name):
    """A transport with short timeouts where a timeout is tested, and with generous ones elsewhere."""
    patience = 0.4 if name in SLOW else 10.0
    bench = bench_of(market, http_timeout=patience, http_connect_timeout=patience)
    yield bench
    bench.transport.close()


@pytest.mark.parametrize("site", CALLS)
@pytest.mark.parametrize("name", WIRE)
def test_faults_of_the_wire(hasty, site, name):
    args, error, attempts = WIRE[name]
    hasty.fault(name.partition("-")[0], **args)

    with pytest.raises(error) as caught:
        CALLS[site](hasty)

    upstream = site.partition("-")[0]
    assert caught.value.source == upstream
    assert caught.value.fetch_id == hasty.log.items[-1].fetch_id
    assert [fetch.attempt for fetch in hasty.log.items] == list(range(1, attempts + 1))
    assert len(hasty.time.slept) == attempts - 1
    counters = hasty.gate.counters()[upstream]
    # The second retry found the host cooling down.
    assert (counters["requests"], counters["failures"]) == (attempts, attempts)


@pytest.mark.parametrize("site", CALLS)
@pytest.mark.parametrize(
    "name", [name for name, row in WIRE.items() if row[1] is Transient and name not in SLOW]
)
def test_a_passing_accident_costs_one_retry(hasty, site, name):
    _one_accident(hasty, site, name)


@pytest.mark.parametrize(
    "site", [site if at < 2 else pytest.param(site, marks=pytest.mark.soak) for at, site in enumerate(CALLS)]
)
@pytest.mark.parametrize("name", SLOW)
def test_a_passing_wait_costs_one_retry(hasty, site, name):
    """All calls wait in the same transport, so two of them are enough; the rest run in the soak."""
    _one_accident(hasty, site, name)


def _one_accident(hasty, site, name):
    args, _, _ = WIRE[name]
    hasty.fault(name.partition("-")[0], count=1, **args)

    frame = CALLS[site](hasty)

    assert len(frame) > 0
    assert hasty.outcomes()[:2] == ["transient", "ok"]
    assert hasty.gate.breakers()["em_breaker"]["failure_count"] == 0


@pytest.mark.parametrize("site", CALLS)
def test_a_truncated_body_with_a_true_length_is_rejected(bench, site):
    bench.fault("truncate", keep=0.5, honest=True)

    with pytest.raises(PayloadError):
        CALLS[site](bench)
    assert bench.outcomes() == ["payload"]


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("name", VISIBLE)
def test_false_facts_that_a_parser_can_see(bench, site, name):
    bench.fault(name, **VISIBLE[name])
    if (name, site) == ("wrong_instrument", "eastmoney-clist"):
        # A list row carries nothing but the code that was asked for: only another source shows it.
        row = CALLS[site](bench).set_index("symbol").loc[SYMBOL]
        assert row["name"] == "上证指数"
        return
    if (name, site) == ("negative_price", "eastmoney-clist"):  # one odd row among many costs that row
        assert SYMBOL not in set(CALLS[site](bench)["symbol"])
        assert bench.outcomes() == ["ok"]
        return
    if (name, site) == ("double_rows", "tencent-quote"):  # a repeated row counts once
        assert CALLS[site](bench)["symbol"].tolist() == [SYMBOL]
        assert bench.outcomes() == ["ok"]
        return

    with pytest.raises(PayloadError):
        CALLS[site](bench)
    # Twice the rows of a list are wrong by its own count, which is known when the last page is in.
    listed = (name, site) == ("double_rows", "eastmoney-clist")
    assert bench.outcomes() == ["ok" if listed else "payload"]


def test_shares_in_place_of_lots_on_the_star_board_alone(bench):
    bench.fault("lots_for_shares", board="star")

    assert len(bench.tencent.quotes([SYMBOL])) == 1
    for call in (
        lambda: bench.tencent.quotes(["sh688981"]),
        lambda: bench.tencent.daily_bars("sh688981"),
        lambda: bench.eastmoney.daily_bars("sh688981"),
    ):
        with pytest.raises(PayloadError):
            call()
    # In the list of the market they are single rows, of pages that are accepted.
    listed = bench.eastmoney.stock_list()
    assert len(listed)
    assert not listed["symbol"].str.startswith("sh688").any()


@pytest.mark.parametrize("site", SITES)
def test_a_stale_day_shows_in_the_date(bench, site):
    undamaged = CALLS[site](bench)
    bench.fault("stale_day")

    stale = CALLS[site](bench)

    column = "date" if site.endswith("kline") else "trade_date"
    assert undamaged[column].max() == "2026-08-21"
    assert stale[column].max() == "2026-08-20"


@pytest.mark.parametrize("site", SITES)
def test_open_and_close_exchanged_pass_every_parser(bench, site):
    undamaged = CALLS[site](bench)
    bench.fault("swap_open_close")

    swapped = CALLS[site](bench)

    close = "close" if site.endswith("kline") else "price"
    trading = undamaged["open"].notna()
    assert list(swapped[close][trading]) == list(undamaged["open"][trading])
    assert list(swapped["open"][trading]) == list(undamaged[close][trading])


@pytest.mark.parametrize("site", SITES)
def test_a_corrected_bar(bench, site):
    undamaged = CALLS[site](bench)
    close = "close" if site.endswith("kline") else "price"
    newest = undamaged[undamaged["code"] == "000001"].iloc[-1][close]
    bench.fault("override_bar", code="000001", date=20260821, close=newest + 0.5)

    corrected = CALLS[site](bench)

    assert corrected[corrected["code"] == "000001"].iloc[-1][close] == pytest.approx(newest + 0.5)
    others = corrected[close].iloc[:-1].notna().sum() if site.endswith("kline") else 0
    assert others == (len(undamaged) - 1 if site.endswith("kline") else 0)


def test_a_list_that_ends_early_is_an_error(big_bench):
    big_bench.fault("cut_list", "eastmoney", rows=100)
    with pytest.raises(PayloadError, match="100 of 23"):
        big_bench.eastmoney.stock_list()

    big_bench.fault("cut_list", "tencent", rows=100)
    with pytest.raises(PayloadError, match="100 of 23"):
        big_bench.tencent.rank()


def test_a_board_list_takes_what_it_receives(bench):
    bench.fault("cut_list", "eastmoney", rows=1)

    assert len(bench.eastmoney.boards("industry")) == 1


def test_retry_after_is_honoured_and_bounded(bench):
    bench.fault("status", code=429, retry_after=7, count=1)
    bench.tencent.quotes([SYMBOL])
    assert bench.time.slept == [7.0]

    bench.fault("status", code=429, retry_after=3600)
    with pytest.raises(Transient):
        bench.tencent.quotes([SYMBOL])
    assert bench.time.slept == [7.0]


def test_a_refused_portal_is_left_alone_and_the_quote_site_is_not(bench):
    bench.fault("status", "eastmoney", code=403)
    with pytest.raises(Refused):
        bench.eastmoney.daily_bars(SYMBOL)
    bench.market.faults.clear()

    # The host of past bars is a family of its own.
    with pytest.raises(Unavailable):
        bench.eastmoney.fund_flow_daily(SYMBOL)
    assert bench.market.calls()["eastmoney"] == {"kline": 1}
    assert len(bench.eastmoney.stock_list()) > 0

    bench.fault("status", "eastmoney", code=403)
    with pytest.raises(Refused):
        bench.eastmoney.stock_list()
    bench.market.faults.clear()
    with pytest.raises(Unavailable):
        bench.eastmoney.ulist([SYMBOL])
    assert len(bench.tencent.quotes([SYMBOL])) == 1


def test_other_worlds_are_untouched_by_a_distorted_answer(bench):
    bench.fault("swap_open_close", count=1)
    first = bench.eastmoney.stock_list().set_index("symbol").loc[SYMBOL]

    second = bench.eastmoney.stock_list().set_index("symbol").loc[SYMBOL]

    quote = TinyWorld().quote(TinyWorld().find(SYMBOL), NOW)
    assert (second["open"], second["price"]) == (quote.open / 10_000, quote.price / 10_000)
    assert (first["open"], first["price"]) == (quote.price / 10_000, quote.open / 10_000)
