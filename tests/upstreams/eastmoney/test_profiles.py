"""Pages of company profiles: units, corrupted responses, and the answers of the simulated portal."""

import json
import math
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.eastmoney.f10 import profile
from resources.upstreams.tdx.profile import parse_profile
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, damaged_text, quick

SYMBOL = "sh600519"
# Field names as the description of the wire format has them.
SURVEY = {
    "jbzl": [
        {
            "SECUCODE": "600519.SH",
            "SECURITY_CODE": "600519",
            "SECURITY_NAME_ABBR": "贵州茅台",
            "ORG_NAME": "贵州茅台酒股份有限公司",
            "STR_CODEA": "600519",
            "TRADE_MARKET": "上交所主板",
            "INDUSTRYCSRC1": "制造业-酒、饮料和精制茶制造业",
            "EM2016": "食品饮料-饮料-白酒",
            "PRESIDENT": "王莉",
            "LEGAL_PERSON": "张德芹",
            "SECRETARY": "蒋焰",
            "CHAIRMAN": "张德芹",
            "ORG_TEL": "0851-22386002",
            "ORG_WEB": "www.moutaichina.com",
            "ADDRESS": "贵州省仁怀市茅台镇",
            "REG_CAPITAL": 125619.78,
            "EMP_NUM": 34750,
            "ORG_PROFILE": "    酒类的生产和销售。",
            "BUSINESS_SCOPE": "茅台酒系列产品的生产与销售",
        }
    ],
    "fxxg": [
        {
            "SECUCODE": "600519.SH",
            "SECURITY_CODE": "600519",
            "FOUND_DATE": "1999-11-20 00:00:00",
            "LISTING_DATE": "2001-08-27 00:00:00",
            "AFTER_ISSUE_PE": 23.93,
            "ONLINE_ISSUE_DATE": "2001-07-31 00:00:00",
            "ISSUE_WAY": "网上定价发行",
            "PAR_VALUE": 1,
            "TOTAL_ISSUE_NUM": 71500000,
            "ISSUE_PRICE": 31.39,
            "DEC_SUMISSUEFEE": 41000000,
            "TOTAL_FUNDS": 2244385000,
            "NET_RAISE_FUNDS": 2202000000,
            "OPEN_PRICE": 34.51,
            "CLOSE_PRICE": 35.55,
            "TURNOVERRATE": 56.83,
        }
    ],
}
BUSINESS = {"zyfw": [{"SECUCODE": "600519.SH", "SECURITY_CODE": "600519", "BUSINESS_SCOPE": "白酒"}]}
HOLDERS = {
    "sjkzr": [
        {"SECUCODE": "600519.SH", "SECURITY_CODE": "600519", "HOLDER_NAME": name}
        for name in ("甲", "乙", "甲")
    ]
}
TEXT = (
    "☆公司概况☆ ◇600519 贵州茅台 更新日期：2026-08-21◇\r\n【1.基本资料】\r\n"
    "┌────┬────┐\r\n│公司名称 │贵州茅台酒股份有限公司\r\n│所属地域 │贵州\r\n"
    "│上市日期 │2001-08-27\r\n└────┴────┘\r\n【2.主营业务】 白酒的生产和销售。\r\n"
)


def body(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def with_issue(**values: Any) -> bytes:
    return body({**SURVEY, "fxxg": [{**SURVEY["fxxg"][0], **values}]})


def test_register_data_and_issue_in_our_units() -> None:
    row = profile.parse_survey(body(SURVEY), SYMBOL).iloc[0]

    assert (row["code"], row["full_name"]) == ("600519", "贵州茅台酒股份有限公司")
    assert row["registered_capital"] == 1_256_197_800.0
    assert row["website"] == "http://www.moutaichina.com"
    assert row["intro"] == "酒类的生产和销售。"
    assert (row["established_date"], row["list_date"]) == ("1999-11-20", "2001-08-27")
    assert (row["issue_shares"], row["raised_funds"]) == (71_500_000, 2_244_385_000)
    assert row["first_day_change_pct"] == pytest.approx((35.55 / 31.39 - 1) * 100, abs=1e-4)


def test_impossible_values_are_refused_and_absent_ones_stay_missing() -> None:
    with pytest.raises(PayloadError, match="do not make"):
        profile.parse_survey(with_issue(TOTAL_ISSUE_NUM=7150), SYMBOL)
    with pytest.raises(PayloadError, match="instead of"):
        profile.parse_survey(body(SURVEY), "sh600520")
    with pytest.raises(PayloadError, match="no part"):
        profile.parse_survey(b"{}", SYMBOL)

    # Of an issue in 10,000s on both sides no wrong value is stored.
    wan = profile.parse_survey(with_issue(TOTAL_ISSUE_NUM=7150, TOTAL_FUNDS=224438.5), SYMBOL).iloc[0]
    assert math.isnan(wan["issue_shares"])
    assert math.isnan(wan["raised_funds"])
    unpriced = profile.parse_survey(with_issue(ISSUE_PRICE=None, CLOSE_PRICE=None), SYMBOL).iloc[0]
    assert math.isnan(unpriced["issue_price"])
    assert math.isnan(unpriced["first_day_change_pct"])
    assert len(profile.parse_survey(body({"jbzl": [], "fxxg": []}), SYMBOL)) == 0
    script = {**SURVEY, "jbzl": [{**SURVEY["jbzl"][0], "ORG_WEB": "javascript://x"}]}
    assert profile.parse_survey(body(script), SYMBOL).iloc[0]["website"] is None


def test_business_and_controllers() -> None:
    assert profile.parse_business(body(BUSINESS), SYMBOL) == "白酒"
    assert profile.parse_business(b'{"zyfw":[]}', SYMBOL) is None
    assert profile.parse_controller(body(HOLDERS), SYMBOL) == "甲、乙"
    with pytest.raises(PayloadError, match="instead of"):
        profile.parse_controller(body(HOLDERS), "sz000001")


def test_the_terminals_text() -> None:
    row = parse_profile(TEXT, SYMBOL).iloc[0]

    assert (row["full_name"], row["province"], row["list_date"]) == (
        "贵州茅台酒股份有限公司",
        "贵州",
        "2001-08-27",
    )
    assert row["main_business"] == "白酒的生产和销售。"
    assert len(parse_profile("", SYMBOL)) == 0
    with pytest.raises(PayloadError, match="a text of 600519"):
        parse_profile(TEXT, "sh600520")


def test_the_terminals_text_with_everything_in_one_box() -> None:
    """The form that two public clients of the terminal read: pairs side by side, values over two rows."""
    box = (
        "公司概况☆ ◇600519 贵州茅台 更新日期：2026-09-18◇ 通达信沪深京F10\r\n★本栏包括【1.基本资料】\r\n"
        "【1.基本资料】\r\n┌────┬────┐\r\n│公司名称      │贵州茅台酒股份有限公司   │\r\n"
        "├────┼────┤\r\n"
        "│主营业务      │茅台酒及系列酒的生产与  │\r\n│              │销售                    │\r\n"
        "├────┼────┤\r\n"
        "│所属地域      │贵州         │上市日期      │2001-08-27  │\r\n└────┴────┘\r\n"
    )

    row = parse_profile(box, SYMBOL).iloc[0]

    assert row["full_name"] == "贵州茅台酒股份有限公司"
    assert (row["province"], row["list_date"]) == ("贵州", "2001-08-27")
    assert row["main_business"] == "茅台酒及系列酒的生产与销售"


def _must_refuse_or_parse(parse: Any, answer: Any) -> None:
    """A value or a refusal that the pipeline knows, nothing else."""
    with suppress(ACCEPTED):
        parse(answer)


@quick
@given(st.data())
def test_damaged_answers_are_refused_or_true(data: st.DataObject) -> None:
    for document, parse in (
        (SURVEY, profile.parse_survey),
        (BUSINESS, profile.parse_business),
        (HOLDERS, profile.parse_controller),
    ):
        whole = body(document)
        _must_refuse_or_parse(partial(parse, symbol=SYMBOL), data.draw(damaged_bytes(whole)))
        _must_refuse_or_parse(partial(parse, symbol=SYMBOL), data.draw(damaged_json(whole)))
    _must_refuse_or_parse(partial(parse_profile, symbol=SYMBOL), data.draw(damaged_text(TEXT, "│")))
