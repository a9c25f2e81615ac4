"""Recorded answers parse to the values that a person reads in them."""

import json
import math
from pathlib import Path

import pytest

from core.errors import PayloadError
from resources.upstreams.tencent import bars, flows, intraday, market, quotes

PAYLOADS = Path(__file__).parent / "payloads"
QUOTES = (
    (PAYLOADS / "tencent_quote_600519_hk00700_20260522.txt").read_text(encoding="utf-8").encode("gb18030")
)
KLINE = (PAYLOADS / "tencent_newfqkline_sh600000_202609.json").read_bytes()
RECORDS = {
    line.split("=", 1)[0].removeprefix("v_"): line
    for line in (PAYLOADS / "records.txt").read_text(encoding="utf-8").splitlines()
}


def record(symbol: str):
    body = RECORDS[symbol].encode("gb18030")
    return quotes.parse_quotes(body, [symbol]).iloc[0]


def test_recorded_snapshot_of_a_stock():
    row = quotes.parse_quotes(QUOTES, ["sh600519", "hk00700"]).iloc[0]

    assert row["name"] == "贵州茅台"
    assert (row["price"], row["last_close"], row["open"]) == (1290.20, 1311.00, 1310.95)
    assert row["volume"] == 4_915_700
    assert row["amount"] == 6_372_389_482
    assert row["total_market_cap"] == pytest.approx(161_567_900)
    assert (row["limit_up"], row["limit_down"]) == (1442.10, 1179.90)
    assert (row["pe_ttm"], row["pe_dynamic"], row["pe_static"], row["pb"]) == (19.53, 14.83, 19.63, 5.96)
    assert (row["bid1"], row["bid1_vol"]) == (1290.20, 10_000)
    assert row["quote_time"] == "2026-05-22 16:14:17"
    assert row["list_status"] == "L"


def test_recorded_snapshot_of_a_hong_kong_stock():
    row = quotes.parse_quotes(QUOTES, ["sh600519", "hk00700"]).iloc[1]

    assert (row["code"], row["market"], row["currency"]) == ("00700", "HK", "HKD")
    assert row["volume"] == 23_998_219
    assert row["amount"] == pytest.approx(10_609_807_754.65)
    assert row["total_shares"] == 9_118_020_607
    assert row["pe_ttm"] == 15.11
    assert (row["high_52w"], row["low_52w"]) == (677.7, 438.4)
    assert row["trade_date"] == "2026-05-22"


@pytest.mark.parametrize("symbol", ["sh688981", "sz002103"])
def test_44_is_the_float_cap_and_45_the_total_cap(symbol):
    """Only a stock that is not wholly in circulation can show the two exchanged."""
    row = record(symbol)

    assert row["float_market_cap"] == pytest.approx(row["price"] * row["float_shares"] / 1e4, rel=1e-3)
    assert row["total_market_cap"] == pytest.approx(row["price"] * row["total_shares"] / 1e4, rel=1e-3)
    assert row["float_market_cap"] < 0.8 * row["total_market_cap"]


def test_star_volume_is_shares_and_its_book_is_lots():
    row = record("sh688981")

    assert row["volume"] == 18_660_976
    assert row["amount"] / row["volume"] == pytest.approx(row["avg_price"], abs=0.01)
    assert row["bid1_vol"] == 50_600
    assert row["after_hours_volume"] == 13_833
    assert row["after_hours_amount"] == pytest.approx(1_659_683)
    assert row["float_market_cap"] == pytest.approx(24_003_100)
    assert row["total_market_cap"] == pytest.approx(102_730_100)


def test_lots_elsewhere():
    row = record("sz002103")

    assert row["volume"] == 5_694_700
    assert row["amount"] / row["volume"] == pytest.approx(row["avg_price"], abs=0.01)


def test_an_index():
    row = record("sh000001")

    assert (row["code"], row["sec_type"]) == ("sh000001", "index")
    assert row["amount"] == 582_363_069_699
    assert row["volume"] == 37_740_053_900
    assert math.isnan(row["limit_up"])
    assert math.isnan(row["bid1"])
    assert math.isnan(row["total_shares"])


def test_funds():
    etf, lof = record("sh510300"), record("sz161725")

    assert (etf["sec_type"], etf["iopv"], etf["nav"], etf["premium_pct"]) == ("etf", 4.7517, 4.7111, -0.01)
    assert (lof["sec_type"], lof["nav"]) == ("lof", 0.5606)
    assert math.isnan(etf["pb"])


def test_foreign_records():
    hong_kong, us = record("hk01024"), record("usAAPL")

    assert hong_kong["total_market_cap"] == pytest.approx(20_196_403)
    assert hong_kong["float_market_cap"] == pytest.approx(
        hong_kong["price"] * hong_kong["float_shares"] / 1e4
    )
    assert us["code"] == "AAPL"
    assert us["volume"] == 28_298_056
    # 12:36 in New York during daylight saving = 00:36 of the next day in Shanghai.
    assert (us["trade_date"], us["quote_time"]) == ("2026-04-17", "2026-04-18 00:36:00")
    assert us["total_market_cap"] == pytest.approx(us["price"] * us["total_shares"] / 1e4, rel=1e-4)


def test_recorded_daily_bars():
    frame = bars.parse_bars(KLINE, "sh600000", period="day")

    assert len(frame) == 20
    last = frame.iloc[-1]
    assert (last["date"], last["open"], last["close"]) == ("2026-09-30", 9.22, 9.48)
    assert (last["high"], last["low"]) == (9.49, 9.16)
    assert last["volume"] == 147_484_800
    assert last["amount"] == pytest.approx(1_386_209_900)
    assert last["turnover_pct"] == 0.44


def test_bars_and_snapshot_of_one_answer_agree():
    qt = json.loads(KLINE)["data"]["sh600000"]["qt"]["sh600000"]
    row = quotes.parse_record("sh600000", qt)
    last = bars.parse_bars(KLINE, "sh600000", period="day").iloc[-1]

    assert row["price"] == last["close"]
    assert row["volume"] == last["volume"]
    assert row["amount"] == pytest.approx(last["amount"], abs=100)


def test_bars_of_another_code_are_rejected():
    with pytest.raises(PayloadError, match="the answer is about sh600000"):
        bars.parse_bars(KLINE, "sz000001", period="day")


def test_bars_outside_the_requested_range_are_rejected():
    with pytest.raises(PayloadError, match="is outside"):
        bars.parse_bars(KLINE, "sh600000", period="day", start="2026-09-10")


@pytest.mark.parametrize(
    "body",
    [
        b'{"code":0,"msg":"","data":{}}',
        b'{"code":0,"msg":"","data":[]}',
        b'{"code":0,"msg":"","data":{"sh600000":[]}}',
        b'kline_day={"code":0,"msg":"","data":{"sh600000":{"day":[]}}}',
    ],
)
def test_nothing_is_an_empty_frame_with_all_columns(body):
    frame = bars.parse_bars(body, "sh600000", period="day")

    assert len(frame) == 0
    assert list(frame.columns) == list(bars.BAR_COLUMNS)


@pytest.mark.parametrize(
    "body",
    [
        b'{"code":1,"msg":"bad"}',
        b'{"code":-1,"msg":"param error","data":null}',
        b'v_pv_none_match="1";',
        b"[]",
        b"null",
        b'{"data":{"sh600000":{"day":{"0":[]}}}}',
    ],
)
def test_an_error_message_is_not_an_empty_answer(body):
    with pytest.raises(PayloadError):
        bars.parse_bars(body, "sh600000", period="day")


@pytest.mark.parametrize(("asked", "answered"), [("day", "qfqday"), ("week", "hfqweek"), ("day", "week")])
def test_a_series_under_another_name_is_no_answer(asked, answered):
    entry = json.loads(KLINE)["data"]["sh600000"]
    body = json.dumps({"code": 0, "data": {"sh600000": {answered: entry["day"], "qt": entry["qt"]}}}).encode()
    with pytest.raises(PayloadError, match=f"{answered} in place of {asked}"):
        bars.parse_bars(body, "sh600000", period=asked)
    with pytest.raises(PayloadError, match=f"{answered} in place of m5"):
        bars.parse_minute_bars(body, "sh600000", 5)


def test_a_code_without_a_series_has_no_bars():
    # As of Beijing's codes: the quote is there, the series is not.
    entry = json.loads(KLINE)["data"]["sh600000"]
    body = json.dumps({"code": 0, "data": {"sh600000": {"qt": entry["qt"]}}}).encode()
    assert bars.parse_bars(body, "sh600000", period="day").empty


def test_minute_bars_have_turnover_where_others_have_the_amount():
    body = (
        b'{"code":0,"msg":"","data":{"sh600519":{"qt":{"sh600519":["1","x","600519","1185.09"],"market":[""]},'
        b'"m5":[["202607090950","1182.10","1188.53","1188.88","1182.10","2041.00",{},"1.63"],'
        b'["202607090955","1188.83","1187.12","1189.50","1185.00","556.00",{},"0.44"]],"prec":"1199.30"}}}'
    )

    frame = bars.parse_minute_bars(body, "sh600519", 5)

    assert list(frame["datetime"]) == ["2026-07-09 09:50:00", "2026-07-09 09:55:00"]
    assert list(frame["volume"]) == [204_100, 55_600]
    assert frame["amount"].isna().all()
    assert set(frame["period"]) == {"5m"}


def test_unknown_code_of_minute_bars():
    body = b'{"code":0,"msg":"","data":{"sh609999":{"qt":{"sh609999":[],"market":["..."]}}}}'

    assert len(bars.parse_minute_bars(body, "sh609999", 5)) == 0


def test_five_day_line_without_the_after_hours_session():
    body = (
        b'{"code":0,"msg":"","data":{"sz300750":{"data":[{"date":"20260805","prec":31.81,"data":'
        b'["0930 31.02 9542 29599284.00","1500 33.15 487280 1587441334.00",'
        b'"1506 33.15 487289 1587470000.00"]}]}}}'
    )

    frame = intraday.parse_five_day(body, "sz300750")

    assert list(frame["datetime"]) == ["2026-08-05 09:30:00", "2026-08-05 15:00:00"]
    assert frame["volume"].iloc[1] == (487_280 - 9542) * 100
    assert frame["amount"].iloc[1] == 1_587_441_334 - 29_599_284
    assert frame["last_close"].iloc[0] == 31.81


FLOW = {
    "todayFundFlow": {
        "stockCode": "sh600519",
        "mainNetIn": "248174709",
        "mainIn": "1139175994",
        "mainInRate": "29",
        "mainOut": "891001285",
        "superFlow": "274928373",
        "bigFlow": "-26753664",
        "normalFlow": "-248063453",
        "smallFlow": "-111256",
    },
    "todayFundTrend": {
        "stockCode": "sh600519",
        "minList": [
            {"time": "202609290931", "Price": "1243.51", "MainNetInflow": "23", "RetailNetInflow": "-23"},
            {"time": "202609290930", "Price": "1241.74", "MainNetInflow": "18", "RetailNetInflow": "-18"},
        ],
    },
    "fiveDayFundFlow": {"DayMainNetInList": [{"date": "2026-09-21", "mainNetIn": "-26867603"}]},
    "historyFundFlow": None,
}


def test_recorded_money_flow():
    tab = flows.parse_flow(json.dumps({"code": 0, "msg": "ok", "data": FLOW}).encode(), "sh600519")

    today = tab.today.iloc[0]
    assert (today["main_net"], today["super_net"], today["large_net"]) == (248174709, 274928373, -26753664)
    assert list(tab.minutes["datetime"]) == ["2026-09-29 09:30:00", "2026-09-29 09:31:00"]
    assert list(tab.history["main_net"]) == [-26867603]


def test_money_flow_that_does_not_add_up_is_rejected():
    bad = FLOW | {"todayFundFlow": FLOW["todayFundFlow"] | {"superFlow": "0"}}

    with pytest.raises(PayloadError, match="misses main"):
        flows.parse_flow(json.dumps({"code": 0, "data": bad}).encode(), "sh600519")


def test_the_ranking_has_volume_and_amount_under_each_others_names():
    row = {"code": "sz000936", "name": "华西股份", "zxj": "12.60", "turnover": "69137", "volume": "8711.26"}
    body = json.dumps({"code": 0, "data": {"total": 1, "rank_list": [row]}}).encode()

    first = market.parse_rank(body).rows.iloc[0]

    assert first["volume"] == 6_913_700
    assert first["amount"] == pytest.approx(87_112_600)


def test_ticks_of_another_page_are_rejected():
    body = b'v_detail_data_sz000001=[0,"0/09:25:02/11.71/0.00/1234/1445014/B"];'

    assert market.parse_ticks(body, "sz000001", 0)["volume"].iloc[0] == 123_400
    with pytest.raises(PayloadError):
        market.parse_ticks(body, "sz000001", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("~600519~", "~600520~"), "code '600520'"),
        (lambda text: text.replace('"1~', '"51~'), "market SZ"),
        (lambda text: text.replace("~GP-A~", "~ZS~"), "of a ZS"),
        (lambda text: text.replace("~1301.50~1306.45~", "~-1301.50~1306.45~", 1), "below zero"),
        (lambda text: text.replace("~11131~", "~1113100~"), "wrong unit"),
        (lambda text: text.replace("~20260806104333~", "~20261306104333~"), "no time"),
        (lambda text: text.replace("1301.50/11131/1451334748", "1301.50/11131"), "field 35"),
        (lambda text: text.replace("~19.67~", "~nan~"), "valid number"),
        (lambda text: text[:200], "no statement"),
        (
            lambda text: (
                '"'.join(text.split('"')[:1]) + '"' + "~".join(text.split('"')[1].split("~")[:45]) + '";'
            ),
            "45",
        ),
        (lambda text: text.replace("v_sh600519", "v_sh600520"), "not asked for"),
        (lambda text: text + "x", "no statement"),
    ],
)
def test_one_thing_wrong_in_a_record(change, message):
    body = change(RECORDS["sh600519"]).encode("gb18030")

    with pytest.raises(PayloadError, match=message):
        quotes.parse_quotes(body, ["sh600519"])
