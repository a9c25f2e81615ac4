"""The market by class as Shanghai and Shenzhen publish it: documented columns, and other units."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.exchanges import sse, szse_report
from resources.upstreams.exchanges.common import OVERVIEW_COLUMNS
from simulated_market.exchanges.sheet import workbook
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-24"
SSE = {"TRADE_DATE": "20260924", "PRODUCT_CODE": "17", "LIST_NUM": "2338", "TOTAL_VALUE": "612345.67",
       "NEGO_VALUE": "570001.20", "TRADE_AMT": "9123.45", "TRADE_VOL": "601.20", "AVG_PE_RATE": "15.30",
       "TOTAL_TO_RATE": "1.4899"}  # fmt: skip
BONDS = {**dict.fromkeys(SSE, "-"), "TRADE_DATE": "20260924", "PRODUCT_CODE": "11", "TRADE_AMT": "0.00"}
HEADS = ["证券类别", "数量", "成交金额", "总市值", "流通市值"]
SZSE = ["股票", "2,890", "1,012,345,678,901.20", "38,000,000,000,000.00", "33,000,000,000,000.00"]
FUNDS = ["基金", "790", "120,000,000,000.00", "1,500,000,000,000.00", ""]


def shanghai(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"actionErrors": [], "result": list(rows), "pageHelp": {"total": 0}}).encode()


def test_shanghai_in_hundred_millions() -> None:
    rows = sse.parse_overview(shanghai(SSE, BONDS), DAY)

    first = rows.iloc[0]
    assert list(rows.columns) == list(OVERVIEW_COLUMNS)
    assert (first["exchange"], first["sec_class"], first["listed_count"]) == ("SSE", "股票", 2338)
    assert (first["amount_yi"], first["volume_yi"], first["pe_ratio"]) == (9123.45, 601.2, 15.3)
    assert rows.iloc[1][["total_market_cap_yi", "pe_ratio", "turnover_pct"]].isna().all()
    assert sse.parse_overview(shanghai(), DAY).empty


def test_shenzhen_is_a_workbook_in_yuan_unless_a_head_says_otherwise() -> None:
    rows = szse_report.parse_overview(workbook([HEADS, SZSE, FUNDS]), DAY)
    assert rows["amount_yi"].tolist() == [10_123.46, 1200.0]
    assert rows.iloc[0][["listed_count", "total_market_cap_yi"]].tolist() == [2890, 380_000.0]
    assert rows["volume_yi"].isna().all()
    heads = ["证券类别", "数量(只)", "成交金额（亿元）", "总市值(亿元)", "流通市值(亿元)"]
    reported = szse_report.parse_overview(
        workbook([heads, ["股票", "2,890", "10,123.46", "380,000", "330,000"]]), DAY
    )
    assert reported.iloc[0]["amount_yi"] == 10_123.46
    assert szse_report.parse_overview(workbook([HEADS]), DAY).empty


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**SSE, "TRADE_DATE": "20260923"}, "asked was"),
        ({**SSE, "PRODUCT_CODE": "99"}, "not asked for"),
        ({**SSE, "TRADE_AMT": "-"}, "missing"),
        ({**SSE, "TRADE_AMT": "912345000000"}, "another unit"),
        ({**SSE, "NEGO_VALUE": "700000"}, "float"),
        ({**SSE, "TOTAL_VALUE": "-5"}, "below zero"),
        ({name: value for name, value in SSE.items() if name != "LIST_NUM"}, "no field LIST_NUM"),
    ],
)
def test_rejected_rows_of_shanghai(row: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        sse.parse_overview(shanghai(row), DAY)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([HEADS[1:], SZSE[1:]], "heads"),
        ([HEADS, FUNDS], "no class"),
        ([["证券类别", "数量", "成交金额(港元)", "总市值", "流通市值"], SZSE], "港元"),
        ([HEADS, ["股票", "1", "9e11", "5e11", "5e11"]], "more was traded"),
        ([HEADS, ["股票", "1", "abc", "5", "5"]], "no number"),
    ],
)
def test_rejected_workbooks_of_shenzhen(table: list[list[str]], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        szse_report.parse_overview(workbook(table), DAY)


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    text, book = shanghai(SSE, BONDS), workbook([HEADS, SZSE, FUNDS])
    if data.draw(st.booleans()):
        damaged, parse = data.draw(damaged_bytes(book)), szse_report.parse_overview
    else:
        damaged = data.draw(st.one_of(damaged_json(text), damaged_bytes(text)))
        parse = sse.parse_overview
    try:
        rows = parse(damaged, DAY)
    except ACCEPTED:
        return
    assert (rows["trade_date"] == DAY).all()
    assert not (rows["amount_yi"] < 0).any()
