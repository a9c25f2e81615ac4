"""What the server says is the world, to the precision of the wire: every call, read by the client."""

import struct
from datetime import datetime

import numpy as np
import pytest

from core.clock import FrozenClock
from simulated_market.faults import FaultPlan
from simulated_market.tdx.responder import BadRequest, Responder
from simulated_market.world.model import PRICE_UNIT
from tests.simulated_market.tdx.market import open_market
from tests.simulated_market.tdx.tiny_world import (
    ALL,
    BANK,
    BEIJING,
    BOND,
    DAYS,
    ETF,
    GONE,
    INDEX,
    NOW,
    PINGAN,
    STAR,
    TinyWorld,
)

WORLD = TinyWorld()
NEWEST = "2026-03-06"


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


@pytest.mark.parametrize("security", [BANK, PINGAN, STAR, ETF, BOND, BEIJING], ids=lambda s: s.symbol)
def test_day_bars_are_the_world(security) -> None:
    with open_market() as market:
        frame = market.client.bars(security.symbol, count=DAYS)
        absolute = market.client.bars_absolute(security.symbol, count=DAYS)
    bars = WORLD.bars(security, NOW)

    assert frame["date"].str.replace("-", "").astype("int64").tolist() == bars.date.tolist()
    for name in ("open", "high", "low", "close"):
        assert np.array_equal(np.round(frame[name] * PRICE_UNIT), getattr(bars, name))
        assert frame[name].equals(absolute[name])
    assert frame["volume"].tolist() == bars.volume.tolist()
    # The newer call counts shares, which float32 rounds above 2**24.
    assert absolute["volume"].tolist() == [int(float32(volume)) for volume in bars.volume]
    assert frame["amount"].tolist() == [round(float32(amount), 2) for amount in bars.amount]


def test_index_bars_are_the_world() -> None:
    with open_market() as market:
        frame = market.client.index_bars(INDEX.symbol, count=DAYS)
    bars = WORLD.bars(INDEX, NOW)

    assert np.array_equal(np.round(frame["close"] * PRICE_UNIT), bars.close)
    assert frame["volume"].tolist() == bars.volume.tolist()
    assert frame["up_count"].tolist() == bars.up_count.tolist()
    assert frame["down_count"].tolist() == bars.down_count.tolist()


def test_a_suspended_day_is_a_bar_without_volume() -> None:
    with open_market() as market:
        bar = market.client.bars(PINGAN.symbol, count=3).iloc[0]

    assert (bar["volume"], bar["amount"]) == (0, 0.0)
    assert bar["open"] == bar["high"] == bar["low"] == bar["close"] > 0


@pytest.mark.parametrize("period", ["week", "month", "quarter", "year"])
def test_longer_bars_are_made_of_days(period: str) -> None:
    with open_market() as market:
        days = market.client.bars(PINGAN.symbol, count=DAYS)
        frame = market.client.bars(PINGAN.symbol, period, count=DAYS)
    calendar = (
        days["date"]
        .astype("datetime64[s]")
        .dt.to_period({"week": "W", "month": "M", "quarter": "Q", "year": "Y"}[period])
    )
    traded = days[days["volume"] > 0]
    groups = traded.groupby(calendar[traded.index])

    assert frame["date"].tolist() == days.groupby(calendar)["date"].last().tolist()
    assert frame["open"].tolist() == groups["open"].first().tolist()
    assert frame["high"].tolist() == groups["high"].max().tolist()
    assert frame["low"].tolist() == groups["low"].min().tolist()
    assert frame["close"].tolist() == groups["close"].last().tolist()
    assert frame["volume"].tolist() == pytest.approx(groups["volume"].sum().tolist(), rel=2**-23)


@pytest.mark.parametrize(
    ("period", "bars_a_day"), [("1m", 240), ("5m", 48), ("15m", 16), ("30m", 8), ("60m", 4)]
)
def test_minute_bars_make_up_the_day(period: str, bars_a_day: int) -> None:
    with open_market() as market:
        day = market.client.bars(BANK.symbol, count=1).iloc[0]
        frame = market.client.bars(BANK.symbol, period, count=bars_a_day)

    assert set(frame["datetime"].str[:10]) == {NEWEST}
    assert frame["datetime"].iloc[-1] == f"{NEWEST} 15:00:00"
    assert frame["volume"].sum() == pytest.approx(day["volume"], rel=1e-6)
    assert (frame["open"].iloc[0], frame["close"].iloc[-1]) == (day["open"], day["close"])
    assert (frame["high"].max(), frame["low"].min()) == (day["high"], day["low"])


def test_minute_bars_step_over_the_suspended_day() -> None:
    with open_market() as market:
        frame = market.client.bars(PINGAN.symbol, "60m", count=16)

    assert sorted(set(frame["datetime"].str[:10])) == ["2026-03-02", "2026-03-03", "2026-03-05", NEWEST]


def test_quotes_are_the_world() -> None:
    with open_market() as market:
        frame = market.client.quotes([each.symbol for each in ALL]).set_index("symbol")
    for security in ALL:
        quote, row = WORLD.quote(security, NOW), frame.loc[security.symbol]
        if quote is None:
            assert row["unknown"]
            continue
        for ours, theirs in (
            ("price", "price"),
            ("last_close", "preclose"),
            ("open", "open"),
            ("low", "low"),
        ):
            assert round(row[ours] * PRICE_UNIT) == getattr(quote, theirs)
        assert row["amount"] == round(float32(quote.amount), 2)
        assert row["volume"] == quote.volume
        assert abs(row["inner_volume"] + row["outer_volume"] - row["volume"]) <= 100
        # Stamped after the session after hours, each on its own.
        assert row["quote_time"][:5] == "15:33"
        assert (row["up_count"], row["down_count"]) == (quote.up_count, quote.down_count)
        bids = [
            (round(row[f"bid{n}"] * PRICE_UNIT), row[f"bid{n}_vol"])
            for n in range(1, 6)
            if row[f"bid{n}_vol"]
        ]
        assert bids == list(quote.bids)
        asks = [
            (round(row[f"ask{n}"] * PRICE_UNIT), row[f"ask{n}_vol"])
            for n in range(1, 6)
            if row[f"ask{n}_vol"]
        ]
        assert asks == list(quote.asks)


def test_a_suspended_security_has_a_last_close_and_no_day() -> None:
    with open_market(now=datetime(2026, 3, 4, 16, 0)) as market:
        row = market.client.quotes([PINGAN.symbol]).iloc[0]

    assert row["suspended"]
    assert not row["unknown"]
    assert (row["open"], row["volume"]) == (0.0, 0)
    assert row["last_close"] > 0


def test_a_delisted_and_a_never_known_code_are_unknown_and_shift_no_other_row() -> None:
    symbols = [GONE.symbol, BANK.symbol, "sh600999", STAR.symbol, "sz300999"]
    with open_market() as market:
        frame = market.client.quotes(symbols)
        snapshots = market.client.snapshots(symbols)

    for each in (frame, snapshots):
        assert each["symbol"].tolist() == symbols
        assert each["unknown"].tolist() == [True, False, True, False, True]
        assert each["price"].gt(0).tolist() == [False, True, False, True, False]


def test_snapshots_are_quotes_with_one_level() -> None:
    symbols = [each.symbol for each in ALL]
    with open_market() as market:
        quotes, snapshots = market.client.quotes(symbols), market.client.snapshots(symbols)

    shared = [name for name in snapshots if name not in {"limit_up_count", "limit_down_count"}]
    assert snapshots[shared].equals(quotes[shared])


@pytest.mark.parametrize("layout", [True, False], ids=["with head", "without head"])
@pytest.mark.parametrize("security", [BANK, ETF], ids=lambda s: s.symbol)
def test_minutes_are_the_world(security, layout: bool) -> None:
    with open_market(server={"quote_head": layout}) as market:
        today = market.client.minutes(security.symbol)
        past = market.client.minutes(security.symbol, NEWEST)
        averages = market.client.minutes(security.symbol, averages=True)
    path = WORLD.minutes(security, 20260306, NOW)

    assert np.array_equal(np.round(today["price"] * PRICE_UNIT), path.price)
    assert today.equals(past)
    assert averages[["datetime", "price", "volume"]].equals(today[["datetime", "price", "volume"]])
    assert today["volume"].sum() == path.volume.sum()
    mean = np.cumsum(path.amount) / np.cumsum(path.volume)
    assert np.allclose(averages["average"], mean, atol=1e-4)


def test_minutes_of_an_unfinished_day_end_now() -> None:
    with open_market(now=datetime(2026, 3, 6, 10, 0)) as market:
        assert market.client.minutes(BANK.symbol)["datetime"].iloc[-1] == f"{NEWEST} 10:00:00"


def test_transactions_are_the_world() -> None:
    with open_market() as market:
        today = market.client.transactions(BANK.symbol)
        past = market.client.transactions(BANK.symbol, NEWEST)
        counted = market.client.transactions(BANK.symbol, NEWEST, orders=True)
        auction = market.client.auction(BANK.symbol)
    ticks = WORLD.ticks(BANK, 20260306, NOW)

    assert np.array_equal(np.round(today["price"] * PRICE_UNIT), ticks.price)
    assert today["side"].tolist() == ticks.side.tolist()
    assert today["orders"].tolist() == ticks.orders.tolist()
    assert today["volume"].sum() == ticks.volume.sum()
    assert today.equals(counted)
    assert past.drop(columns="orders").equals(today.drop(columns="orders"))
    assert past["orders"].isna().all()
    assert auction["time"].tolist()[0] == "09:15:00"
    ends = auction[auction["time"].isin(["09:25:00", "15:00:00"])]
    assert ends["price"].tolist() == [today["price"].iloc[0], today["price"].iloc[-1]]
    assert ends["matched_volume"].tolist() == [today["volume"].iloc[0], today["volume"].iloc[-1]]


def test_capital_changes_are_the_world() -> None:
    with open_market() as market:
        frame = market.client.xdxr(PINGAN.symbol)
        none = market.client.xdxr(BANK.symbol)
    events = WORLD.exrights(PINGAN, NOW)

    assert frame["category"].tolist() == [event.category for event in events]
    assert frame["date"].str.replace("-", "").astype("int64").tolist() == [event.date for event in events]
    assert frame[["f1", "f2", "f3", "f4"]].to_numpy() == pytest.approx(np.array([e.values for e in events]))
    assert frame["total_after"].tolist()[1] == 48_500_000
    assert (frame["issue_price"].tolist()[2], frame["issued_shares"].tolist()[2]) == (11.25, 120_000_000)
    assert (frame["consolidation_ratio"].tolist()[3], frame["strike_price"].tolist()[4]) == (0.65, 5.5)
    assert none.empty


def test_finance_is_the_world() -> None:
    with open_market() as market:
        row = market.client.finance(BANK.symbol).iloc[0]
        none = market.client.finance(ETF.symbol)
    finance = WORLD.finance(BANK, NOW)

    for name in (
        "total_assets",
        "net_assets",
        "revenue",
        "net_profit",
        "operating_cash_flow",
        "capital_reserve",
    ):
        assert row[name] == pytest.approx(getattr(finance, name), rel=2**-23)
    assert (row["total_shares"], row["float_shares"]) == (finance.total_shares, finance.float_shares)
    assert (row["report_period"], row["updated_date"], row["bvps"]) == ("2025-09-30", "2025-10-30", 216.0)
    assert none.empty


def test_company_text_is_the_world_across_slices() -> None:
    texts = WORLD.company_text(BANK, NOW)
    with open_market() as market:
        sections = market.client.company_sections(BANK.symbol)
        read = {title: market.client.company_text(BANK.symbol, title) for title in sections["title"]}
        missing = market.client.company_text(BANK.symbol, "龙虎榜单")

    assert read == texts
    assert missing == ""
    # The second section is longer than one answer can be, and slices cut its characters.
    assert sum(item.call_name == "company_text" for item in market.log.items) == 4


def test_block_files_are_the_world_up_to_four_hundred_members() -> None:
    with open_market() as market:
        concept, industry = market.client.block_members("gn"), market.client.block_members("hy")
        index, style = market.client.block_members("zs"), market.client.block_members("fg")

    assert concept.groupby("block_name").size().to_dict() == {"人工智能": 2, "大金融": 400}
    assert set(concept["block_code"]) == {"880501", "880502"}
    assert industry.groupby("block_name")["code"].agg(set).to_dict() == {
        "银行": {"600000", "000001"},
        "半导体": {"688001", "920001"},
        "电气设备": {"300001"},
    }
    assert index["code"].tolist() == ["000001", "399001"]
    assert style.groupby("block_name")["code"].agg(list).to_dict() == {"ST板块": ["688001"]}


def test_former_names_are_those_of_the_day_before() -> None:
    """The package is made in the night: the rename of today is not in it."""
    with open_market() as market:
        names = market.client.former_names()

    assert names[["symbol", "old_name", "renamed_on"]].to_numpy().tolist() == [
        ["sz000001", "S深发展A", "2007-06-20"],
        ["sz000001", "深发展A", "2012-08-02"],
    ]


def test_greetings_carry_the_clock_of_the_world() -> None:
    with open_market(second_hello=True) as market:
        assert market.client.greeting().time == NOW
        assert market.client.server_info().time == NOW
        assert market.client.heartbeat() == 20260306


def test_big_answers_are_compressed_and_small_ones_are_not() -> None:
    import socket

    def flags(count: int) -> tuple[int, int, int]:
        payload = struct.pack("<H6sHHHHIIH", 1, b"600000", 9, 1, 0, count, 0, 0, 0)
        with open_market() as market, socket.create_connection(market.server.address, timeout=2) as sock:
            # Data is served without any greeting.
            sock.sendall(
                struct.pack("<BIBHHH", 0x0C, 7, 1, len(payload) + 2, len(payload) + 2, 0x052D) + payload
            )
            _, flag, seq, _, _, zip_len, raw_len = struct.unpack(
                "<IBIBHHH", sock.recv(16, socket.MSG_WAITALL)
            )
        assert seq == 7
        return flag, zip_len, raw_len

    flag, zip_len, raw_len = flags(800)
    assert (flag, zip_len < raw_len) == (0x1C, True)
    flag, zip_len, raw_len = flags(1)
    assert (flag, zip_len) == (0x0C, raw_len)


@pytest.mark.parametrize("method", [0x052D, 0x053E, 0x0450, 0x0FB4, 0x02D0])
def test_a_payload_that_does_not_fit_its_method_is_refused(method: int) -> None:
    responder = Responder(WORLD, FrozenClock(NOW), FaultPlan())

    with pytest.raises(BadRequest):
        responder.answer(method, b"\x01")


def test_an_unknown_method_is_answered_with_nothing() -> None:
    assert Responder(WORLD, FrozenClock(NOW), FaultPlan()).answer(0x7777, b"").body == b"\0\0"
