"""Margin trading of the exchanges: the documented samples, their units, and rejected answers."""

import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.rejections import noting
from resources.upstreams.exchanges import bse, sse, szse
from resources.upstreams.exchanges.common import MARGIN_COLUMNS, joined
from resources.upstreams.exchanges.sheet import sheet_rows
from simulated_market.exchanges.sheet import workbook
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-30"
SSE_ROW = {
    "opDate": "20260930", "stockCode": "600519", "securityAbbr": "贵州茅台", "rzye": 17233521533,
    "rzmre": 300349909, "rzche": 385446299, "rqyl": 202648, "rqmcl": 1100, "rqchl": 11300, "rqylje": None,
    "rzrqjyzl": None,
}  # fmt: skip
SSE_TOTAL = {
    "opDate": "20260930", "rzye": 1296520652053, "rzmre": 62006897126, "rzche": 84968716127,
    "rqyl": 3220216902, "rqmcl": 55369387, "rqylje": 18892593376, "rzrqjyzl": 1315413245429,
}  # fmt: skip
SZSE_TABS = (
    '[{"metadata":{"name":"融资融券交易总量"},"data":[{"jrrzmr":"879.59","jrrzye":"12,657.14",'
    '"jrrjmc":"0.23","jrrjyl":"11.88","jrrjye":"108.15","jrrzrjye":"12,765.29"}]},'
    '{"metadata":{"name":"融资融券交易明细","pagecount":106,"recordcount":2105},"data":[{"zqdm":"000001",'
    '"zqjc":"平安银行","jrrzmr":"0.55","jrrzye":"45.80","jrrjmc":"15.27","jrrjyl":"988.03",'
    '"jrrjye":"11,559.99","jrrzrjye":"46.96"}]}]'
).encode()
HEADS = list(szse._HEADS)
EXACT = ["000001", "平安银行", "55,123,456", "4,580,123,456", "152,700", "9,880,300", "115,599,900.00",
         "4,695,723,356.00"]  # fmt: skip


def sse_body(*rows: dict[str, Any], total: int | None = None) -> bytes:
    found = list(rows)
    paging = {"data": found, "total": len(found) if total is None else total}
    return json.dumps({"actionErrors": [], "pageHelp": paging, "result": found}).encode()


def test_shanghai_sample() -> None:
    page = sse.parse_margin(sse_body(SSE_ROW), DAY, detail=True)

    (row,) = page.rows
    assert (row["code"], row["name"], row["date"]) == ("600519", "贵州茅台", DAY)
    assert (row["rzye"], row["rzmre"], row["rzche"]) == (17233521533, 300349909, 385446299)
    assert (row["loan_volume"], row["rqmcl"], row["rqchl"]) == (202648, 1100, 11300)
    made = joined([], [], "x")
    assert list(made.columns) == list(MARGIN_COLUMNS)

    (total,) = sse.parse_margin(sse_body(SSE_TOTAL), DAY, detail=False).rows
    assert (total["code"], total["rqye"], total["rzrqye"]) == ("TOTAL_SH", 18892593376, 1315413245429)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (sse_body({**SSE_ROW, "opDate": "20260929"}), "asked was"),
        (sse_body(SSE_ROW, total=0), "1 rows of 0"),
        (sse_body({**SSE_ROW, "rzye": None}), "missing"),
        (sse_body({**SSE_ROW, "stockCode": "平安"}), "no code"),
        (b'{"actionErrors":["no"],"result":[]}', "no"),
    ],
)
def test_shanghai_refused(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        sse.parse_margin(body, DAY, detail=True)


def test_shanghai_asks_with_its_own_parameters() -> None:
    request = sse.margin_request(DAY, detail=True)

    assert "tabType=mxtype" in request.target
    assert "detailsDate=20260930" in request.target


def test_shenzhen_sample_in_its_three_units() -> None:
    tabs = szse.parse_tabs(SZSE_TABS, DAY)

    (row,) = tabs.rows
    assert tabs.count == 2105
    assert (row["rzye"], row["loan_volume"], row["rqye"]) == (4.580e9, 9_880_300, 1.155999e8)
    assert (row["rqmcl"], row["rzmre"]) == (152_700, 5.5e7)
    (total,) = tabs.total
    assert (total["rqye"], total["loan_volume"]) == (108.15e8, 11.88e8)  # 亿, where the detail has 万


def test_shenzhen_in_another_unit_is_refused() -> None:
    tabs = json.loads(SZSE_TABS)
    tabs[1]["data"][0]["jrrjye"] = "115,599,900.00"  # 元 in place of 万元

    with pytest.raises(PayloadError, match="another unit"):
        szse.parse_tabs(json.dumps(tabs).encode(), DAY)


def tabs_of(count: int) -> szse.MarginTabs:
    tabs = json.loads(SZSE_TABS)
    tabs[1]["metadata"]["recordcount"] = count
    return szse.parse_tabs(json.dumps(tabs).encode(), DAY)


def test_the_workbook_gives_what_the_page_rounds() -> None:
    (row,) = szse.parse_sheet(workbook([HEADS, EXACT]), DAY, tabs_of(1)).rows

    assert (row["rzye"], row["rqye"], row["loan_volume"]) == (4_580_123_456, 115_599_900, 9_880_300)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([HEADS, EXACT, ["000002", *EXACT[1:]]], "2 of 1 rows"),
        ([HEADS, ["000001", "平安银行", "0.55", "45.80", "15.27", "988.03", "1.16", "46.96"]], "page says"),
        ([HEADS, ["000002", *EXACT[1:]]], "missing"),
        ([HEADS[::-1][1:], EXACT], "heads"),
        ([HEADS, [*EXACT[:-1], "1"]], "融资融券余额"),
    ],
)
def test_a_workbook_that_contradicts_the_page_is_refused(rows: list[list[str]], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        szse.parse_sheet(workbook(rows), DAY, tabs_of(1))


def test_a_workbook_with_entities_or_shared_texts() -> None:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = f'<worksheet {main}><row><c r="B1" t="s"><v>1</v></c><c r="C1"><v>7</v></c></row></worksheet>'
    shared = f"<sst {main}><si><t>a</t></si><si><r><t>b</t></r><r><t>c</t></r></si></sst>"

    def packed(text: str) -> bytes:
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as book:
            book.writestr("xl/worksheets/sheet1.xml", text)
            book.writestr("xl/sharedStrings.xml", shared)
        return target.getvalue()

    assert sheet_rows(packed(sheet), "x") == [["", "bc", "7"]]
    with pytest.raises(PayloadError, match="is not plausible"):
        sheet_rows(packed('<!DOCTYPE x [<!ENTITY a "b">]>' + sheet), "x")


BSE_ROW = {
    "zqdm": "920002", "zqjc": "万达轴承", "rzmre": 20, "rzye": 1000, "rqmcl": 1, "rqyl": 5, "rqye": 50,
    "rzrqye": 1050,
}  # fmt: skip


def bse_body(*rows: dict[str, Any], reported: str = DAY, **page: Any) -> bytes:
    """Written as the exchange writes it (akfamily/akshare:akshare/stock_feature/stock_margin_bse.py reads
    it): a list with one page, then the date in single quotes, which is no JSON."""
    content = {"content": list(rows) or [BSE_ROW], "totalPages": 1, **page}
    return f"cb([{json.dumps([content])}, '{reported}'])".encode()


# The figures of 2026-07-21, as akfamily/akshare:docs/data/stock/stock.md prints them.
BSE_TOTAL = (
    b'cb([[{"rzmreRound":57368.45,"rzyeRound":835758.44,"rqmclRound":1.3,"rqylRound":1.3,'
    b'"rqyeRound":23.28,"rzrqyeRound":835781.73}], \'2026-07-21\'])'
)


def test_beijing_detail_is_in_yuan_and_shares() -> None:
    page = bse.parse_detail(bse_body(), DAY)

    (row,) = page.rows
    assert (row["code"], row["date"], row["rzye"], row["rqye"]) == ("920002", DAY, 1000, 50)
    assert (row["loan_volume"], row["rqmcl"], page.pages) == (5, 1, 1)
    request = bse.detail_request(DAY, 3)
    assert (request.method, request.content) == ("POST", b"transDate=2026-09-30&page=3")


def test_beijing_total_is_rounded_in_ten_thousands() -> None:
    (total,) = bse.parse_total(BSE_TOTAL, "2026-07-21")

    assert (total["code"], total["date"]) == ("TOTAL_BJ", "2026-07-21")
    assert (total["rzye"], total["rzmre"]) == (8_357_584_400, 573_684_500)
    assert (total["loan_volume"], total["rqye"], total["rzrqye"]) == (13_000, 232_800, 8_357_817_300)
    assert bse.parse_total(b"cb([[], '2026-07-25'])", "2026-07-25") == []


@pytest.mark.parametrize(
    "body",
    [
        bse_body({**BSE_ROW, "rzrqye": 9}),
        bse_body(reported="2026-09-29"),
        bse_body({**BSE_ROW, "rzye": None}),
        bse_body({**BSE_ROW, "zqdm": "9"}),
        bse_body(totalElements=0),
    ],
)
def test_beijing_refused(body: bytes) -> None:
    with pytest.raises(PayloadError):
        bse.parse_detail(body, DAY)


def test_beijing_an_odd_row_costs_that_row() -> None:
    odd = {**BSE_ROW, "zqdm": "920008", "rzrqye": 9}
    rounded = {**BSE_ROW, "zqdm": "920009", "rzrqye": 1051}  # 1000.4 + 50.4 = 1050.8

    with noting() as rejected:
        page = bse.parse_detail(bse_body(BSE_ROW, odd, rounded), DAY)

    assert [row["code"] for row in page.rows] == ["920002", "920009"]
    assert len(page) == 3
    assert [item for item, _ in rejected] == ["920008"]


def test_a_total_without_securities_is_refused_and_a_code_counts_once() -> None:
    (total,) = sse.parse_margin(sse_body(SSE_TOTAL), DAY, detail=False).rows
    (row,) = sse.parse_margin(sse_body(SSE_ROW), DAY, detail=True).rows
    assert joined([total], [row], "x")["code"].tolist() == ["TOTAL_SH", "600519"]
    assert joined([total], [row, row], "x")["code"].tolist() == ["TOTAL_SH", "600519"]
    for total_rows, rows in (([total], []), ([], [row])):
        with pytest.raises(PayloadError):
            joined(total_rows, rows, "x")


PARSERS = {
    sse_body(SSE_ROW): lambda body: sse.parse_margin(body, DAY, detail=True).rows,
    sse_body(SSE_TOTAL): lambda body: sse.parse_margin(body, DAY, detail=False).rows,
    SZSE_TABS: lambda body: szse.parse_tabs(body, DAY).rows,
    bse_body()[3:-1].replace(b"'", b'"'): lambda body: bse.parse_detail(body, DAY).rows,
}


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(sorted(PARSERS)))
    PARSERS[body](body)
    damaged = data.draw(st.one_of(damaged_json(body), damaged_bytes(body)))
    try:
        rows = PARSERS[body](damaged)
    except ACCEPTED:
        return
    assert all(row["rzye"] >= 0 and row["date"] == DAY for row in rows)


@quick
@given(st.data())
def test_damaged_workbooks(data: st.DataObject) -> None:
    body, tabs = workbook([HEADS, EXACT]), tabs_of(1)
    szse.parse_sheet(body, DAY, tabs)
    try:
        made = szse.parse_sheet(data.draw(damaged_bytes(body)), DAY, tabs)
    except ACCEPTED:
        return
    assert made.rows[0]["rzye"] == 4_580_123_456
