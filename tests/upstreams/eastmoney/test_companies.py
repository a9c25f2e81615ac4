"""Holders, dividends, executives and visits in the data centre: recorded rows, units, contradictions."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import InputError, PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.reports import companies, holdings
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.eastmoney.test_reports import Pages, body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PAYLOADS = Path(__file__).parent / "payloads"
ACTIONS = json.loads((PAYLOADS / "em_dc_corporate_actions_20260728.json").read_bytes())
DIVIDEND = ACTIONS["RPT_SHAREBONUS_DET"][0]
# The sample of the wire format's description.
HOLDERS = {
    "SECURITY_CODE": "300124",
    "CHANGE_SHARES": 811800,
    "CHANGE_REASON": "股权激励",
    "END_DATE": "2023-05-19 00:00:00",
    "INTERVAL_CHRATE": 1.5826087,
    "AVG_MARKET_CAP": 2246954.58526909,
    "AVG_HOLD_NUM": 38468.6626479899,
    "TOTAL_MARKET_CAP": 155437577345.16,
    "TOTAL_A_SHARES": 2661146676,
    "HOLD_NOTICE_DATE": "2023-05-22 00:00:00",
    "HOLDER_NUM": 69177,
    "PRE_HOLDER_NUM": 67629,
    "HOLDER_NUM_CHANGE": 1548,
    "HOLDER_NUM_RATIO": 2.288958878588,
    "PRE_END_DATE": "2023-05-10 00:00:00",
}

# Both after the samples of the description; what it leaves out is assumed.
TRADE = {
    "SECURITY_CODE": "688091",
    "CHANGE_DATE": "2026-07-30 00:00:00",
    "PERSON_NAME": "周劲松",
    "POSITION_NAME": "董事",
    "PERSON_DSE_RELATION": "本人",
    "CHANGE_SHARES": 3000,
    "AVERAGE_PRICE": 36.74,
    "CHANGE_AMOUNT": 110220,
    "CHANGE_REASON": "竞价交易",
    "CHANGE_RATIO": 0.0015,
    "CHANGE_AFTER_HOLDNUM": 40130058,
}
VISITOR = {
    "SECURITY_CODE": "002230",
    "NOTICE_DATE": "2026-04-30 00:00:00",
    "RECEIVE_START_DATE": "2026-04-29 00:00:00",
    "RECEIVE_OBJECT": "国盛证券",
    "ORG_TYPE": "证券公司",
    "RECEIVE_PLACE": "电话会议",
    "RECEIVE_WAY_EXPLAIN": "特定对象调研",
    "RECEPTIONIST": "董事会秘书",
    "INVESTIGATORS": "分析师",
    "NUM": 17,
    "SUM": 51,
    "NUMBERNEW": "17",
    "IS_SOURCE": "1",
}

parse_holders = partial(data_centre.parse_report, what="holders", read=holdings.HOLDERS.frame)
parse_dividends = partial(data_centre.parse_report, what="dividends", read=companies.dividend_rows)


def holder(**changed: Any) -> dict[str, Any]:
    return HOLDERS | changed


def dividend(**changed: Any) -> dict[str, Any]:
    return DIVIDEND | changed


def client(*bodies: bytes) -> tuple[EastmoneyClient, Pages]:
    pages = Pages(*bodies)
    return EastmoneyClient(pages, FrozenClock(NOW)), pages


def test_the_documented_count() -> None:
    page = parse_holders(body([holder()], 1))

    (row,) = page.rows.to_dict("records")
    assert (row["code"], row["date"], row["ann_date"]) == ("300124", "2023-05-19", "2023-05-22")
    assert (row["holder_num"], row["change_num"], row["change_ratio"]) == (69_177, 1_548, 2.289)
    assert (row["avg_shares"], row["avg_market_cap"]) == (38_468.66, 2_246_954.59)
    assert (row["total_shares"], row["interval_change_pct"]) == (2_661_146_676, 1.5826)


def test_a_first_count_has_no_change() -> None:
    first = holder(PRE_HOLDER_NUM=None, HOLDER_NUM_CHANGE=None, HOLDER_NUM_RATIO=None, INTERVAL_CHRATE=None)

    row = parse_holders(body([first], 1)).rows.iloc[0]

    assert math.isnan(row["change_num"])
    assert math.isnan(row["change_ratio"])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"HOLDER_NUM": None}, "HOLDER_NUM is missing"),
        ({"HOLDER_NUM": -1}, "below zero"),
        ({"PRE_HOLDER_NUM": 67_000}, "HOLDER_NUM_CHANGE"),
        ({"HOLDER_NUM_RATIO": 0.02288958878588}, "percent"),  # a fraction
        ({"AVG_HOLD_NUM": 3.84686626479899}, "wrong unit"),  # 10k shares
        ({"AVG_HOLD_NUM": 384.686626479899}, "wrong unit"),  # lots
        ({"END_DATE": "2023-02-30 00:00:00"}, "END_DATE"),
        ({"SECURITY_CODE": "30012X"}, "code"),
    ],
)
def test_a_count_that_contradicts_itself_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_holders(body([holder(**changed)], 1))


def test_the_recorded_dividend() -> None:
    page = parse_dividends(body([DIVIDEND], 1))

    (row,) = page.rows.to_dict("records")
    assert (row["code"], row["name"], row["report_period"]) == ("600675", "中华企业", "2025-12-31")
    assert (row["ann_date"], row["notice_date"]) == ("2026-03-25", "2026-07-28")
    assert (row["record_date"], row["ex_date"]) == ("2026-08-03", "2026-08-04")
    assert row["bonus_rmb"] == 0.059  # per 10 shares, as the plan says: 10派0.059元
    assert row["dividend_yield"] == 0.2731  # the wire has the fraction
    assert math.isnan(row["bonus_ratio"])
    assert math.isnan(row["transfer_ratio"])
    assert row["progress"] == "实施方案"
    assert row["plan_text"] == "10派0.059元(含税,扣税后0.0531元)"
    assert math.isnan(row["payout_ratio"])  # BASIC_EPS was not recorded
    assert json.loads(row["payload"]) == DIVIDEND


def test_shares_and_earnings_of_a_dividend() -> None:
    changed = dividend(BONUS_RATIO=2, IT_RATIO=3.5, BONUS_IT_RATIO=5.5, BASIC_EPS=0.0118)

    row = parse_dividends(body([changed], 1)).rows.iloc[0]

    assert (row["bonus_ratio"], row["transfer_ratio"]) == (2, 3.5)
    assert row["payout_ratio"] == 50.0
    losing = parse_dividends(body([dividend(BASIC_EPS=-0.2)], 1)).rows.iloc[0]
    assert math.isnan(losing["payout_ratio"])


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ("董事会预案", "预案"),
        ("股东大会决议", "股东大会通过"),
        ("不分配不转增", "不分配"),
        ("停止实施", "停止实施"),
    ],
)
def test_progress_in_the_terms_of_the_dictionary(reported: str, meant: str) -> None:
    row = parse_dividends(body([dividend(ASSIGN_PROGRESS=reported, EX_DIVIDEND_DATE=None)], 1)).rows.iloc[0]

    assert (row["progress"], row["ex_date"]) == (meant, None)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"PRETAX_BONUS_RMB": -0.059}, "below zero"),
        ({"BONUS_RATIO": 2, "BONUS_IT_RATIO": 3}, "BONUS_IT_RATIO"),
        ({"DIVIDENT_RATIO": 2.7}, "fraction"),
        ({"EX_DIVIDEND_DATE": "soon"}, "EX_DIVIDEND_DATE"),
        ({"SECURITY_CODE": 600675}, "code"),
        ({"ASSIGN_PROGRESS": 3}, "ASSIGN_PROGRESS"),
    ],
)
def test_a_dividend_that_contradicts_itself_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_dividends(body([dividend(**changed)], 1))


def test_the_documented_trade() -> None:
    second = {**TRADE, "CHANGE_AFTER_HOLDNUM": 40_133_058}
    rows = client(body([TRADE, TRADE, second], 3))[0].executive_trades("2026-07-30", "2026-07-30")

    assert len(rows) == 2  # a repeated line, and a second trade at the same price
    row = rows.iloc[0]
    assert (row["code"], row["change_date"], row["person"]) == ("688091", "2026-07-30", "周劲松")
    assert (row["change_shares"], row["price"], row["amount"]) == (3000, 36.74, 110_220)
    assert (row["title"], row["after_shares"]) == ("董事", 40_130_058)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"CHANGE_AMOUNT": 11.022}, "wrong unit"),  # 10k CNY
        ({"AVERAGE_PRICE": -36.74}, "below zero"),
        ({"CHANGE_SHARES": None}, "CHANGE_SHARES is missing"),
        ({"PERSON_NAME": None}, "PERSON_NAME"),
    ],
)
def test_a_trade_that_contradicts_itself_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        client(body([TRADE | changed], 1))[0].executive_trades("2026-07-30", "2026-07-30")


def test_sold_shares_are_below_zero_and_gifts_have_no_price() -> None:
    sold = TRADE | {"CHANGE_SHARES": -3000, "CHANGE_AMOUNT": -110220}
    given = TRADE | {"AVERAGE_PRICE": None, "CHANGE_AMOUNT": None, "CHANGE_REASON": "股权激励实施"}

    rows = client(body([sold, given], 2))[0].executive_trades("2026-07-30", "2026-07-30")

    assert rows["change_shares"].tolist() == [-3000, 3000]
    assert rows["price"].isna().tolist() == [False, True]


def test_visitors_and_what_was_said_are_two_requests() -> None:
    said = {name: VISITOR[name] for name in ("SECURITY_CODE", "NOTICE_DATE", "RECEIVE_START_DATE")}
    portal, asked = client(
        body([VISITOR, VISITOR | {"RECEIVE_OBJECT": None}, VISITOR | {"RECEIVE_OBJECT": "易方达基金"}], 3),
        body([said | {"CONTENT": "问:订单如何?\n答:饱满。"}], 1),
    )

    rows = portal.surveys("2026-04-30", "2026-04-30")

    assert rows["org_name"].tolist() == ["国盛证券", "易方达基金"]
    first = rows.iloc[0]
    assert (first["code"], first["survey_date"], first["ann_date"]) == ("002230", "2026-04-29", "2026-04-30")
    assert (first["org_type"], first["persons"]) == ("证券公司", "分析师")
    assert set(rows["content"]) == {"问:订单如何?\n答:饱满。"}
    filters = [dict(one.params)["filter"] for one in asked.asked]
    days = "(NOTICE_DATE>='2026-04-30')(NOTICE_DATE<='2026-04-30')"
    assert filters == [f'(IS_SOURCE="1"){days}', f'(IS_SOURCE="1")(NUMBERNEW="1"){days}']
    assert "CONTENT" not in dict(asked.asked[0].params)["columns"]


HOLDING = {
    "SECURITY_CODE": "600519",
    "REPORT_DATE": "2026-06-30 00:00:00",
    "ORG_TYPE": "01",
    "HOULD_NUM": 812,
    "TOTAL_SHARES": 81_000_000,
    "HOLD_VALUE": 1.1421e11,
    "FREESHARES_RATIO": 6.4481,
    "TOTALSHARES_RATIO": 6.4481,
    "HOLDCHA_NUM": -1_200_000,
}
"""Made after the list of columns; no sample of this report is known."""


def test_holdings_of_institutions_by_kind_and_by_codes() -> None:
    portal, asked = client(body([HOLDING], 1), body([HOLDING, HOLDING | {"ORG_TYPE": "05"}], 2))

    row = portal.org_holdings("2026-06-30", "fund").iloc[0]
    both = portal.org_holdings_of(("600519",), "2024-01-01", "2026-08-21")

    assert (row["code"], row["report_period"], row["org_type"]) == ("600519", "2026-06-30", "fund")
    assert (row["org_count"], row["hold_shares"], row["change_shares"]) == (812, 81_000_000, -1_200_000)
    assert (row["hold_value"], row["ratio_float_pct"]) == (1.1421e11, 6.4481)
    assert both["org_type"].tolist() == ["fund", "insurance"]
    assert dict(asked.asked[0].params)["filter"] == "(REPORT_DATE='2026-06-30')(ORG_TYPE=\"01\")"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"ORG_TYPE": "07"}, "ORG_TYPE"),
        ({"TOTALSHARES_RATIO": 644.81}, "percent"),
        ({"TOTAL_SHARES": -1}, "below zero"),
        ({"REPORT_DATE": "2026-03-31 00:00:00"}, "rows of 2026-03-31, asked was 2026-06-30"),
    ],
)
def test_a_holding_that_cannot_be_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        client(body([HOLDING | changed], 1))[0].org_holdings("2026-06-30", "fund")


def test_a_lost_column_is_named() -> None:
    for row, parse, name in (
        (holder(), parse_holders, "HOLDER_NUM"),
        (dividend(), parse_dividends, "IT_RATIO"),
    ):
        del row[name]
        with pytest.raises(PayloadError, match=name):
            parse(body([row], 1))


def test_both_are_asked_by_the_day_of_the_notice_or_by_codes() -> None:
    portal, asked = client(body([dividend()], 1), body([holder()], 1))

    portal.dividends("2026-07-25", "2026-07-28")
    portal.holder_counts(None, "2026-07-28", ("300124", "600519"))

    first, second = (dict(one.params) for one in asked.asked)
    assert first["filter"] == "(NOTICE_DATE>='2026-07-25')(NOTICE_DATE<='2026-07-28')"
    assert first["sortColumns"] == "SECURITY_CODE,REPORT_DATE,PLAN_NOTICE_DATE"
    assert second["filter"] == '(SECURITY_CODE in ("300124","600519"))(HOLD_NOTICE_DATE<=\'2026-07-28\')'


def test_rows_of_other_days_and_codes_are_refused() -> None:
    for since, until in (("2026-07-29", "2026-07-30"), ("2026-07-01", "2026-07-27")):
        with pytest.raises(PayloadError, match="asked was"):
            client(body([dividend()], 1))[0].dividends(since, until)
    with pytest.raises(PayloadError, match="not asked for"):
        client(body([holder()], 1))[0].holder_counts(None, "2026-07-28", ("600519",))
    with pytest.raises(InputError, match="codes"):
        client()[0].holder_counts(None, "2026-07-28", ())


@quick
@given(st.data())
def test_damaged_reports(data: st.DataObject) -> None:
    row, parse, names = data.draw(
        st.sampled_from(
            (
                (HOLDERS, parse_holders, holdings.HOLDERS.columns),
                (DIVIDEND, parse_dividends, companies.DIVIDEND_COLUMNS),
                (TRADE, partial(parse_holders, read=holdings.TRADES.frame), holdings.TRADES.columns),
                (VISITOR, partial(parse_holders, read=companies.VISITORS.frame), companies.VISITORS.columns),
            )
        )
    )
    whole = body([row], 1)
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
    try:
        page = parse(damaged)
    except (*ACCEPTED, Permanent):
        return
    assert list(page.rows.columns) == list(names)
    for name in ("holder_num", "avg_shares", "bonus_rmb", "transfer_ratio", "bonus_ratio"):
        assert name not in names or not (page.rows[name] < 0).any()
