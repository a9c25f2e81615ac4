"""What the world says is what the clients read, up to the precision of the wire."""

import math

import numpy as np
import pytest

from tests.simulated_market.http.tiny_world import NOW, SUSPENDED, TinyWorld

SYMBOLS = ["sh600519", "sz000001", "sh688981", "sz300750", "bj920047", "sh000001", "sz399001", "sh510300"]
WORLD = TinyWorld()


def lots(shares: int, lot: int = 100) -> int:
    return shares // lot * lot


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_quote_site_snapshot(bench, symbol):
    quote = WORLD.quote(WORLD.find(symbol), NOW)

    row = bench.tencent.quotes([symbol]).iloc[0]

    assert row["symbol"] == symbol
    assert row["name"] == quote.name
    for name in ("price", "open", "high", "low"):
        assert row[name] == pytest.approx(getattr(quote, name) / 10_000, abs=1e-9)
    assert row["last_close"] == pytest.approx(quote.preclose / 10_000)
    # STAR comes in shares, everything else in lots.
    assert row["volume"] == (quote.volume if symbol == "sh688981" else lots(quote.volume))
    assert row["amount"] == pytest.approx(quote.amount, abs=0.51)
    assert row["trade_date"] == "2026-08-21"
    # The site's last stamp of the security, after the session after hours.
    assert row["quote_time"][:15] == "2026-08-21 16:1"


def test_quote_site_caps_ratios_limits_and_book(bench):
    stock = WORLD.find("sh600519")
    quote, value = WORLD.quote(stock, NOW), WORLD.valuation(stock, NOW)

    row = bench.tencent.quotes(["sh600519"]).iloc[0]

    # 100M CNY with 2 decimals on the wire = 100 in units of 10k CNY.
    assert row["total_market_cap"] == pytest.approx(value.total_market_cap / 1e4, abs=100)
    assert row["float_market_cap"] == pytest.approx(value.float_market_cap / 1e4, abs=100)
    assert row["float_market_cap"] < row["total_market_cap"]
    assert (row["pe_ttm"], row["pe_static"], row["pe_dynamic"], row["pb"]) == (21.5, 23.0, 19.25, 3.4)
    assert row["limit_up"] == quote.limit_up / 10_000
    assert row["limit_down"] == quote.limit_down / 10_000
    assert (row["bid1"], row["bid1_vol"]) == (quote.bids[0][0] / 10_000, quote.bids[0][1])
    assert (row["ask5"], row["ask5_vol"]) == (quote.asks[4][0] / 10_000, quote.asks[4][1])
    assert (row["total_shares"], row["float_shares"]) == WORLD.shares(stock, NOW)
    assert row["dividend_yield"] == 1.1


def test_an_index_has_no_limits_book_or_shares(bench):
    row = bench.tencent.quotes(["sh000001"]).iloc[0]

    assert row["code"] == "sh000001"
    for name in ("limit_up", "limit_down", "bid1", "ask1_vol", "total_shares", "pb"):
        assert math.isnan(row[name])


def test_a_suspended_stock(bench):
    quote = WORLD.quote(WORLD.find(SUSPENDED), NOW)

    tencent = bench.tencent.quotes([SUSPENDED]).iloc[0]
    eastmoney = bench.eastmoney.ulist([SUSPENDED]).iloc[0]

    assert tencent["is_suspended"]
    assert eastmoney["is_suspended"]
    assert tencent["price"] == quote.preclose / 10_000
    assert tencent["list_status"] == "S"
    assert math.isnan(tencent["open"])
    assert math.isnan(eastmoney["price"])
    assert math.isnan(eastmoney["volume"])
    assert eastmoney["last_close"] == quote.preclose / 10_000


def test_unknown_symbols_have_no_row(bench):
    assert list(bench.tencent.quotes(["sh600519", "sh609999"])["symbol"]) == ["sh600519"]
    assert len(bench.tencent.quotes(["sh609999"])) == 0
    assert len(bench.tencent.bars("sh609999")) == 0
    assert len(bench.tencent.minute_bars("sh609999")) == 0
    assert len(bench.eastmoney.daily_bars("sh609999")) == 0
    assert len(bench.eastmoney.stock_get("sh609999")) == 0
    assert set(bench.outcomes()) == {"ok", "empty"}


@pytest.mark.parametrize("symbol", [*SYMBOLS, SUSPENDED])
def test_daily_bars_of_both_sites(bench, symbol):
    bars = WORLD.bars(WORLD.find(symbol), NOW)
    keep = bars.traded
    dates = [f"{day // 10000}-{day // 100 % 100:02d}-{day % 100:02d}" for day in bars.date[keep].tolist()]

    tencent = bench.tencent.daily_bars(symbol)
    eastmoney = bench.eastmoney.daily_bars(symbol)

    for frame, exact in ((tencent, symbol == "sh688981"), (eastmoney, False)):
        assert list(frame["date"]) == dates
        for name in ("open", "high", "low", "close"):
            np.testing.assert_allclose(frame[name], getattr(bars, name)[keep] / 10_000)
        expected = bars.volume[keep] if exact else bars.volume[keep] // 100 * 100
        np.testing.assert_array_equal(frame["volume"], expected)
    np.testing.assert_allclose(tencent["amount"], bars.amount[keep], atol=50.01)
    np.testing.assert_allclose(eastmoney["amount"], bars.amount[keep])


def test_ranges_and_counts_of_bars(bench):
    tencent = bench.tencent.daily_bars("sh600519", start="2026-08-03", end="2026-08-14")
    eastmoney = bench.eastmoney.daily_bars("sh600519", "2026-08-03", "2026-08-14")
    newest = bench.tencent.daily_bars("sh600519", count=5)
    last = bench.eastmoney.kline("sh600519", limit=5)

    assert list(tencent["date"]) == list(eastmoney["date"])
    assert (tencent["date"].iloc[0], tencent["date"].iloc[-1]) == ("2026-08-03", "2026-08-14")
    assert len(newest) == len(last) == 5
    assert newest["date"].iloc[-1] == last["date"].iloc[-1] == "2026-08-21"


@pytest.mark.parametrize(("period", "klt"), [("week", 102), ("month", 103)])
def test_longer_periods_agree_between_the_sites_and_add_up(bench, period, klt):
    daily = bench.tencent.daily_bars("sz000001")

    tencent = bench.tencent.bars("sz000001", period=period)
    eastmoney = bench.eastmoney.kline("sz000001", klt=klt)

    assert list(tencent["date"]) == list(eastmoney["date"])
    np.testing.assert_allclose(tencent["close"], eastmoney["close"])
    assert set(tencent["date"]) <= set(daily["date"])
    # Each day's odd shares are lost in a daily lot, but only once in a longer bar.
    assert 0 <= eastmoney["volume"].sum() - daily["volume"].sum() <= 100 * len(daily)
    assert tencent["high"].max() == daily["high"].max()


@pytest.mark.parametrize("minutes", [1, 5, 15, 30, 60])
def test_minute_bars_of_both_sites(bench, minutes):
    tencent = bench.tencent.minute_bars("sh600519", minutes, count=240 // minutes)
    eastmoney = bench.eastmoney.kline("sh600519", klt=minutes, beg="2026-08-21")

    assert list(tencent["datetime"]) == list(eastmoney["datetime"])
    assert tencent["datetime"].iloc[-1] == "2026-08-21 15:00:00"
    assert len(tencent) == 240 // minutes
    np.testing.assert_allclose(tencent["close"], eastmoney["close"])
    np.testing.assert_array_equal(tencent["volume"], eastmoney["volume"])
    assert tencent["amount"].isna().all()


def test_intraday_lines(bench):
    minutes = WORLD.minutes(WORLD.find("sh600519"), 20260821, NOW)

    line = bench.tencent.intraday("sh600519")
    five = bench.tencent.five_day("sh600519")
    trends = bench.eastmoney.trends2("sh600519", 5)

    assert line["cum_volume"].iloc[-1] == minutes.volume.sum()
    assert line["volume"].sum() == minutes.volume.sum()
    assert line["cum_amount"].iloc[-1] == pytest.approx(minutes.amount.sum())
    assert five["datetime"].str[:10].nunique() == trends["datetime"].str[:10].nunique() == 5
    assert len(trends) == 5 * 241
    assert trends["volume"].iloc[-241:].sum() == minutes.volume.sum()
    assert line["last_close"].iloc[0] == trends["last_close"].iloc[0]


def test_money_flow_of_both_sites(bench):
    flow = WORLD.flows(WORLD.find("sh600519"), NOW)[-1]
    super_net, large_net = flow.super_large_in - flow.super_large_out, flow.large_in - flow.large_out

    tab = bench.tencent.fund_flow("sh600519", days=20)
    days = bench.eastmoney.fund_flow_daily("sh600519")
    minutes = bench.eastmoney.fund_flow_minutes("sh600519")
    listed = bench.eastmoney.stock_list().set_index("symbol").loc["sh600519"]

    today = tab.today.iloc[0]
    assert (today["main_net"], today["super_net"]) == (super_net + large_net, super_net)
    assert len(tab.history) == 20
    newest = days.iloc[-1]
    assert (newest["main_net"], newest["super_net"], newest["large_net"]) == (
        super_net + large_net,
        super_net,
        large_net,
    )
    assert newest["medium_net"] == flow.medium_in - flow.medium_out
    assert newest["small_net"] == flow.small_in - flow.small_out
    assert minutes["main_net"].iloc[-1] == super_net + large_net
    assert (listed["super_large_in"], listed["super_large_out"]) == (
        flow.super_large_in,
        flow.super_large_out,
    )
    assert (listed["small_in"], listed["small_out"]) == (flow.small_in, flow.small_out)


def test_the_list_of_all_stocks(big_bench):
    world = big_bench.market.world
    stocks = {one.symbol for one in world.securities(NOW) if one.kind == "stock"}

    frame = big_bench.eastmoney.stock_list()

    assert set(frame["symbol"]) == stocks
    assert big_bench.market.calls() == {"eastmoney": {"clist": 3}}
    row = frame.set_index("symbol").loc["sh600519"]
    value = world.valuation(world.find("sh600519"), NOW)
    assert row["total_market_cap"] == pytest.approx(value.total_market_cap / 1e4)
    assert (row["industry"], row["region"], row["concepts"]) == ("白酒", "贵州", "白酒概念,沪股通")
    assert row["list_date"] == "2001-08-27"
    assert row["trade_date"] == "2026-08-21"
    assert frame.set_index("symbol").loc["bj920047", "market"] == "BJ"


def test_ranking_agrees_with_the_list(big_bench):
    rank = big_bench.tencent.rank().set_index("symbol")
    listed = big_bench.eastmoney.stock_list().set_index("symbol")

    assert set(rank.index) == set(listed.index)
    joined = rank.join(listed, rsuffix="_em")
    trading = joined[~joined["is_suspended"]]
    np.testing.assert_allclose(trading["price"], trading["price_em"])
    np.testing.assert_allclose(trading["volume"], trading["volume_em"])
    np.testing.assert_allclose(trading["amount"], trading["amount_em"], atol=1)


def test_boards_members_and_boards_of_a_stock(bench):
    boards = bench.eastmoney.boards("industry")
    members = bench.eastmoney.board_members("BK0475")
    own = bench.eastmoney.slist("sz000001")

    assert list(boards["board_code"]) == ["BK0475", "BK0477"]
    assert list(members["symbol"]) == ["sz000001", "sz000002"]
    assert set(own["board_code"]) == {"BK0475", "BK0153"}
    row = boards.set_index("board_code").loc["BK0477"]
    assert (row["leader_code"], row["board_type"]) == ("600519", "industry")
    assert row["up_count"] + row["down_count"] + row["flat_count"] == 1
    assert len(bench.eastmoney.boards("region")) == 1
    flow = bench.eastmoney.board_flow_daily("BK0477").iloc[-1]
    assert flow["main_net"] == bench.eastmoney.fund_flow_daily("sh600519").iloc[-1]["main_net"]


def test_one_security_with_its_book(bench):
    quote = WORLD.quote(WORLD.find("sz000001"), NOW)

    row = bench.eastmoney.stock_get("sz000001").iloc[0]

    assert row["price"] == quote.price / 10_000
    assert (row["bid1"], row["bid1_vol"]) == (quote.bids[0][0] / 10_000, quote.bids[0][1])
    assert (row["ask5"], row["ask5_vol"]) == (quote.asks[4][0] / 10_000, quote.asks[4][1])
    assert row["volume"] == lots(quote.volume)
    assert row["list_date"] == "1991-04-03"


def test_an_index_and_a_stock_of_one_code_stay_apart(bench):
    both = bench.eastmoney.ulist(["sh000001", "sz000001"])

    assert list(both["code"]) == ["sh000001", "000001"]
    assert both["price"].iloc[0] != both["price"].iloc[1]
    assert both["up_count"].iloc[0] == 3


def test_ticks_of_the_day(bench):
    ticks = bench.tencent.ticks("sh600519")

    assert len(ticks) == 150
    assert list(ticks["seq"]) == list(range(150))
    assert (ticks["volume"] == 400).all()
    assert set(ticks["side"]) == {"B", "S", "M"}


def test_northbound_is_missing_and_never_zero(bench):
    channels = bench.eastmoney.connect_channels().set_index("channel")
    minutes = bench.eastmoney.connect_minutes()

    assert channels.loc[["hgt", "sgt"], ["net_buy", "buy_amt", "sell_amt"]].isna().all().all()
    south_figures = ["net_buy", "buy_amt", "sell_amt", "quota_balance"]
    assert channels.loc[["ggt_sh", "ggt_sz"], south_figures].notna().all().all()
    north = minutes[minutes["direction"] == "north"]
    south = minutes[minutes["direction"] == "south"]
    assert north["total_net"].isna().all()
    assert south["total_net"].notna().all()


def test_a_world_without_intraday_says_no_data(market):
    from tests.simulated_market.http.conftest import bench_of, market_of

    with market_of(TinyWorld(intraday=False)) as replayed:
        bench = bench_of(replayed)
        assert len(bench.tencent.minute_bars("sh600519")) == 0
        assert len(bench.tencent.intraday("sh600519")) == 0
        assert len(bench.eastmoney.trends2("sh600519")) == 0
        assert len(bench.eastmoney.kline("sh600519", klt=5)) == 0
        assert len(bench.tencent.ticks("sh600519")) == 0
        bench.transport.close()
