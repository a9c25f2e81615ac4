"""Pledges, goodwill, marks and convertible bonds: documented rows, units, contradictions."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.calls import funds
from resources.upstreams.eastmoney.quotes import lists
from resources.upstreams.eastmoney.reports import bonds, risks
from tests.upstreams.eastmoney.test_reports import body, client
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PAYLOADS = Path(__file__).parent / "payloads"
RECORDED = json.loads((PAYLOADS / "em_dc_corporate_actions_20260728.json").read_bytes())
TERMS = RECORDED["RPT_BOND_CB_LIST"][0]
# The sample of the wire format's description.
COMMENT = {
    "SECURITY_CODE": "300124", "SECUCODE": "300124.SZ", "TRADE_DATE": "2023-05-23 00:00:00",
    "SECURITY_NAME_ABBR": "汇川技术", "SUPERDEAL_INFLOW": 51772084, "SUPERDEAL_OUTFLOW": 40838951,
    "PRIME_INFLOW": 13455214, "CLOSE_PRICE": 60.56, "CHANGE_RATE": 0.4312, "TURNOVERRATE": 0.6759,
    "PRIME_COST": 61.137733386143, "PE_DYNAMIC": 53.92444316, "ORG_PARTICIPATE": 0.2719644,
    "PARTICIPATE_TYPE": "2", "BIGDEAL_INFLOW": 213188843, "BIGDEAL_OUTFLOW": 210666762,
    "TOTALSCORE": None, "RANK": None, "FOCUS": None, "PARTICIPATE_TYPE_CN": "中度控盘",
}  # fmt: skip
# After the description alone.
PLEDGE = {
    "SECURITY_CODE": "600519", "SECURITY_NAME_ABBR": "某公司", "TRADE_DATE": "2026-08-14 00:00:00",
    "INDUSTRY": "白酒", "PLEDGE_RATIO": 7.11, "REPURCHASE_BALANCE": 1013.64,
    "REPURCHASE_UNLIMITED_BALANCE": 866.91, "REPURCHASE_LIMITED_BALANCE": 146.73,
    "PLEDGE_MARKET_CAP": 12660.37, "PLEDGE_DEAL_NUM": 3, "Y1_CLOSE_ADJCHRATE": 72.27,
}  # fmt: skip
EVENT = {
    "SECURITY_CODE": "600519", "HOLDER_NAME": "某控股", "NOTICE_DATE": "2026-08-10 00:00:00",
    "PF_ORG": "某银行", "PF_NUM": 3_000_000, "PF_HOLD_RATIO": 20.5, "PF_TSR": 1.2,
    "PF_START_DATE": "2026-08-07 00:00:00", "UNFREEZE_STATE": "未解押", "WARNING_LINE": 9.1, "OPENLINE": 8.0,
}  # fmt: skip
GOODWILL = {
    "SECURITY_CODE": "600519", "SECURITY_NAME_ABBR": "某公司", "REPORT_DATE": "2025-12-31 00:00:00",
    "NOTICE_DATE": "2026-04-01 00:00:00", "GOODWILL": 2e8, "GOODWILL_PRE": 2.5e8, "GOODWILL_CHANGE": 5e7,
    "SUMSHEQUITY": 1.6e9, "SUMSHEQUITY_RATIO": 0.125, "PARENTNETPROFIT": -1e8, "PNP_YOY_RATIO": -150.5,
}  # fmt: skip
BOND = {
    "f2": 130.5, "f3": -0.4, "f6": 1.2e7, "f12": "113709", "f13": 1, "f14": "振26转债", "f26": 20260818,
    "f227": 95.2, "f229": 12.0, "f230": 1.5, "f232": "603067", "f234": "振华股份", "f235": 10.0,
    "f236": 120.0, "f237": 8.75, "f239": 7.0, "f240": 13.0, "f241": 112.0, "f297": 20260821,
}  # fmt: skip
FUND = {
    "f2": 1.226, "f3": 1.8, "f5": 1221579, "f6": 148974540.86, "f8": 15.2, "f12": "510300", "f13": 1,
    "f14": "300ETF", "f15": 1.23, "f16": 1.2, "f20": 980800000, "f26": 20120528, "f38": 800000000,
    "f62": -1000.0, "f297": 20260821, "f441": 1.223,
}  # fmt: skip

REPORTS = {
    "pledge": (PLEDGE, risks.PLEDGES.frame),
    "event": (EVENT, risks.PLEDGE_EVENTS.frame),
    "goodwill": (GOODWILL, risks.GOODWILL.frame),
    "comment": (COMMENT, risks.COMMENTS.frame),
    "terms": (TERMS, bonds.TERMS.frame),
}
LISTS = {"bond": (BOND, bonds.bond_rows), "fund": (FUND, funds.fund_rows)}


def parsed(name: str, **changed: Any) -> dict[str, Any]:
    row, read = REPORTS[name]
    page = data_centre.parse_report(body([row | changed], 1), what=name, read=read)
    found: dict[str, Any] = page.rows.to_dict("records")[0]
    return found


def page(row: dict[str, Any]) -> bytes:
    return json.dumps({"rc": 0, "data": {"total": 1, "diff": [row]}}).encode()


def listed(name: str, **changed: Any) -> dict[str, Any]:
    row, read = LISTS[name]
    found: dict[str, Any] = lists.parse_page(page(row | changed), name, read).rows.to_dict("records")[0]
    return found


def test_the_documented_mark() -> None:
    row = parsed("comment")

    assert (row["code"], row["trade_date"], row["price"]) == ("300124", "2023-05-23", 60.56)
    assert row["org_participation_pct"] == 27.1964  # the wire has the fraction
    assert (row["prime_cost"], row["turnover_pct"], row["pe_dynamic"]) == (61.1377, 0.6759, 53.9244)
    assert math.isnan(row["total_score"])  # not published during the session
    assert math.isnan(row["rank_no"])


def test_units_of_a_pledge_and_of_goodwill() -> None:
    row = parsed("pledge")
    assert (row["pledge_ratio"], row["pledge_shares_wan"], row["pledge_market_value"]) == (
        7.11,
        1013.64,
        12660.37,
    )
    assert (row["unrestricted_shares_wan"], row["restricted_shares_wan"]) == (866.91, 146.73)

    reported = parsed("goodwill")
    assert (reported["goodwill"], reported["goodwill_equity_ratio_pct"]) == (2e8, 12.5)
    assert (reported["impairment"], reported["impairment_profit_ratio_pct"]) == (5e7, -50.0)
    assert math.isnan(parsed("goodwill", PARENTNETPROFIT=0)["impairment_profit_ratio_pct"])


def test_the_recorded_terms_and_a_line_of_the_list() -> None:
    terms = parsed("terms")
    assert (terms["code"], terms["stock_code"], terms["rating"]) == ("113709", "603067", "AA")
    assert (terms["issue_size_yi"], terms["list_date"], terms["coupons"]) == (8.78, None, None)

    row = listed("bond")
    assert (row["symbol"], row["sec_type"], row["trade_date"]) == ("sh113709", "cb", "2026-08-21")
    assert (row["price"], row["convert_value"], row["premium_pct"]) == (130.5, 120.0, 8.75)
    assert math.isnan(listed("bond", f2="-")["price"])

    fund = listed("fund")
    assert (fund["volume"], fund["total_shares"], fund["total_market_cap"]) == (122_157_900, 8e8, 98_080)


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("pledge", {"PLEDGE_RATIO": 711}, "above 100 percent"),
        ("pledge", {"REPURCHASE_BALANCE": 10_136_400}, "do not add up"),
        ("pledge", {"PLEDGE_MARKET_CAP": 126_603_700_000}, "another unit"),
        ("pledge", {"PLEDGE_RATIO": None}, "is missing"),
        ("event", {"PF_TSR": 120}, "more than all shares"),
        ("event", {"PF_NUM": -5}, "below zero"),
        ("goodwill", {"SUMSHEQUITY_RATIO": 12.5}, "is not GOODWILL / SUMSHEQUITY"),
        ("goodwill", {"GOODWILL": None}, "is missing"),
        ("comment", {"ORG_PARTICIPATE": 27.19644}, "no fraction"),
        ("comment", {"PRIME_INFLOW": 1_345_521_400}, "sum of its parts"),
        ("comment", {"TOTALSCORE": 7000}, "above 100"),
        ("terms", {"ACTUAL_ISSUE_SCALE": 878_000_000}, "another unit"),
        ("terms", {"CONVERT_STOCK_CODE": "x"}, "code"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(name: str, changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parsed(name, **changed)


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("bond", {"f236": 12_000}, "f236"),
        ("bond", {"f235": 1000}, "f236"),
        ("bond", {"f2": -1}, "below zero"),
        ("bond", {"f12": "BK0428"}, "no code|market"),
        ("fund", {"f5": 122_157_900}, "wrong unit"),
        ("fund", {"f15": 1.0}, "high is below low"),
    ],
)
def test_a_line_that_contradicts_itself_is_refused(name: str, changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        listed(name, **changed)


def test_a_report_that_lost_a_column_or_is_of_another_week_is_refused() -> None:
    def without(column: str) -> pd.DataFrame:
        gone = {name: value for name, value in PLEDGE.items() if name != column}
        return data_centre.parse_report(body([gone], 1), what="pledge", read=risks.PLEDGES.frame).rows

    with pytest.raises((PayloadError, Permanent), match="PLEDGE_RATIO"):
        without("PLEDGE_RATIO")
    # A column that no public client names costs that column.
    assert without("PLEDGE_MARKET_CAP")["pledge_market_value"].isna().all()

    portal, _ = client(body([PLEDGE], 1))
    with pytest.raises(PayloadError, match="asked was"):
        portal.pledges("2026-08-21", "2026-08-21")
    portal, _ = client(body([COMMENT], 1))
    with pytest.raises(PayloadError, match="asked was"):
        portal.comments("2026-08-21")
    portal, _ = client(body([EVENT], 1))
    with pytest.raises(PayloadError, match="not asked for"):
        portal.pledge_events("000001")


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    calls = {
        body([row], 1): partial(data_centre.parse_report, what=name, read=read)
        for name, (row, read) in REPORTS.items()
    }
    calls |= {
        page(row): partial(lists.parse_page, what=name, read=read) for name, (row, read) in LISTS.items()
    }
    sound = data.draw(st.sampled_from(sorted(calls)))
    damaged = data.draw(st.one_of(damaged_json(sound), damaged_bytes(sound)))
    try:
        rows = calls[sound](damaged).rows
    except (*ACCEPTED, Permanent):
        return
    for name in ("price", "goodwill", "pledge_shares_wan", "pledge_shares", "issue_size_yi"):
        assert name not in rows or not (rows[name] < 0).any()
