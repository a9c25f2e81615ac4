"""Any facts, rendered by the server and parsed by the client, come back to the precision of the wire."""

import struct
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.upstreams.tdx import bars, transactions
from resources.upstreams.tdx import quotes as quote_calls
from resources.upstreams.tdx.instruments import instrument
from simulated_market.tdx import bars as bar_answers
from simulated_market.tdx import intraday, quotes
from simulated_market.tdx.state import RequestView
from simulated_market.world.model import Bars, Quote, Security, Ticks
from tests.simulated_market.tdx.tiny_world import BANK, BOND, ETF, INDEX, NOW, STAR, TinyWorld

SECURITIES = st.sampled_from([BANK, STAR, ETF, BOND])


class Facts(TinyWorld):
    """Knows one series."""

    def __init__(self, *, series: Bars | None = None, quote: Quote | None = None, ticks: Ticks | None = None):
        super().__init__()
        self.series, self.one, self.trades = series, quote, ticks

    def bars(self, security: Security, now: datetime) -> Bars:
        return self.series if self.series is not None else super().bars(security, now)

    def quote(self, security: Security, now: datetime) -> Quote | None:
        return self.one

    def ticks(self, security: Security, date: int, now: datetime) -> Ticks | None:
        return self.trades


def float32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def tick_of(security: Security) -> int:
    return 10 if security.decimals == 3 else 100


@st.composite
def series(draw, security: Security) -> Bars:
    """Day bars whose amount fits their prices; some days without trading."""
    size = draw(st.integers(1, 30))
    tick = tick_of(security)
    first = draw(st.dates(date(1991, 1, 1), date(2030, 1, 1)))
    days = [int((first + timedelta(days=at)).strftime("%Y%m%d")) for at in range(size)]
    rows = []
    for _ in range(size):
        prices = sorted(draw(st.lists(st.integers(100, 500_000), min_size=4, max_size=4)))
        low, one, two, high = (price * tick for price in prices)
        volume = draw(st.integers(0, 10**7)) * 100
        rows.append((one, high, low, two, volume, round(volume * (one + two) / 20_000, 2)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    zeros = np.zeros(size, dtype=np.int64)
    return Bars(
        np.array(days), *columns[:4], columns[3], *columns[4:], columns[4] > 0, zeros, zeros + 7, zeros + 9
    )


@given(st.data())
def test_day_bars(data: st.DataObject) -> None:
    security = data.draw(SECURITIES)
    facts = data.draw(series(security))
    start, count = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 30))
    view, of = RequestView(Facts(series=facts), NOW), bars.PERIODS["day"]
    stop = max(0, len(facts) - start)
    kept = slice(max(0, stop - count), stop)

    for absolute in (False, True):
        body = bar_answers.render(view, security, 9, start, count, absolute=absolute)
        columns = bars.parse_bars(body, instrument(security.symbol), of, limit=count, absolute=absolute)

        # A bar of suspended days alone has its last close for all prices; here each day is its own bar.
        traded = facts.traded[kept]
        for name in ("open", "high", "low", "close"):
            wire = np.round(np.array(columns[name]) * 10_000)
            assert np.array_equal(wire[traded], getattr(facts, name)[kept][traded])
        volumes = facts.volume[kept].tolist()
        expected = [int(float32(volume)) for volume in volumes] if absolute else volumes
        assert columns["volume"] == pytest.approx(expected, rel=0 if absolute else 2**-23)
        assert columns["amount"] == [round(float32(amount), 2) for amount in facts.amount[kept]]


@given(st.data())
def test_index_bars(data: st.DataObject) -> None:
    facts = data.draw(series(INDEX))
    volume = np.maximum(facts.volume, 1) * 10_000
    facts = replace(facts, volume=volume, amount=volume * 14.5, traded=volume > 0)
    body = bar_answers.render(RequestView(Facts(series=facts), NOW), INDEX, 9, 0, 800, absolute=False)

    columns = bars.parse_bars(body, instrument(INDEX.symbol), bars.PERIODS["day"])

    assert np.array_equal(np.round(np.array(columns["close"]) * 10_000), facts.close)
    assert columns["volume"] == pytest.approx(volume.tolist(), rel=2**-23)
    assert set(columns["up_count"]) | set(columns["down_count"]) == {7, 9}


@given(st.data())
def test_quotes(data: st.DataObject) -> None:
    security = data.draw(SECURITIES)
    tick = tick_of(security)
    low, one, two, high = (
        price * tick for price in sorted(data.draw(st.lists(st.integers(100, 10**6), min_size=4, max_size=4)))
    )
    volume = data.draw(st.integers(0, 10**8)) * 100
    levels = st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), max_size=5)
    bids, asks = (tuple((price * tick, lots * 100) for price, lots in data.draw(levels)) for _ in range(2))
    moment = data.draw(st.datetimes(datetime(2026, 3, 6, 9), datetime(2026, 3, 6, 14, 59, 59)))
    quote = Quote(
        security=security, name="", date=20260306, time=moment, price=two,
        preclose=data.draw(st.integers(1, 10**6)) * tick, open=one, high=high, low=low, volume=volume,
        amount=round(volume * (one + two) / 20_000, 2),
        inner_volume=volume // 3, outer_volume=volume - volume // 3,
        bids=bids, asks=asks, suspended=False, limit_up=None, limit_down=None, turnover_pct=None,
        volume_ratio=None, speed_pct=data.draw(st.integers(-2000, 2000)) / 100, open_amount=0.0,
    )  # fmt: skip
    market = {"SZ": 0, "SH": 1}[security.market]
    body = quotes.render(RequestView(Facts(quote=quote), NOW), [(market, security.code)], levels=5)

    columns = quote_calls.parse_quotes(body, [instrument(security.symbol)])

    for name, fact in (
        ("price", two),
        ("last_close", quote.preclose),
        ("open", one),
        ("high", high),
        ("low", low),
    ):
        assert round(columns[name][0] * 10_000) == fact
    assert (columns["volume"], columns["amount"]) == ([volume], [round(float32(quote.amount), 2)])
    assert columns["quote_time"] == [moment.strftime("%H:%M:%S")]
    assert columns["speed_pct"] == [quote.speed_pct]
    for side, facts in (("bid", bids), ("ask", asks)):
        read = [(round(columns[f"{side}{n}"][0] * 10_000), columns[f"{side}{n}_vol"][0]) for n in range(1, 6)]
        assert [level for level in read if level[1]] == list(facts)


@given(st.data())
def test_transactions(data: st.DataObject) -> None:
    security = data.draw(SECURITIES)
    row = st.tuples(
        st.integers(565, 900),
        st.integers(1, 10**5),
        st.integers(0, 10**4),
        st.integers(0, 10**4),
        st.integers(0, 2),
    )
    rows = sorted(data.draw(st.lists(row, min_size=1, max_size=40)), key=lambda each: each[0])
    minute, price, lots, orders, side = (np.array(column) for column in zip(*rows, strict=True))
    facts = Ticks(minute, np.zeros(len(rows)), price * tick_of(security), lots * 100, orders, side)
    view, what = RequestView(Facts(ticks=facts), NOW), instrument(security.symbol)

    for form, day in (
        (transactions.TODAY, None),
        (transactions.HISTORY, 20260306),
        (transactions.HISTORY_ORDERS, 20260306),
    ):
        body = intraday.transactions(view, security, day, start=0, count=form.page, orders=form.orders)
        columns = transactions.parse_transactions(body, form, what, "2026-03-06", limit=form.page)

        assert [round(value * 10_000) for value in columns["price"]] == facts.price.tolist()
        assert columns["volume"] == facts.volume.tolist()
        assert columns["side"] == side.tolist()
        assert [int(text[:2]) * 60 + int(text[3:5]) for text in columns["time"]] == minute.tolist()
        if form.orders:
            assert columns["orders"] == orders.tolist()
