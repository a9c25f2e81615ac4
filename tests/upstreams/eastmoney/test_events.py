"""Billboard, block trades and releases: recorded rows, the traps of their units, and rejected answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import InputError, PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.reports import billboard, capital, trading
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.eastmoney.test_reports import Pages, body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PAYLOADS = Path(__file__).parent / "payloads"
BILLBOARD = (PAYLOADS / "em_dc_billboard_600105.json").read_bytes()
RELEASES = json.loads((PAYLOADS / "em_dc_corporate_actions_20260728.json").read_bytes())["RPT_LIFT_STAGE"]
DAY = "2026-07-07"
LISTING = {
    "TRADE_DATE": f"{DAY} 00:00:00", "SECURITY_CODE": "002185", "SECURITY_NAME_ABBR": "华天科技",
    "EXPLANATION": "日涨幅偏离值达到7%的前5只证券", "CHANGE_TYPE": "137001002001001", "CLOSE_PRICE": 21.93,
    "CHANGE_RATE": 9.9799, "BILLBOARD_NET_AMT": 1576984146.49, "BILLBOARD_BUY_AMT": 2255004980.49,
    "BILLBOARD_SELL_AMT": 678020834, "BILLBOARD_DEAL_AMT": 2933025814.49, "ACCUM_AMOUNT": 11999102685,
    "DEAL_NET_RATIO": 13.142517, "TURNOVERRATE": 16.9334, "D1_CLOSE_ADJCHRATE": None,
}  # fmt: skip
SEAT = {
    "TRADE_DATE": f"{DAY} 00:00:00", "SECURITY_CODE": "002185", "EXPLANATION": LISTING["EXPLANATION"],
    "TRADE_DIRECTION": "0", "RANK": 1, "OPERATEDEPT_CODE": "0", "OPERATEDEPT_NAME": "机构专用",
    "BUY_AMT_REAL": 1_000_000.0, "SELL_AMT_REAL": None, "NET": 1_000_000.0, "BUY_RATIO": 0.8,
}  # fmt: skip
DEAL = {
    "TRADE_DATE": f"{DAY} 00:00:00", "SECURITY_CODE": "603279", "DEAL_PRICE": 28, "CLOSE_PRICE": 30,
    "DEAL_VOLUME": 500_000, "DEAL_AMT": 14_000_000, "BUYER_NAME": "机构专用",
    "SELLER_NAME": "中信证券（山东）有限责任公司龙口南山路证券营业部",
}  # fmt: skip

PARSERS: dict[str, tuple[bytes, Any]] = {
    "billboard": (BILLBOARD, billboard.LISTINGS.frame),
    "listing": (body([LISTING], 1), billboard.LISTINGS.frame),
    "seat": (body([SEAT], 1), billboard.seat_rows),
    "deal": (body([DEAL], 1), trading.BLOCK_TRADES.frame),
    "releases": (body(RELEASES, len(RELEASES)), capital.LOCKUPS.frame),
}


def parse(name: str, found: bytes | None = None) -> Any:
    recorded, read = PARSERS[name]
    return data_centre.parse_report(recorded if found is None else found, what=name, read=read).rows


def client(*bodies: bytes) -> EastmoneyClient:
    return EastmoneyClient(Pages(*bodies), FrozenClock(NOW))


def test_recorded_listings_are_in_ten_thousand_yuan() -> None:
    first = parse("billboard").iloc[0]

    assert (first["code"], first["date"], first["close"], first["change_pct"]) == (
        "600105", "2026-06-04", 54.29, 4.5647,
    )  # fmt: skip
    assert (first["buy_amt"], first["sell_amt"], first["net_buy"]) == (424_043.5, 317_340.79, 106_702.71)
    assert "连续三个交易日" in first["reason"]
    assert parse("listing").iloc[0]["net_buy"] == pytest.approx(157_698.41)  # of the specification
    assert parse("listing").iloc[0]["amount"] == 11_999_102_685


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("listing", {"BILLBOARD_NET_AMT": 157_698.41}, "BILLBOARD_NET_AMT"),
        ("listing", {"BILLBOARD_DEAL_AMT": 1.0}, "BILLBOARD_DEAL_AMT"),
        ("listing", {"DEAL_NET_RATIO": 0.1314}, "DEAL_NET_RATIO"),  # a fraction where percent is promised
        ("listing", {"EXPLANATION": " "}, "empty"),
        ("seat", {"TRADE_DIRECTION": "2"}, "TRADE_DIRECTION"),
        ("seat", {"RANK": 0}, "RANK"),
        ("seat", {"NET": 100.0}, "NET"),
        ("seat", {"BUY_AMT_REAL": None}, "missing"),
        ("deal", {"DEAL_VOLUME": 5_000}, "another unit"),
        ("deal", {"DEAL_AMT": 1_400}, "another unit"),
        ("deal", {"DEAL_PRICE": -28}, "below zero"),
        ("releases", {"CURRENT_FREE_SHARES": 132074.4667}, "another unit"),  # FREE_SHARES, mis-read
        ("releases", {"TOTAL_RATIO": 16.1}, "no fraction"),
        ("releases", {"FREE_DATE": "2026-13-01 00:00:00"}, "no date"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(name: str, changed: dict[str, Any], reason: str) -> None:
    row = json.loads(PARSERS[name][0])["result"]["data"][0]

    with pytest.raises(PayloadError, match=reason):
        parse(name, body([{**row, **changed}], 1))


@pytest.mark.parametrize(
    ("name", "column"),
    [("listing", "EXPLANATION"), ("seat", "RANK"), ("deal", "DEAL_AMT"), ("releases", "CURRENT_FREE_SHARES")],
)
def test_a_renamed_column_is_named(name: str, column: str) -> None:
    row = json.loads(PARSERS[name][0])["result"]["data"][0]
    del row[column]

    with pytest.raises(PayloadError, match=column):
        parse(name, body([row], 1))


def test_recorded_releases_are_what_is_released_not_the_float() -> None:
    first, second = (row for _, row in parse("releases").iterrows())

    assert (first["code"], first["free_date"]) == ("600626", "2026-07-28")
    assert first["free_shares"] == 212_765_957
    assert first["market_value"] == pytest.approx(693_617_019.82)
    assert (first["ratio_float_pct"], first["ratio_total_pct"]) == (19.2031, 16.1095)
    assert (second["free_shares"], second["able_shares"]) == (816_783, 816_783)


def test_a_one_sided_seat_has_no_figure_on_the_other_side() -> None:
    row = parse("seat").iloc[0]

    assert (row["side"], row["rank_no"], row["branch_code"]) == ("buy", 1, "0")
    assert (row["buy_amt"], row["net_amt"]) == (100.0, 100.0)
    assert row["sell_amt"] != row["sell_amt"]  # missing, not 0


def test_the_premium_is_of_the_close() -> None:
    row = parse("deal").iloc[0]

    assert (row["volume"], row["amount"], row["premium_pct"]) == (500_000, 14_000_000, -6.6667)


# The columns that public clients read of RPT_BILLBOARD_DAILYDETAILSBUY and ...SELL.
SIDE = {
    "TRADE_DATE": f"{DAY} 00:00:00", "SECURITY_CODE": "002185", "EXPLANATION": LISTING["EXPLANATION"],
    "OPERATEDEPT_CODE": "0", "OPERATEDEPT_NAME": "机构专用", "BUY": 1_000_000.0, "SELL": 250_000.0,
    "NET": 750_000.0, "TOTAL_BUYRIO": 0.8, "TOTAL_SELLRIO": 0.2,
}  # fmt: skip
GONE = json.dumps(
    {"version": None, "result": None, "success": False, "message": "报表配置不存在", "code": 9501}
)


def test_seats_come_from_the_two_sides_where_the_report_of_all_is_gone() -> None:
    smaller = SIDE | {"OPERATEDEPT_NAME": "甲营业部", "BUY": 500_000.0, "NET": 250_000.0}
    seller = SIDE | {"BUY": 0, "SELL": 9_000_000.0, "NET": -9_000_000.0}

    rows = client(GONE.encode(), body([SIDE, smaller], 2), body([seller], 1)).billboard_seats(DAY, DAY)

    assert list(zip(rows["side"], rows["rank_no"], rows["branch_name"], rows["buy_amt"], strict=True)) == [
        ("buy", 1, "机构专用", 100.0),
        ("buy", 2, "甲营业部", 50.0),
        ("sell", 1, "机构专用", 0.0),
    ]
    assert rows["net_amt"].tolist() == [75.0, 25.0, -900.0]
    assert rows["sell_ratio_pct"].tolist() == [0.2, 0.2, 0.2]


def test_a_turnover_rate_keeps_its_four_decimals() -> None:
    assert parse("listing")["turnover"].tolist() == [16.9334]


def test_equal_deals_are_accepted_and_equal_seats_count_once() -> None:
    assert len(client(body([DEAL, DEAL], 2)).block_trades(DAY, DAY)) == 2
    assert len(client(body([SEAT, SEAT], 2)).billboard_seats(DAY, DAY)) == 1
    with pytest.raises(PayloadError, match="2 rows"):
        client(body([DEAL, DEAL], 1)).block_trades(DAY, DAY)


def test_b_shares_bonds_and_other_days_do_not_come_through() -> None:
    mixed = [
        {**LISTING, "SECURITY_CODE": code} for code in ("002185", "900901", "200011", "113709", "510300")
    ]

    assert client(body(mixed, 5)).billboard(DAY, DAY)["code"].tolist() == ["002185"]
    with pytest.raises(PayloadError, match="asked was 2026-07-08"):
        client(body([LISTING], 1)).billboard("2026-07-08", "2026-07-09")
    with pytest.raises(InputError, match="codes"):
        client().lockups(DAY, DAY, ())


def test_rows_of_another_stock_than_the_one_asked_for_are_refused() -> None:
    code = LISTING["SECURITY_CODE"]

    assert client(body([LISTING], 1)).billboard(DAY, DAY, [code])["code"].tolist() == [code]
    with pytest.raises(PayloadError, match=f"rows of {code}, which was not asked for"):
        client(body([LISTING], 1)).billboard(DAY, DAY, ["600000"])
    with pytest.raises(PayloadError, match="not asked for"):
        client(body([DEAL], 1)).block_trades(DAY, DAY, ["600000"])


@quick
@given(st.data())
def test_damaged_reports(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(PARSERS)))
    recorded, _ = PARSERS[name]
    damaged = data.draw(st.one_of(damaged_json(recorded), damaged_bytes(recorded)))
    try:
        rows = parse(name, damaged)
    except (*ACCEPTED, Permanent):
        return
    assert list(rows.columns) == list(parse(name).columns)
    amounts = [column for column in rows if column.endswith(("_amt", "amount", "volume", "_shares"))]
    assert not (rows[[column for column in amounts if column != "net_amt"]] < 0).any().any()
