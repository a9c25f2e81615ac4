"""Holders, funds, share capital, buybacks, business and consensus: no sample of these answers is known, so
the rows are made after the list of their columns."""

import json
import math
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Permanent, Refused
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.f10 import operations, top_holders
from resources.upstreams.eastmoney.reports import (
    billboard,
    bonds,
    capital,
    consensus,
    markets,
    risks,
    trading,
)
from tests.upstreams.eastmoney.test_companies import client
from tests.upstreams.eastmoney.test_reports import body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-06-30 00:00:00"
FLOAT = {
    "SECURITY_CODE": "600519",
    "END_DATE": DAY,
    "HOLDER_RANK": 1,
    "HOLDER_NAME": "中国贵州茅台酒厂(集团)有限责任公司",
    "SHARES_TYPE": "A股",
    "HOLD_NUM": 679_211_576,
    "FREE_HOLDNUM_RATIO": 54.07,
    "HOLD_NUM_CHANGE": "不变",
    "HOLDNUM_CHANGE_NAME": None,
}
TOP = {
    "RANK": 2,
    "HOLD_RATIO": 6.01,
    "HOLD_NUM_CHANGE": -1_200_000,
    "HOLDNUM_CHANGE_NAME": "减少",
    **{name: FLOAT[name] for name in ("SECURITY_CODE", "END_DATE", "SHARES_TYPE")},
    "HOLDER_NAME": "香港中央结算有限公司",
    "HOLD_NUM": 75_498_000,
}
POSITION = {
    "SECURITY_CODE": "600519",
    "SECUCODE": "600519.SH",
    "REPORT_DATE": DAY,
    "ORG_TYPE": "基金",
    "HOLDER_CODE": "510300",
    "HOLDER_NAME": "华泰柏瑞沪深300ETF",
    "TOTAL_SHARES": 5_100_000,
    "HOLD_MARKET_CAP": 7.19e9,
    "FREE_SHARES_RATIO": 0.406,
    "NETASSET_RATIO": 3.21,
}
EQUITY = {
    "SECURITY_CODE": "600519",
    "END_DATE": "2026-03-02 00:00:00",
    "TOTAL_SHARES": 1_252_270_215,
    "LIMITED_SHARES": 2_270_215,
    "UNLIMITED_SHARES": 1_250_000_000,
    "LISTED_A_SHARES": 1_250_000_000,
    "H_FREE_SHARE": None,
    "CHANGE_REASON": "回购",
}
BUYBACK = {
    "DIM_SCODE": "600519",
    "DIM_DATE": "2026-05-06 00:00:00",
    "UPD": "2026-07-02 00:00:00",
    "DIM_TRADEDATE": "2026-05-06 00:00:00",
    "REPURENDDATE": None,
    "REPURPROGRESS": "004",
    "JEXX": 3e9,
    "JESX": 6e9,
    "REPURNUMLOWER": 1_600_000,
    "REPURNUMCAP": 3_200_000,
    "REPURPRICECAP": 1887.63,
    "REPURNUM": 1_000_000,
    "REPURAMOUNT": 1.45e9,
    "UPDATEDATE": "2026-07-02 00:00:00",
}
PART = {
    "SECUCODE": "600519.SH",
    "REPORT_DATE": "2025-12-31 00:00:00",
    "MAINOP_TYPE": "2",
    "ITEM_NAME": "茅台酒",
    "MAIN_BUSINESS_INCOME": 145_928_075_955.04,
    "MBI_RATIO": 0.8545,
    "MAIN_BUSINESS_COST": 8_669_000_000.0,
    "MAIN_BUSINESS_RPOFIT": 137_259_075_955.04,
    "GROSS_RPOFIT_RATIO": 0.940594,
}
CONSENSUS = {
    "SECURITY_CODE": "600519",
    "RATING_ORG_NUM": 31,
    "YEAR1": 2025,
    "YEAR2": 2026,
    "YEAR3": 2027,
    "YEAR4": 2028,
    "YEAR_MARK1": "A",
    "YEAR_MARK2": "E",
    "YEAR_MARK3": "E",
    "YEAR_MARK4": "E",
    "EPS1": 68.64,
    "EPS2": 72.41,
    "EPS3": 78.03,
    "EPS4": None,
}


@pytest.mark.parametrize(
    "report",
    [
        capital.buybacks_report(None, "2026-08-21"),
        consensus.consensus_report(),
        risks.pledges_report("2026-08-14", "2026-08-14"),
        risks.pledge_events_report("600519"),
        top_holders.positions_report("sh600519", ("2026-06-30",)),
        trading.margin_report.on("2026-08-20"),
        bonds.terms_report(),
        billboard.seats_report("2026-08-20", "2026-08-20"),
        markets.markets_report(("000001",), "2026-08-20", "2026-08-20"),
    ],
    ids=lambda report: report.name,
)
def test_no_column_without_a_witness_is_asked_for_by_name(report: data_centre.Report) -> None:
    """One wrong name in `columns` is answered 9501 and costs the table."""
    assert dict(data_centre.report_request(report, 1).params)["columns"] == "ALL"


def test_a_buyback_as_public_clients_read_it() -> None:
    # The names of akfamily/akshare:akshare/stock/stock_repurchase_em.py.
    row = capital.BUYBACKS.frame([BUYBACK]).iloc[0]

    assert (row["start_date"], row["amount_low"], row["amount_high"]) == ("2026-05-06", 3e9, 6e9)
    reported = capital.BUYBACKS.frame([{name: BUYBACK[name] for name in BUYBACK if name != "REPURAMOUNT"}])
    assert reported["amount_bought"].isna().all()


def page(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"zyfw": [], "zygcfx": list(rows)}).encode()


def test_a_period_of_holders_is_asked_for_in_two_slices_by_rank() -> None:
    portal, asked = client(body([FLOAT], 1), body([], 0), body([TOP], 1), body([], 0))

    floating = portal.top_holders("float10", "2026-06-30").iloc[0]
    all_shares = portal.top_holders("top10", "2026-06-30").iloc[0]

    filters = [dict(one.params)["filter"] for one in asked.asked]
    period = "(END_DATE='2026-06-30')"
    assert filters == [f"{period}({rank}{how}5)" for rank in ("HOLDER_RANK", "RANK") for how in ("<=", ">")]
    assert (floating["holder_type"], floating["rank_no"], floating["hold_shares"]) == (
        "float10",
        1,
        679_211_576,
    )
    assert (floating["ratio_pct"], floating["change_shares"], floating["change_text"]) == (54.07, 0, "不变")
    assert (all_shares["ratio_pct"], all_shares["change_shares"], all_shares["change_text"]) == (
        6.01,
        -1_200_000,
        "减少",
    )


def test_a_new_holder_has_no_change() -> None:
    rows = top_holders.holder_rows([FLOAT | {"HOLD_NUM_CHANGE": "新进"}], "float10")

    assert math.isnan(rows.loc[0, "change_shares"])
    assert rows.loc[0, "change_text"] == "新进"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"FREE_HOLDNUM_RATIO": 5407}, "percent"),
        ({"HOLD_NUM": -1}, "below zero"),
        ({"HOLD_NUM": None}, "missing"),
        ({"HOLD_NUM_CHANGE": "很多"}, "no number"),
        ({"HOLDER_NAME": " "}, "without a name"),
        ({"HOLDER_RANK": 0}, "rank 0"),
        ({"END_DATE": "2026-03-31 00:00:00"}, "rows of 2026-03-31"),
    ],
)
def test_a_holder_that_cannot_be_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        client(body([FLOAT | changed], 1))[0].top_holders("float10", "2026-06-30")


def test_holders_of_codes_are_asked_for_by_code() -> None:
    portal, asked = client(body([FLOAT], 1))

    portal.top_holders_of("float10", ("600519", "000001"), "2024-01-01", "2026-08-21")

    assert dict(asked.asked[0].params)["filter"] == (
        "(SECURITY_CODE in (\"600519\",\"000001\"))(END_DATE>='2024-01-01')(END_DATE<='2026-08-21')"
    )
    with pytest.raises(InputError, match="codes"):
        portal.top_holders_of("float10", (), "2024-01-01", "2026-08-21")


def test_funds_of_a_company() -> None:
    portal, asked = client(body([POSITION], 1))

    row = portal.fund_positions("sh600519", ["2026-06-30", "2026-03-31"]).iloc[0]

    assert (row["fund_code"], row["hold_shares"], row["hold_value"]) == ("510300", 5_100_000, 7.19e9)
    assert (row["float_ratio_pct"], row["nav_ratio_pct"]) == (0.406, 3.21)
    assert dict(asked.asked[0].params)["filter"] == (
        "(SECURITY_CODE=\"600519\")(REPORT_DATE in ('2026-06-30','2026-03-31'))(ORG_TYPE=\"基金\")"
    )


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"SECUCODE": "600518.SH"}, "600518"),
        ({"SECURITY_CODE": "600518", "SECUCODE": None}, "600518"),
        ({"ORG_TYPE": "01"}, "no fund"),  # the number that other reports have
        ({"FREE_SHARES_RATIO": 406}, "percent"),
        ({"TOTAL_SHARES": "-5"}, "below zero"),
        ({"HOLDER_CODE": ""}, "HOLDER_CODE"),
    ],
)
def test_a_position_that_cannot_be_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        client(body([POSITION | changed], 1))[0].fund_positions("sh600519", ["2026-06-30"])


def test_share_capital_and_its_parts() -> None:
    row = client(body([EQUITY], 1))[0].share_changes("2026-03-01", "2026-03-05").iloc[0]

    assert (row["change_date"], row["total_shares"], row["reason"]) == ("2026-03-02", 1_252_270_215, "回购")
    assert (row["float_shares"], row["restricted_shares"]) == (1_250_000_000, 2_270_215)
    for changed, reason in (
        ({"LIMITED_SHARES": 227.0215}, "are not TOTAL_SHARES"),
        ({"LISTED_A_SHARES": 2e9}, "beyond TOTAL_SHARES"),
        ({"TOTAL_SHARES": 0}, "TOTAL_SHARES 0"),
    ):
        with pytest.raises(PayloadError, match=reason):
            client(body([EQUITY | changed], 1))[0].share_changes("2026-03-01", "2026-03-05")


def test_a_buyback_and_how_far_it_has_come() -> None:
    portal, asked = client(body([BUYBACK], 1))

    row = portal.buybacks("2026-07-01", "2026-07-03").iloc[0]

    assert (row["update_date"], row["start_date"], row["end_date"]) == ("2026-07-02", "2026-05-06", None)
    assert (row["progress"], row["amount_bought"], row["shares_bought"]) == ("实施中", 1.45e9, 1_000_000)
    assert dict(asked.asked[0].params)["filter"] == "(UPDATEDATE>='2026-07-01')(UPDATEDATE<='2026-07-03')"
    for changed, reason in (
        ({"REPURPROGRESS": "007"}, "REPURPROGRESS"),
        ({"REPURAMOUNT": 1.45e13}, "wrong unit"),
        ({"JEXX": 7e9}, "beyond amount_high"),
        ({"DIM_TRADEDATE": "2026-07-03 00:00:00"}, "before its begin"),
    ):
        with pytest.raises(PayloadError, match=reason):
            client(body([BUYBACK | changed], 1))[0].buybacks("2026-07-01", "2026-07-03")


def test_a_buyback_without_its_range_and_first_day_keeps_the_rest() -> None:
    # A row of 2026 has neither of these fields; the day of the plan is the day by which the report sorts.
    cut = {name: value for name, value in BUYBACK.items() if name not in {"DIM_TRADEDATE", "JEXX", "JESX"}}
    row = client(body([cut], 1))[0].buybacks("2026-07-01", "2026-07-03").iloc[0]

    assert (row["start_date"], row["amount_bought"], row["shares_high"]) == ("2026-05-06", 1.45e9, 3_200_000)
    assert row[["amount_low", "amount_high"]].isna().all()
    with pytest.raises(PayloadError, match="neither DIM_TRADEDATE nor DIM_DATE"):
        client(body([{**cut, "DIM_DATE": None}], 1))[0].buybacks("2026-07-01", "2026-07-03")


def test_parts_of_a_business_in_percent() -> None:
    portal, asked = client(page(PART))

    row = portal.operations("sh600519").iloc[0]

    assert (row["code"], row["report_period"], row["dim_type"], row["item"]) == (
        "600519",
        "2025-12-31",
        "product",
        "茅台酒",
    )
    assert (row["revenue_ratio_pct"], row["gross_margin"]) == (85.45, 94.0594)
    assert dict(asked.asked[0].params) == {"code": "SH600519"}
    assert len(operations.parse_operations(page(), "sh600519")) == 0


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"MBI_RATIO": 85.45}, "no fraction"),
        ({"GROSS_RPOFIT_RATIO": 0.4}, "not profit / income"),
        ({"MAIN_BUSINESS_COST": 866_900.0}, "not income - cost"),
        ({"MAINOP_TYPE": "4"}, "MAINOP_TYPE"),
        ({"SECUCODE": "000858.SZ"}, "000858"),
        ({"ITEM_NAME": None}, "ITEM_NAME"),
    ],
)
def test_a_part_that_cannot_be_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        operations.parse_operations(page(PART | changed), "sh600519")


def test_a_page_without_the_table_is_a_changed_contract() -> None:
    with pytest.raises(PayloadError, match="zygcfx"):
        operations.parse_operations(b'{"zyfw":[]}', "sh600519")
    with pytest.raises(Refused):
        operations.parse_operations(b"<html>", "sh600519")


def test_a_company_of_the_consensus_is_a_row_per_year() -> None:
    rows = client(body([CONSENSUS], 1))[0].consensus(("600519",))

    assert rows["forecast_year"].tolist() == [2026, 2027]
    assert rows["eps_mean"].tolist() == [72.41, 78.03]
    assert set(rows["org_count"]) == {31}
    for changed, reason in (
        ({"YEAR3": 2029}, "YEAR3 is 2029"),
        ({"EPS2": 7241.0}, "not plausible"),
        ({"YEAR_MARK2": "P"}, "YEAR_MARK2"),
        ({"YEAR_MARK3": "A"}, "YEAR_MARK3"),
        ({"SECURITY_CODE": "600518"}, "not asked for"),
    ):
        with pytest.raises(PayloadError, match=reason):
            client(body([CONSENSUS | changed], 1))[0].consensus(("600519",))
    unmarked = {name: value for name, value in CONSENSUS.items() if not name.startswith("YEAR_MARK")}
    with pytest.raises(PayloadError, match="YEAR_MARK1"):
        client(body([unmarked], 1))[0].consensus(("600519",))


@quick
@given(st.data())
def test_damaged_reports(data: st.DataObject) -> None:
    of_report = partial(data_centre.parse_report, what="f10")
    cases: tuple[tuple[dict[str, Any], Any, Any], ...] = (
        (FLOAT, partial(top_holders.holder_rows, kind="float10"), top_holders.HOLDER_COLUMNS),
        (POSITION, partial(top_holders.position_rows, symbol="sh600519"), top_holders.POSITIONS.columns),
        (EQUITY, capital.EQUITY.frame, capital.EQUITY.columns),
        (BUYBACK, capital.BUYBACKS.frame, capital.BUYBACKS.columns),
        (CONSENSUS, consensus.consensus_rows, consensus.WIDE_COLUMNS),
    )
    row, read, names = data.draw(st.sampled_from(cases))
    whole = body([row], 1)
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
    try:
        rows = of_report(damaged, read=read).rows
    except (*ACCEPTED, Permanent):
        return
    assert list(rows.columns) == list(names)
    for name in ("hold_shares", "total_shares", "float_shares", "amount_bought", "org_count"):
        assert name not in names or not (rows[name] < 0).any()


@quick
@given(st.data())
def test_damaged_pages(data: st.DataObject) -> None:
    whole = page(PART)
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole)))
    try:
        rows = operations.parse_operations(damaged, "sh600519")
    except ACCEPTED:
        return
    assert list(rows.columns) == list(operations.OPERATION_COLUMNS)
    assert not (rows["revenue_ratio_pct"] > 150).any()
