"""A published client of this protocol (pytdx 1.72), pointed at our server, reads what our client reads.

Its own quirks, which the tests state: volumes of bars and ticks stay in the wire's unit; prices are
divided by 100 for every instrument (ETFs come out ten times too large); its 'volume' routine is wrong for
floats below 128 (0 reads as 5.9e-39, 3.56 as something else); finance money is multiplied by 10,000
instead of 1,000; today's minutes are read in the layout without a quote head only.
"""

from collections.abc import Iterator

import pytest
from pytdx.hq import TdxHq_API

from tests.simulated_market.tdx.market import Market, open_market
from tests.simulated_market.tdx.tiny_world import BANK, ETF, GEM, INDEX, PINGAN


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with open_market(server={"quote_head": False}) as opened:
        yield opened


@pytest.fixture(scope="module")
def theirs(market: Market) -> Iterator[TdxHq_API]:
    api = TdxHq_API(raise_exception=True)
    assert api.connect(*market.server.address)
    yield api
    api.disconnect()


def column(rows, name):
    return [row[name] for row in rows]


def test_count_and_list(market: Market, theirs: TdxHq_API) -> None:
    ours = market.client.security_list("sz")
    rows = theirs.get_security_list(0, 0)

    assert theirs.get_security_count(0) == len(ours) == len(rows)
    for their_name, our_name in (
        ("code", "code"),
        ("name", "name"),
        ("volunit", "volume_unit"),
        ("decimal_point", "decimals"),
    ):
        assert column(rows, their_name) == ours[our_name].tolist()
    # Its float routine is off below 128 (most prices); the index above that agrees.
    index = ours.index[ours["code"] == "399001"][0]
    assert rows[index]["pre_close"] == pytest.approx(ours["pre_close"][index], abs=0.005)


def test_quotes(market: Market, theirs: TdxHq_API) -> None:
    asked = [BANK, GEM, INDEX]
    ours = market.client.quotes([each.symbol for each in asked])
    rows = theirs.get_security_quotes([({"SZ": 0, "SH": 1}[each.market], each.code) for each in asked])

    for name in ("code", "price", "last_close", "open", "high", "low", "amount"):
        assert column(rows, name) == ours[name].tolist()
    for their_name, our_name in (("vol", "volume"), ("cur_vol", "current_volume"), ("s_vol", "inner_volume")):
        assert [value * 100 for value in column(rows, their_name)] == ours[our_name].tolist()
    assert column(rows, "reversed_bytes9") == ours["speed_pct"].tolist()
    for side in ("bid", "ask"):
        for level in range(1, 5):
            assert column(rows, f"{side}{level}")[:2] == ours[f"{side}{level}"].tolist()[:2]
            lots = column(rows, f"{side}_vol{level}")
            assert [value * 100 for value in lots][:2] == ours[f"{side}{level}_vol"].tolist()[:2]
    # The book of an index holds counts.
    assert (rows[2]["bid_vol1"], rows[2]["ask_vol1"]) == (ours["up_count"][2], ours["down_count"][2])


def test_an_etf_is_ten_times_too_dear_over_there(market: Market, theirs: TdxHq_API) -> None:
    (row,) = theirs.get_security_quotes(1, ETF.code)

    assert row["price"] == pytest.approx(market.client.quotes([ETF.symbol])["price"][0] * 10)


@pytest.mark.parametrize(
    ("period", "category", "factor"),
    [("day", 9, 100), ("week", 5, 100), ("month", 6, 100), ("year", 11, 100), ("5m", 0, 1), ("1m", 8, 1)],
)
def test_bars(market: Market, theirs: TdxHq_API, period: str, category: int, factor: int) -> None:
    ours = market.client.bars(BANK.symbol, period, count=300)
    rows = theirs.get_security_bars(category, 1, BANK.code, 0, 300)

    for name in ("open", "high", "low", "close"):
        assert column(rows, name) == ours[name].tolist()
    assert column(rows, "amount") == pytest.approx(ours["amount"].tolist(), abs=0.005)
    assert [value * factor for value in column(rows, "vol")] == ours["volume"].tolist()
    time = "date" if factor == 100 else "datetime"
    assert [text[: 10 if factor == 100 else 16] for text in column(rows, "datetime")] == [
        text[:16] for text in ours[time]
    ]


def test_a_suspended_day_has_almost_no_volume_over_there(market: Market, theirs: TdxHq_API) -> None:
    rows = theirs.get_security_bars(9, 0, PINGAN.code, 0, 3)

    assert 0 < rows[0]["vol"] < 1e-30
    assert market.client.bars(PINGAN.symbol, count=3)["volume"].tolist()[0] == 0


def test_index_bars(market: Market, theirs: TdxHq_API) -> None:
    ours = market.client.index_bars(INDEX.symbol, count=50)
    rows = theirs.get_index_bars(9, 1, INDEX.code, 0, 50)

    for name in ("open", "high", "low", "close", "up_count", "down_count"):
        assert column(rows, name) == ours[name].tolist()
    assert [value * 10_000 for value in column(rows, "vol")] == ours["volume"].tolist()
    assert column(rows, "amount") == ours["amount"].tolist()


def test_minutes(market: Market, theirs: TdxHq_API) -> None:
    today, past = market.client.minutes(BANK.symbol), market.client.minutes(BANK.symbol, "2026-03-04")

    for ours, rows in (
        (today, theirs.get_minute_time_data(1, BANK.code)),
        (past, theirs.get_history_minute_time_data(1, BANK.code, 20260304)),
    ):
        assert column(rows, "price") == ours["price"].tolist()
        assert [value * 100 for value in column(rows, "vol")] == ours["volume"].tolist()


def test_transactions(market: Market, theirs: TdxHq_API) -> None:
    today = market.client.transactions(BANK.symbol).tail(1800)
    past = market.client.transactions(BANK.symbol, "2026-03-04").tail(2000)

    for ours, rows in (
        (today, theirs.get_transaction_data(1, BANK.code, 0, 1800)),
        (past, theirs.get_history_transaction_data(1, BANK.code, 0, 2000, 20260304)),
    ):
        assert column(rows, "price") == ours["price"].tolist()
        assert [value * 100 for value in column(rows, "vol")] == ours["volume"].tolist()
        assert column(rows, "buyorsell") == ours["side"].tolist()
        assert column(rows, "time") == [text[:5] for text in ours["time"]]


def test_capital_changes(market: Market, theirs: TdxHq_API) -> None:
    ours = market.client.xdxr(PINGAN.symbol)
    rows = theirs.get_xdxr_info(0, PINGAN.code)

    assert column(rows, "name") == ours["name"].tolist()
    assert [f"{row['year']}-{row['month']:02d}-{row['day']:02d}" for row in rows] == ours["date"].tolist()
    dividends = [row for row in rows if row["category"] == 1]
    cash = ours.loc[ours["category"] == 1]
    for their_name, our_name in (
        ("fenhong", "cash_per10"),
        ("peigujia", "rights_price"),
        ("songzhuangu", "bonus_per10"),
        ("peigu", "rights_per10"),
    ):
        assert column(dividends, their_name) == pytest.approx(cash[our_name].tolist())
    capital = next(row for row in rows if row["category"] == 5)
    assert capital["houzongguben"] * 10_000 == ours["total_after"].tolist()[1]


def test_finance(market: Market, theirs: TdxHq_API) -> None:
    ours = market.client.finance(BANK.symbol).iloc[0]
    row = theirs.get_finance_info(1, BANK.code)

    assert row["zongguben"] == ours["total_shares"]
    assert row["liutongguben"] == ours["float_shares"]
    for their_name, our_name in (
        ("zongzichan", "total_assets"),
        ("jingzichan", "net_assets"),
        ("jinglirun", "net_profit"),
        ("jingyingxianjinliu", "operating_cash_flow"),
    ):
        assert row[their_name] == pytest.approx(ours[our_name] * 10)
    assert row["meigujingzichan"] == ours["bvps"]
    assert (row["updated_date"], row["gudongrenshu"]) == (20251030, ours["holders"])


def test_company_text_and_blocks(market: Market, theirs: TdxHq_API) -> None:
    (first, _) = theirs.get_company_info_category(1, BANK.code)
    text = theirs.get_company_info_content(1, BANK.code, first["filename"], first["start"], first["length"])
    blocks = theirs.get_and_parse_block_info("block_gn.dat")
    ours = market.client.block_members("gn")

    assert text == market.client.company_text(BANK.symbol, first["name"])
    assert column(blocks, "blockname") == ours["block_name"].tolist()
    assert column(blocks, "code") == ours["code"].tolist()


def test_files_of_the_server(market: Market, theirs: TdxHq_API) -> None:
    """The package of former names arrives there byte by byte as it does here."""
    ours = market.client.file("zhb.zip")

    assert len(ours) > 200
    assert bytes(theirs.get_report_file_by_size("zhb.zip")) == ours
