"""The industry classification's answers: NaN, texts for numbers, pages, workbooks, and corrupted
responses."""

import json
import math
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError
from resources.upstreams.cninfo import records as industries
from resources.upstreams.sw.client import (
    SwClient,
    current_rows,
    page_of,
    parse_classes,
    parse_stocks,
    parse_trend,
    report_rows,
)
from simulated_market.indexers.workbook import workbook
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-30"
# The documented sample.
TREND = {
    "swindexcode": "801150",
    "bargaindate": "2026-09-30",
    "openindex": 7783.46,
    "maxindex": 8023.37,
    "minindex": 7770.06,
    "closeindex": 7989.13,
    "hike": math.nan,
    "markup": 2.73,
    "bargainamount": 77.96244102,
    "bargainsum": 1382.89681894,
}
CURRENT = {
    "l1": "801150", "l2": "医药生物", "l3": 7776.83, "l4": 7783.46, "l5": 1382.9, "l6": 8023.37,
    "l7": 7770.06, "l8": 7989.13, "l11": 77.96,
}  # fmt: skip
REPORT = {
    "swindexcode": "801150",
    "swindexname": "医药生物",
    "bargaindate": DAY,
    "closeindex": 7989.13,
    "bargainamount": 77.96,
    "markup": 2.73,
    "turnoverrate": 2.1,
    "pe": math.nan,
    "pb": 2.9,
    "meanprice": 17.7,
    "bargainsumrate": 8.4,
    "negotiablessharesum1": 51234.5,
    "negotiablessharesum2": 30123.4,
    "dp": 1.1,
}
RECORD = [
    "1",
    "22.5",
    "18.3",
    "20.1",
    "123456.7",
    "制造业",
    "C",
    "证监会行业分类",
    "987654.3",
    "120",
    DAY,
    "150",
]


def body(data: Any, code: str = "200") -> bytes:
    return json.dumps({"code": code, "message": "ok", "data": data}, ensure_ascii=False).encode()


def records(*values: list[Any], resultcode: int = 200) -> bytes:
    rows = [{f"F{at:03d}": value for at, value in enumerate(one)} for one in values]
    return json.dumps({"resultcode": resultcode, "records": rows}, ensure_ascii=False).encode()


def page(*rows: Any, count: int | None = None) -> bytes:
    return body({"count": len(rows) if count is None else count, "next": None, "results": list(rows)})


class Pages:
    """A fetcher that answers page by page."""

    def __init__(self, *bodies: bytes) -> None:
        self.bodies = list(bodies)

    def call(self, request: Any, parse: Any) -> Any:
        return parse(self.bodies.pop(0))


def test_the_documented_bar_with_a_bare_nan() -> None:
    answer = body([TREND, TREND | {"bargaindate": "2026-09-29", "closeindex": "7776.83"}])
    assert b"NaN" in answer

    rows = parse_trend(answer, "801150")

    assert rows["date"].tolist() == ["2026-09-29", DAY]
    newest = rows.iloc[1]
    assert (newest["close"], newest["volume_yi"], newest["amount_yi"]) == (7989.13, 77.962441, 1382.9)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (body([TREND | {"swindexcode": "801780"}]), "instead of 801150"),
        (body([TREND | {"closeindex": -7989.13}]), "not above zero"),
        (body([TREND | {"maxindex": 7000.0}]), "enclose"),
        (body([TREND | {"bargaindate": "30.9.2026"}]), "no date"),
        (body([], code="500"), "code '500'"),
    ],
)
def test_a_rejected_past(answer: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_trend(answer, "801150")


def test_lists_state_their_length() -> None:
    second = REPORT | {"swindexcode": "801780"}
    client = SwClient(Pages(page(REPORT, count=2), page(second, count=2)))  # type: ignore[arg-type]

    rows = client.report("l1", DAY, DAY)

    assert rows["code"].tolist() == ["801150", "801780"]
    assert math.isnan(rows.iloc[0]["pe"])
    assert (rows.iloc[0]["pb"], rows.iloc[0]["float_market_cap_yi"]) == (2.9, 51234.5)
    cut = SwClient(Pages(page(REPORT, count=3), page(count=3)))  # type: ignore[arg-type]
    with pytest.raises(PayloadError, match="1 of 3"):
        cut.report("l1", DAY, DAY)
    with pytest.raises(InputError, match="level"):
        cut.report("l4", DAY, DAY)


def test_rows_of_another_day_or_another_index() -> None:
    with pytest.raises(PayloadError, match="asked was"):
        report_rows([REPORT | {"bargaindate": "2026-09-29"}], "l1", DAY, DAY)
    with pytest.raises(PayloadError, match="no index"):
        report_rows([REPORT | {"swindexcode": "000300"}], "l1", DAY, DAY)
    with pytest.raises(PayloadError, match="not above zero"):
        current_rows([CURRENT | {"l8": 0}], "l1")
    assert current_rows([CURRENT], "l1").iloc[0]["last_close"] == 7776.83


def test_the_class_in_force_on_a_day() -> None:
    head = ["股票代码", "计入日期", "行业代码", "更新日期"]
    book = workbook(
        [
            head,
            ["000001", date(2014, 2, 21), "480301", date(2021, 7, 31)],
            ["000001", date(2021, 7, 30), 480302, date(2021, 7, 31)],
            ["000001", date(2026, 10, 1), "480401", date(2026, 9, 30)],
        ]
    )

    rows = parse_stocks(book, DAY)

    assert rows.to_dict("records") == [{"code": "000001", "in_date": "2021-07-30", "class_code": "480302"}]
    assert parse_stocks(book, "2015-01-01").iloc[0]["class_code"] == "480301"
    with pytest.raises(PayloadError, match="no stock"):
        parse_stocks(book, "2001-01-01")


def test_classes_have_all_three_names() -> None:
    head = ["行业代码", "一级行业名称", "二级行业名称", "三级行业名称"]
    rows = [
        ["480000", "银行", "", ""],
        ["480300", "银行", "股份制银行Ⅱ", ""],
        ["480301", "银行", "股份制银行Ⅱ", "股份制银行Ⅲ"],
    ]

    found = parse_classes(workbook([head, *rows]))

    assert found.to_dict("records") == [
        {"class_code": "480301", "l1_name": "银行", "l2_name": "股份制银行Ⅱ", "l3_name": "股份制银行Ⅲ"}
    ]
    with pytest.raises(PayloadError, match="upper levels"):
        parse_classes(workbook([head, ["480301", "", "", "股份制银行Ⅲ"]]))


def test_industries_of_the_disclosure_platform() -> None:
    row = industries.parse_ratios(records(RECORD), DAY).iloc[0]

    assert (row["industry_code"], row["industry_name"], row["level"]) == ("C", "制造业", "1")
    assert (row["pe_mean"], row["pe_median"], row["pe_weighted"]) == (22.5, 18.3, 20.1)
    assert (row["net_profit_yi"], row["total_market_cap_yi"], row["member_count"]) == (
        123456.7,
        987654.3,
        150,
    )
    for answer, reason in (
        (records(RECORD, resultcode=401), "resultcode 401"),
        (records(RECORD[:-1]), "11 values"),
        (b'{"resultcode": 200}', "no field records"),
    ):
        with pytest.raises(PayloadError, match=reason):
            industries.parse_ratios(answer, DAY)
    with pytest.raises(PayloadError, match="figures of"):
        industries.parse_ratios(records(RECORD), "2026-09-29")


def test_the_time_in_a_request_is_the_documented_cipher() -> None:
    # 1790000000 as `openssl enc -aes-128-cbc` has it.
    assert industries.time_header(datetime(2026, 9, 21, 22, 13, 20)) == "X/R2zCgQvr6M8bY0txRQoQ=="


@quick
@given(st.data())
def test_damaged_answers_are_refused_or_true(data: st.DataObject) -> None:
    def rows_of(answer: bytes) -> Any:
        return report_rows(page_of(answer, "report", 200).rows, "l1", DAY, DAY)

    def current_of(answer: bytes) -> Any:
        return current_rows(page_of(answer, "current", 50).rows, "l1")

    for whole, parse in (
        (body([TREND | {"hike": None}]), partial(parse_trend, code="801150")),
        (page(REPORT | {"pe": 10.5}), rows_of),
        (page(CURRENT), current_of),
        (records(RECORD), partial(industries.parse_ratios, day=DAY)),
    ):
        for damage in (damaged_bytes, damaged_json):
            with suppress(*ACCEPTED):
                parse(data.draw(damage(whole)))
    book = workbook([["股票代码", "计入日期", "行业代码"], ["000001", date(2021, 7, 30), "480302"]])
    with suppress(*ACCEPTED):
        parse_stocks(data.draw(damaged_bytes(book)), DAY)
