"""Results at the portal: the recorded page, reports of a period, statements, and rejected answers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import InputError, PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.f10 import pages as f10
from resources.upstreams.eastmoney.reports import finance
from simulated_market.eastmoney.finance import main_row
from simulated_market.finance import Result
from simulated_market.world.model import Report, Security
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.eastmoney.test_reports import Pages, body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

RECORDED = (Path(__file__).parent / "payloads" / "em_dc_f10_mainfina_600519_2026q1.json").read_bytes()
PERIOD = "2024-09-30"
HEAD = {
    "SECURITY_CODE": "300962",
    "SECURITY_TYPE_CODE": "058001001",
    "NOTICE_DATE": "2024-10-22 00:00:00",
    "REPORT_DATE": f"{PERIOD} 00:00:00",
    "REPORTDATE": f"{PERIOD} 00:00:00",
}
EXPRESS = {
    "TOTAL_OPERATE_INCOME": 271524383.77,
    "YSTZ": 4.945669635131,
    "PARENT_NETPROFIT": 95891712.03,
    "JLRTBZCL": -0.637612609429,
    "WEIGHTAVG_ROE": 10.3,
}
SUMMARY = {
    "TOTAL_OPERATE_INCOME": 2.7e8,
    "PARENT_NETPROFIT": 9.5e7,
    "BASIC_EPS": 0.61,
    "DEDUCT_BASIC_EPS": 0.5,
}


def client(*bodies: bytes) -> tuple[EastmoneyClient, Pages]:
    pages = Pages(*bodies)
    return EastmoneyClient(pages, FrozenClock(NOW)), pages


def plain(rows: list[Mapping[str, Any]]) -> bytes:
    return json.dumps({"data": rows}).encode()


# -- the page of one company ------------------------------------------------------------------------


def test_the_recorded_page() -> None:
    page = f10.parse_main(RECORDED, "sh600519")

    assert (len(page), page.count) == (1, 102)  # the recording holds one row
    row = page.rows.iloc[0]
    assert (row["code"], row["report_period"], row["ann_date"]) == ("600519", "2026-03-31", None)
    assert (row["revenue"], row["net_profit"]) == (54702912385.23, 27242512886.45)
    assert (row["eps"], row["roe"], row["gross_margin"]) == (21.76, 10.57, 89.7592)
    assert (row["debt_ratio"], row["net_profit_yoy"]) == (12.1227, 1.4714)
    reported = json.loads(row["indicators"])
    assert reported["revenue_yoy"] == 6.336
    assert "deducted_eps" not in reported  # null on the wire
    with pytest.raises(PayloadError, match="1 of 102 periods"):
        client(RECORDED, body([], 102))[0].main_indicators("sh600519")


def test_the_simulated_page_has_every_field_of_the_recorded_one() -> None:
    security = Security("600519", "SH", "stock", "main", 2, 20010827)
    report = Report(
        20260331, 20260425, 9e8, 5e8, 2e8, 2e8, 1.5e8, 1e8, 3e9, 2e9, 5e8, 5e8, 8e8, 2e8, 2e9, 1e8, 7e8, 9
    )
    row = main_row(Result(security, "贵州茅台", report, 20260425, 10**9, None, None))

    assert json.loads(RECORDED)["result"]["data"][0].keys() <= row.keys()


def test_another_company_or_a_renamed_column_is_named() -> None:
    with pytest.raises(PayloadError, match=r"600519\.SH instead of 000001\.SZ"):
        f10.parse_main(RECORDED, "sz000001")
    with pytest.raises(PayloadError, match="EPSJB"):
        f10.parse_main(RECORDED.replace(b"EPSJB", b"EPSJC"), "sh600519")
    with pytest.raises(PayloadError, match="no quarter end"):
        f10.parse_main(RECORDED.replace(b"2026-03-31", b"2026-03-30"), "sh600519")
    with pytest.raises(Permanent):
        f10.parse_main('{"result":null,"success":false,"message":"报表","code":9501}'.encode(), "sh600519")


@quick
@given(st.data())
def test_damaged_pages(data: st.DataObject) -> None:
    damaged = data.draw(st.one_of(damaged_json(RECORDED), damaged_bytes(RECORDED)))
    try:
        page = f10.parse_main(damaged, "sh600519")
    except (*ACCEPTED, Permanent):
        return
    assert list(page.rows.columns) == list(f10.MAIN_COLUMNS)
    assert page.rows["code"].eq("600519").all()
    assert page.rows["report_period"].str.match(r"\d{4}-(03-31|06-30|09-30|12-31)").all()


# -- statements of one company ----------------------------------------------------------------------

PAGE = f10.Page("sh600519", "balance", "4")
BALANCE = {
    "SECUCODE": "600519.SH",
    "REPORT_DATE": "2026-06-30 00:00:00",
    "NOTICE_DATE": "2026-08-20 00:00:00",
    "TOTAL_ASSETS": 3e11,
    "TOTAL_ASSETS_YOY": 5.5,
    "OTHER_THING": 12.5,
    "OTHER_THING_YOY": None,
    "GOODWILL": None,
    "GOODWILL_YOY": None,
    "BASIC_EPS": 1.2345,
    "BASIC_EPS_YOY": 3.0,
    "DIVIDED_ON_NOTHING": 7,
}


def test_every_amount_with_a_change_is_an_item() -> None:
    rows = f10.parse_statement(plain([BALANCE]), PAGE, ["2026-06-30"])

    assert list(rows.columns) == list(finance.STATEMENT_COLUMNS)
    assert rows[["item", "value"]].to_numpy().tolist() == [["total_assets", 3e11], ["other_thing", 12.5]]
    assert rows["yoy"].iloc[0] == 5.5
    assert set(rows["ann_date"]) == {"2026-08-20"}


def test_periods_that_were_cut_off_are_missed() -> None:
    with pytest.raises(PayloadError, match="periods 2026-06-30; asked were 2026-03-31, 2026-06-30"):
        f10.parse_statement(plain([BALANCE]), PAGE, ["2026-06-30", "2026-03-31"])
    with pytest.raises(PayloadError, match="instead of"):
        f10.parse_statement(plain([BALANCE]), f10.Page("sz000001", "balance", "4"), ["2026-06-30"])
    with pytest.raises(PayloadError, match="hidctype"):
        f10.parse_kind(b"<html>busy</html>", "sh600519")
    with pytest.raises(PayloadError, match="data is no list"):
        f10.parse_dates(b'{"data":null}', PAGE)
    assert f10.parse_kind(b'<input id="hidctype" type="hidden" value="3" />', "sh600000") == "3"
    assert f10.parse_dates(plain([]), PAGE) == []


# -- reports of the market --------------------------------------------------------------------------


def test_the_documented_express_report() -> None:
    portal, asked = client(body([HEAD | EXPRESS], 1))
    rows = portal.express(PERIOD)

    row = rows.iloc[0]
    assert (row["code"], row["report_period"], row["ann_date"]) == ("300962", PERIOD, "2024-10-22")
    assert (row["revenue"], row["net_profit"]) == (271524383.77, 95891712.03)
    assert (row["revenue_yoy"], row["net_profit_yoy"], row["roe"]) == (4.9457, -0.6376, 10.3)
    params = dict(asked.asked[0].params)
    assert (params["reportName"], params["filter"]) == ("RPT_FCI_PERFORMANCEE", f"(REPORT_DATE='{PERIOD}')")


def test_b_shares_and_bonds_are_left_out_and_the_later_notice_wins() -> None:
    rows = [
        HEAD | SUMMARY,
        HEAD | SUMMARY | {"NOTICE_DATE": "2024-11-05 00:00:00", "PARENT_NETPROFIT": 9.0e7},
        HEAD | SUMMARY | {"SECURITY_CODE": "200725"},
        HEAD | SUMMARY | {"SECURITY_CODE": "900901"},
        HEAD | SUMMARY | {"SECURITY_CODE": "110001", "SECURITY_TYPE_CODE": "060001001"},
    ]
    portal, asked = client(body(rows, 5))
    found = portal.summaries(PERIOD)

    assert found[["code", "ann_date", "net_profit"]].to_numpy().tolist() == [["300962", "2024-11-05", 9.0e7]]
    assert json.loads(found["indicators"].iloc[0])["deducted_eps"] == 0.5
    assert dict(asked.asked[0].params)["filter"] == f"(REPORTDATE='{PERIOD}')"  # no underscore there


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"REPORTDATE": "2024-06-30 00:00:00"}, "rows of 2024-06-30, asked was 2024-09-30"),
        ({"REPORTDATE": "2024-09-29 00:00:00"}, "no quarter end"),
        ({"SECURITY_CODE": "30096"}, "code"),
        ({"PARENT_NETPROFIT": "many"}, "PARENT_NETPROFIT"),
        ({"NOTICE_DATE": "soon"}, "NOTICE_DATE"),
    ],
)
def test_a_rejected_summary(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        client(body([HEAD | SUMMARY | changed], 1))[0].summaries(PERIOD)


def test_statements_become_items() -> None:
    balance = {"TOTAL_ASSETS": 5e9, "TOTAL_LIABILITIES": 2e9, "TOTAL_EQUITY": 3e9, "MONETARYFUNDS": None}
    income = {
        "TOTAL_OPERATE_INCOME": 1e9,
        "PARENT_NETPROFIT": 1e8,
        "OPERATE_PROFIT": 2e8,
        "TOTAL_PROFIT": 2e8,
        "TOI_RATIO": 5.0,
    }
    cash = {"NETCASH_OPERATE": 3e8, "NETCASH_INVEST": -1e8, "NETCASH_FINANCE": 0}
    portal, asked = client(*(body([HEAD | part], 1) for part in (balance, income, cash)))
    rows = portal.statements(PERIOD).set_index(["statement", "item"])

    assert rows.loc[("balance", "total_assets"), "value"] == 5e9
    assert ("balance", "cash") not in rows.index
    assert rows.loc[("income", "revenue"), "yoy"] == 5.0
    assert rows.loc[("cashflow", "financing_cash_flow"), "value"] == 0
    assert "SECURITY_TYPE_CODE in" in dict(asked.asked[0].params)["filter"]
    with pytest.raises(PayloadError, match="TOTAL_PROFIT"):
        finance.statement_rows([HEAD | balance], "income")


def test_forecasts_keep_every_notice_and_codes_are_those_asked_for() -> None:
    row = HEAD | {"PREDICT_FINANCE_CODE": "004", "PREDICT_AMT_LOWER": 1.2e9, "ADD_AMP_LOWER": 4.73}
    later = row | {"NOTICE_DATE": "2024-10-30 00:00:00", "PREDICT_AMT_LOWER": 1.1e9}
    found = client(body([row, later], 2))[0].forecasts(PERIOD)

    assert found[["indicator", "ann_date", "lower"]].to_numpy().tolist() == [
        ["net_profit", "2024-10-22", 1.2e9],
        ["net_profit", "2024-10-30", 1.1e9],
    ]
    with pytest.raises(PayloadError, match="300962, which was not asked"):
        client(body([row], 1))[0].forecasts_of(["600000"])
    with pytest.raises(InputError, match="codes"):
        client()[0].express_of([])


@quick
@given(st.data())
def test_damaged_summaries(data: st.DataObject) -> None:
    whole = body([HEAD | SUMMARY], 1)
    try:
        page = data_centre.parse_report(data.draw(damaged_json(whole)), "summary", finance.summary_rows)
    except (*ACCEPTED, Permanent):
        return
    assert list(page.rows.columns) == list(finance.SUMMARY_COLUMNS)
    assert page.rows["report_period"].str.match(r"\d{4}-(03-31|06-30|09-30|12-31)").all()
