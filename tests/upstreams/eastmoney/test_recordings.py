"""Recorded answers parse to the values that a person reads in them."""

import json
import math
from datetime import datetime
from pathlib import Path

import pytest

from core.errors import InputError, PayloadError, Refused, Transient
from resources.upstreams.eastmoney.quotes import fields, lists, security, series, stock_connect
from resources.upstreams.parsing.payload import json_of

PAYLOADS = Path(__file__).parent / "payloads"


def recorded(name: str) -> bytes:
    return (PAYLOADS / name).read_bytes()


KLINE = recorded("em_kline_601872_20241218_1231.json")
ULIST = recorded("em_ulist_fltt2_20260930.json")
FLOW = recorded("em_fflow_daykline_600519.json")
BOARDS = recorded("em_clist_sector_fflow.json")
NO_DATA = recorded("em_kline_no_data.json")
ULIST_SYMBOLS = ["sh600000", "sz000001", "sh000001", "sz300750", "sh601398"]


def test_recorded_bars():
    frame = series.parse_kline(KLINE, "sh601872", klt=101, beg="20241218", end="20241231")

    assert len(frame) == 10
    last = frame.iloc[-1]
    assert (last["date"], last["open"], last["close"]) == ("2024-12-31", 6.29, 6.18)
    assert (last["high"], last["low"]) == (6.32, 6.17)
    assert last["volume"] == 48_379_400
    assert last["amount"] == 313_479_921
    assert (last["change_pct"], last["change_amt"], last["turnover_pct"]) == (-1.75, -0.11, 0.59)


def test_change_and_amplitude_follow_from_the_bars():
    frame = series.parse_kline(KLINE, "sh601872", klt=101)
    before = frame["close"].shift(1).iloc[1:]

    assert ((frame["close"].iloc[1:] - before) - frame["change_amt"].iloc[1:]).abs().max() < 1e-6
    amplitude = (frame["high"].iloc[1:] - frame["low"].iloc[1:]) / before * 100
    assert (amplitude - frame["amplitude_pct"].iloc[1:]).abs().max() < 0.006


def test_jsonp_is_unwrapped():
    wrapped = b"jQuery3510_17(" + KLINE.strip() + b");"

    assert len(series.parse_kline(wrapped, "sh601872", klt=101)) == 10


def test_no_data_is_an_empty_frame():
    frame = series.parse_kline(NO_DATA, "sh601872", klt=101)

    assert len(frame) == 0
    assert list(frame.columns) == list(series.BAR_COLUMNS)
    assert list(series.parse_kline(NO_DATA, "sh601872", klt=5).columns) == list(series.MINUTE_COLUMNS)


def test_a_known_security_without_bars():
    body = b'{"rc":0,"data":{"code":"688622","market":1,"name":"x"}}'

    assert len(series.parse_kline(body, "sh688622", klt=101)) == 0


def test_recorded_quotes():
    frame = lists.parse_ulist(ULIST, ULIST_SYMBOLS).set_index("symbol")

    assert frame.loc["sh600000", "volume"] == 147_484_800
    assert frame.loc["sh600000", "quote_time"] == "2026-09-30 16:11:37"
    # One code, two instruments.
    assert frame.loc["sz000001", "price"] == 11.57
    assert frame.loc["sh000001", "price"] == 3842.19
    assert (frame.loc["sz000001", "code"], frame.loc["sh000001", "code"]) == ("000001", "sh000001")
    assert math.isnan(frame.loc["sh600000", "pe_ttm"])


def test_quotes_that_were_not_requested_are_rejected():
    with pytest.raises(PayloadError, match="sh601398"):
        lists.parse_ulist(ULIST, ULIST_SYMBOLS[:4])


def test_a_map_is_as_good_as_a_list():
    document = json.loads(ULIST)
    rows = document["data"]["diff"]
    document["data"]["diff"] = {str(number): row for number, row in enumerate(rows)}

    as_map = lists.parse_ulist(json.dumps(document).encode(), ULIST_SYMBOLS)

    assert as_map.equals(lists.parse_ulist(ULIST, ULIST_SYMBOLS))


def test_a_map_with_a_missing_board_is_not():
    document = json.loads(ULIST)
    rows = document["data"]["diff"]
    document["data"]["diff"] = {str(number): row for number, row in enumerate(rows) if number != 2}

    with pytest.raises(PayloadError, match="row numbers"):
        lists.parse_ulist(json.dumps(document).encode(), ULIST_SYMBOLS)


def test_recorded_money_flow_has_main_small_medium_large_super():
    frame = series.parse_flow_days(FLOW, "1.600519", "600519")

    row = frame.iloc[0]
    assert row["date"] == "2026-06-16"
    assert (row["main_net"], row["small_net"], row["medium_net"]) == (-544577072, -138353, 544715424)
    assert (row["large_net"], row["super_net"]) == (-237836432, -306740640)
    assert row["main_net"] == row["large_net"] + row["super_net"]
    assert (row["main_net_pct"], row["super_net_pct"]) == (-12.38, -6.97)
    assert (row["close"], row["change_pct"]) == (1255.67, -1.21)


def test_recorded_boards():
    page = lists.parse_page(BOARDS, "boards", lambda rows: lists.board_rows(rows, "industry"))

    assert (page.total, len(page)) == (496, 3)
    row = page.rows.iloc[0]
    assert (row["board_code"], row["board_name"], row["change_pct"]) == ("BK1203", "非银金融", 5.52)
    assert row["main_net"] == row["super_net"] + row["large_net"]
    assert row["inflow_leader_name"] == "东方财富"


def test_the_row_of_a_suspended_stock():
    raw = {"f12": "000002", "f13": 0, "f14": "英 力 特", "f2": "-", "f5": "-", "f18": 6.5, "f26": 19910129}

    row = lists.stock_rows([raw]).iloc[0]

    assert row["is_suspended"]
    assert math.isnan(row["price"])
    assert math.isnan(row["volume"])
    assert row["last_close"] == 6.5
    assert row["name"] == "英 力 特"
    assert row["list_date"] == "1991-01-29"


@pytest.mark.parametrize("symbol", ["bj920047", "bj430001", "bj830001", "sz000001", "sz300750"])
def test_market_0_is_shenzhen_or_beijing(symbol):
    assert lists.stock_rows([{"f12": symbol[2:], "f13": 0, "f14": "x"}]).iloc[0]["symbol"] == symbol


def test_every_table_names_a_column_and_a_field_once():
    for table in (lists.STOCK_FIELDS, lists.BOARD_FIELDS, lists.INDEX_FIELDS, security.SECURITY_FIELDS):
        assert len({field.column for field in table}) == len(table)
        assert len({field.wire for field in table}) == len(table)
    assert fields.wire_fields(lists.SLIST_FIELDS) == "f3,f12,f13,f14,f128"


def first_bar(document, old: str, new: str) -> None:
    rows = document["data"]["klines"]
    rows[0] = rows[0].replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["data"].update(code="601873"), "got 1.601873"),
        (lambda d: d["data"].update(market=0), "got 0.601872"),
        (lambda d: d["data"]["klines"].reverse(), "follows"),
        (lambda d: d["data"]["klines"].__setitem__(3, "2024-12-23,5.95"), "2 values"),
        (lambda d: first_bar(d, "6.10,", "-6.10,"), "below zero"),
        (lambda d: first_bar(d, "6.28", "6.00"), "enclose"),
        (lambda d: first_bar(d, "6.11", "-"), "missing"),
        (lambda d: first_bar(d, "6.18", "1e999"), "valid number"),
        (lambda d: d.update(rc=1), "rc 1"),
        (lambda d: d.update(data=[1]), "no object"),
        (lambda d: d.pop("rc"), "no push2 envelope"),
    ],
)
def test_one_thing_wrong_in_the_bars(change, message):
    document = json.loads(KLINE)
    change(document)

    with pytest.raises(PayloadError, match=message):
        series.parse_kline(json.dumps(document).encode(), "sh601872", klt=101)


def test_lots_taken_for_shares_are_found_out():
    document = json.loads(KLINE)
    rows = [row.split(",") for row in document["data"]["klines"]]
    document["data"]["klines"] = [",".join([*row[:5], row[5] + "00", *row[6:]]) for row in rows]

    with pytest.raises(PayloadError, match="contradicts the prices"):
        series.parse_kline(json.dumps(document).encode(), "sh601872", klt=101)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", Transient),
        (b"  \n", Transient),
        (b"<html>captcha</html>", Refused),
        (b"\xef\xbb\xbf<!DOCTYPE html>", Refused),
        (KLINE[: len(KLINE) // 2], PayloadError),
        (KLINE.decode().encode("gb18030"), PayloadError),
        (KLINE.decode().encode("utf-16"), PayloadError),
        (b"\x00" * 50, PayloadError),
        (b"NaN", PayloadError),
        (b"cb(" + KLINE, PayloadError),
    ],
)
def test_what_is_not_json_at_all(body, error):
    with pytest.raises(error):
        series.parse_kline(body, "sh601872", klt=101)


def test_utf8_with_a_byte_order_mark_is_json():
    assert json_of(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def kamt(day: str, net: float) -> bytes:
    channel = {
        "status": 3,
        "dayAmtRemain": 5.0,
        "dayAmtThreshold": 5200000.0,
        "netBuyAmt": net,
        "buyAmt": net,
        "sellAmt": 0.0,
        "date2": day,
    }
    data = dict.fromkeys(("hk2sh", "hk2sz", "sh2hk", "sz2hk"), channel)
    return json.dumps({"rc": 0, "data": data}).encode()


def test_northbound_zero_means_not_disclosed_only_since_the_change():
    before = stock_connect.parse_channels(kamt("2024-08-16", 0.0)).set_index("channel")
    after = stock_connect.parse_channels(kamt("2024-08-19", 0.0)).set_index("channel")

    assert before.loc["hgt", "net_buy"] == 0
    assert math.isnan(after.loc["hgt", "net_buy"])
    assert after.loc["ggt_sh", "net_buy"] == 0


def test_minutes_without_a_year_belong_to_the_newest_such_day():
    south = ["9:10,1.0,2.0,3.0,4.0,4.0", "9:11,-,-,-,-,-"]
    data = {"s2n": [], "s2nDate": "12-31", "n2s": south, "n2sDate": "12-31"}
    body = json.dumps({"rc": 0, "data": data}).encode()

    frame = stock_connect.parse_minutes(body, datetime(2026, 1, 2, 9, 0))

    assert list(frame["datetime"]) == ["2025-12-31 09:10:00"]
    assert frame["total_net"].iloc[0] == 4.0


@pytest.mark.parametrize("symbol", ["600519", "sh60051", "sh600519,sz000001", "us", "sh600519&x=1", ""])
def test_symbols_are_checked_before_they_reach_a_request(symbol):
    with pytest.raises(InputError):
        lists.ulist_request([symbol], "f12")
