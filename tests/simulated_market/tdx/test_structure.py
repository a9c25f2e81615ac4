"""Answers of the server have the bytes of recorded ones: the same facts, rendered, give the same body."""

import struct
from datetime import datetime

import numpy as np
import pytest

from resources.upstreams.tdx import transactions
from resources.upstreams.tdx.instruments import instrument
from resources.upstreams.tdx.primitives import read_varints
from simulated_market.tdx import bars, corporate, encoding, intraday, quotes
from simulated_market.tdx.state import RequestView
from simulated_market.world.model import Bars, ExRight, Minutes, Quote, Security
from tests.simulated_market.tdx.market import open_market
from tests.simulated_market.tdx.tiny_world import BANK, GEM, STAR, TinyWorld
from tests.simulated_market.tdx.tiny_world import PINGAN as TINY_PINGAN
from tests.upstreams.tdx.recorded import document, framed, payload, sample
from tests.upstreams.tdx.test_recorded import TWENTY

PINGAN = Security("000001", "SZ", "stock", "main", 2, 19910403)
PUFA = Security("600000", "SH", "stock", "main", 2, 19991110)
MOUTAI = instrument("sh600519")
SSE = Security("000001", "SH", "index", "", 2, 19910715)
NOW = datetime(2026, 3, 6, 16, 0)


class Recorded(TinyWorld):
    """A world that knows exactly what a recording says."""

    def __init__(self, **facts) -> None:
        super().__init__()
        self.facts = facts

    def bars(self, security, now):
        return self.facts["bars"]

    def exrights(self, security, now):
        return self.facts["exrights"]

    def quote(self, security, now):
        return self.facts["quotes"].get(security.symbol)

    def find(self, symbol):
        return {each.symbol: each for each in (PINGAN, PUFA, SSE)}.get(symbol)

    def minutes(self, security, date, now):
        return self.facts["minutes"]


def day_bars(rows, factor: int) -> Bars:
    """Rows (date, open, high, low, close, volume, amount, up, down), prices in CNY."""
    table = list(zip(*rows, strict=True))
    prices = [np.round(np.array(values) * 10_000).astype(np.int64) for values in table[1:5]]
    size = len(rows)
    return Bars(
        np.array(table[0]),
        *prices,
        prices[3],
        np.array(table[5]) * factor,
        np.array(table[6], dtype=float),
        np.ones(size, dtype=bool),
        np.ones(size),
        np.array(table[7]),
        np.array(table[8]),
    )


def test_day_bars_of_a_stock() -> None:
    rows = [
        (20241016, 11.80, 12.18, 11.77, 12.06, 1914493, 2301340928, 0, 0),
        (20241017, 12.07, 12.23, 11.93, 11.95, 1653708, 1993261696, 0, 0),
        (20241018, 11.91, 12.18, 11.68, 12.04, 2604654, 3105820928, 0, 0),
    ]
    view = RequestView(Recorded(bars=day_bars(rows, 100)), NOW)
    recorded = sample("kline_body_a")

    body = bars.render(view, PINGAN, 9, 0, 800, absolute=False)

    assert body[2:] == recorded[2 : len(body)]


def test_day_bars_of_an_index() -> None:
    rows = [
        (20260304, 4087.63, 4106.04, 4055.41, 4082.47, 7651695, 1113082036224, 612, 1686),
        (20260305, 4109.78, 4125.62, 4090.62, 4108.57, 6897465, 1068043730944, 1726, 562),
        (20260306, 4085.90, 4129.46, 4085.90, 4124.19, 6467657, 978805915648, 1808, 492),
    ]
    view = RequestView(Recorded(bars=day_bars(rows, 10_000)), NOW)
    recorded = sample("eltdx_kline_INDEX_DAY_PAYLOAD_HEX")

    body = bars.render(view, SSE, 9, 0, 800, absolute=False)

    assert body == recorded


def test_capital_changes() -> None:
    recorded = payload("tdx_gbbq_sz000001.hex")
    events = [
        ExRight(day, category, (f1, f2, f3, f4))
        for _, _, _, day, category, f1, f2, f3, f4 in struct.iter_unpack("<B6sBIB4f", recorded[11:])
    ]

    assert corporate.xdxr(RequestView(Recorded(exrights=events), NOW), 0, PINGAN) == recorded


def test_a_quote_record() -> None:
    """600000 on 2026-06-22; the server's two first bytes, its activity counter and two unknown fields are
    its own."""
    levels = {
        "bids": ((9.18, 2112), (9.17, 432), (9.16, 770), (9.15, 1174), (9.14, 1364)),
        "asks": ((9.19, 954), (9.20, 2857), (9.21, 3200), (9.22, 2967), (9.23, 2633)),
    }
    book = {
        side: tuple((round(price * 10_000), lots * 100) for price, lots in rows)
        for side, rows in levels.items()
    }
    quote = Quote(
        security=PUFA, name="浦发银行", date=20260622, time=datetime(2026, 6, 22, 14, 4, 13),
        price=91_900, preclose=90_900, open=90_300, high=92_200, low=89_800,
        volume=59_401_800, amount=539929792.0, inner_volume=32_486_100, outer_volume=26_915_800,
        suspended=False, limit_up=None, limit_down=None, turnover_pct=None, volume_ratio=None,
        speed_pct=0.55, open_amount=6_330_700.0, **book,
    )  # fmt: skip
    recorded = payload("tdx_quotes_600000.json", "body_hex")

    body = quotes.render(RequestView(Recorded(quotes={"sh600000": quote}), NOW), [(1, "600000")], levels=5)

    # Head and prices; then time, current volume and the outer volume (one lot less than the rest) differ.
    assert body[2:11] == recorded[2:11]
    prices = slice(13, 13 + 6)
    assert body[prices] == recorded[prices]
    book_bytes = encoding.varints(
        *[n for k in range(5) for n in (-k - 1, k, levels["bids"][k][1], levels["asks"][k][1])]
    )
    assert book_bytes in body
    assert book_bytes in recorded
    assert body[-4:-2] == recorded[-4:-2]
    assert len(body) == pytest.approx(len(recorded), abs=3)


def test_minutes_of_a_past_date() -> None:
    """Rows are price step, a number of unknown meaning, volume: the first and the last come back."""
    from resources.upstreams.tdx import minutes
    from resources.upstreams.tdx.instruments import instrument

    recorded = sample("eltdx_minute_PAYLOAD_HEX")
    facts = minutes.parse_history(recorded, instrument("sz000001"), "2026-03-06")
    price = np.round(np.array(facts["price"]) * 10_000).astype(np.int64)
    volume = np.array(facts["volume"])
    zeros = np.zeros(240)
    path = Minutes(np.arange(240), price, price, price, price, volume, zeros)
    rows = [(20260306, 10.78, 10.84, 10.77, 10.82, 476576, 514733536, 0, 0)]
    view = RequestView(Recorded(minutes=path, bars=day_bars(rows, 100)), NOW)

    body = intraday.minutes_of(view, PINGAN, 20260306)

    assert body[:2] == recorded[:2]
    again = minutes.parse_history(body, instrument("sz000001"), "2026-03-06")
    assert (again["price"], again["volume"]) == (facts["price"], facts["volume"])
    assert body[6:8] == recorded[6:8]


def test_finance_lists_and_transactions_have_the_recorded_layout() -> None:
    """Sizes, counts and the places of codes and times; figures are the world's."""
    with open_market() as market:
        market.client.finance(BANK.symbol)
        finance = market.log.items[-1].body
        market.client.security_list("SZ")
        listed = market.log.items[-1].body
        market.client.transactions(BANK.symbol)
        ticks = market.log.items[-1].body

    known = payload("tdx_finance_raw.json", "finance_600519")
    assert len(finance) == len(known)
    assert (finance[:3], finance[3:9]) == (known[:3], BANK.code.encode())
    known = payload("tdx_securities_raw.json", "list_sz_page0")
    for body in (known, listed):
        count = int.from_bytes(body[:2], "little")
        records = [body[2 + 29 * at : 31 + 29 * at] for at in range(count)]
        assert len(records[-1]) == 29
        assert all(one[:6].isdigit() and one[6:8] == b"\x64\x00" for one in records)
        assert {one[20] for one in records} <= {0, 2, 3}  # decimals
    known = payload("tdx_ticks_raw.json", "ticks_600519")
    for body, what in ((known, MOUTAI), (ticks, instrument(BANK.symbol))):
        rows = transactions.parse_transactions(body, transactions.TODAY, what, "2026-03-06", limit=2000)
        assert int.from_bytes(body[:2], "little") == len(rows["price"])
        assert 565 <= int.from_bytes(body[2:4], "little") <= 900


def mirrors(body: bytes, symbols: list[str]) -> dict[str, bool]:
    """Symbol -> whether its row of 0x054c holds minus the price behind the time (else zero)."""
    found = {}
    for symbol in symbols:
        values, _ = read_varints(body, body.index(symbol[2:].encode()) + 8, 7)
        assert values[6] in {0, -values[0]}, symbol
        found[symbol] = values[6] == -values[0] != 0
    return found


def test_snapshots_mirror_the_price_but_on_chinext_as_recorded() -> None:
    recorded_page = framed(bytes.fromhex(document("tdx_snapshots_20_stocks.json")["hex"]))
    known = mirrors(recorded_page, TWENTY)
    assert {symbol for symbol, mirrored in known.items() if not mirrored} == {"sz300059", "sz300673"}

    traded = [BANK, TINY_PINGAN, STAR, GEM]
    with open_market() as market:
        market.client.snapshots([one.symbol for one in traded])
        body = market.log.items[-1].body
    ours = mirrors(body, [one.symbol for one in traded])
    assert ours == {one.symbol: one.board != "gem" for one in traded}
