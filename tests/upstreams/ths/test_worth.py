"""The page of what brokers expect of one company: the figures that were recorded of it, and false ones."""

import math

import pytest
from hypothesis import given

from core.errors import PayloadError, Refused, Transient
from resources.upstreams.ths import worth
from resources.upstreams.ths.client import ThsClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, quick

HEAD = ["年度", "预测机构数", "最小值", "均值", "最大值", "行业平均数"]
EPS = [
    ["2022", "48", "48.46", "49.73", "50.58", "7.00"],
    ["2023", "48", "56.01", "58.31", "61.53", "8.45"],
    ["2024", "48", "63.79", "67.59", "73.67", "10.12"],
]
"""Table 0 of 600519 as it was recorded in March 2023."""
PROFIT = [
    ["2022", "48", "608.75", "624.73", "635.40", "88.10"],
    ["2023", "48", "703.60", "732.47", "772.93", "106.20"],
    ["2024", "48", "801.30", "849.02", "925.40", "127.00"],
]
BROKERS = [
    ["国盛证券", "符蓉", "49.83", "59.35", "69.84", "626亿", "745.52亿", "877.32亿", "2023-02-21"],
    ["华创证券", "欧阳予", "49.92", "58.77", "68.66", "627.1亿", "738.3亿", "862.5亿", "2023-03-02"],
]


def table(head: list[str], *rows: list[str]) -> str:
    lines = "".join("<tr>" + "".join(f"<td> {cell} </td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{''.join(f'<th>{one}</th>' for one in head)}</tr></thead>{lines}</table>"


def page(eps: list[list[str]] = EPS, profit: list[list[str]] = PROFIT, *, head: list[str] = HEAD) -> bytes:
    brokers = table(
        ["机构名称", "研究员", "预测年报每股收益", "报告日期"], ["2022预测", "2023预测"], *BROKERS
    )
    tables = table(head, *eps) + table(HEAD, *profit) + brokers + table(["预测指标"], ["营业收入"])
    return f"<html><title>贵州茅台(600519) 盈利预测</title>{tables}</html>".encode("gb18030")


def test_the_recorded_table() -> None:
    asked = Pages(page())

    rows = ThsClient(asked).eps_consensus("600519")

    assert asked.asked[0].path == "/new/600519/worth.html"
    assert rows["forecast_year"].tolist() == [2022, 2023, 2024]
    first = rows.iloc[0]
    assert (first["org_count"], first["eps_min"], first["eps_mean"], first["eps_max"]) == (
        48,
        48.46,
        49.73,
        50.58,
    )
    assert first["industry_mean"] == 7.0
    assert first["net_profit_mean"] == 62_473_000_000  # the wire has 100 million CNY
    assert set(rows["update_date"]) == {"2023-03-02"}


def test_a_company_without_forecasts() -> None:
    text = "<html>平安银行(000001)<p>本年度暂无机构做出业绩预测</p><table><tr><td>x</td></tr></table></html>"

    rows = worth.parse_worth(text.encode("gb18030"), "000001")

    assert list(rows.columns) == list(worth.WORTH_COLUMNS)
    assert len(rows) == 0


def test_an_empty_cell_is_no_figure() -> None:
    row = worth.parse_worth(page([["2022", "1", "--", "49.73", "--", "-"]]), "600519").iloc[0]

    assert math.isnan(row["eps_min"])
    assert math.isnan(row["industry_mean"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (page([["2022", "48", "50.46", "49.73", "50.58", "7.00"]]), "not between"),
        (page([["2022", "48", "48.46", "--", "50.58", "7.00"]]), "mean is missing"),
        (page([["2022", "48", "4846", "4973", "5058", "7.00"]]), "not plausible"),
        (page([["20X2", "48", "48.46", "49.73", "50.58", "7.00"]]), "year"),
        (page([["2022", "48"]]), "2 cells"),
        (page(head=["年度", "机构数", "最小值", "均值", "最大值", "行业平均数"]), "head"),
        (page([EPS[0]], [["2022", "48", "-6", "-5", "-4", "1"]]), "two signs"),
        (page().replace(b"600519", b"600518"), "not of this code"),
        (b"<table>\xff\xff\xff</table>", "not GBK"),
    ],
)
def test_an_invalid_page_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        worth.parse_worth(body, "600519")


def test_block_pages_and_empty_bodies() -> None:
    with pytest.raises(Refused):
        worth.parse_worth(b"<html><h1>Nginx forbidden.</h1></html>", "600519")
    with pytest.raises(Transient):
        worth.parse_worth(b" ", "600519")


@quick
@given(damaged_bytes(page()))
def test_damaged_pages(body: bytes) -> None:
    try:
        rows = worth.parse_worth(body, "600519")
    except ACCEPTED:
        return
    assert list(rows.columns) == list(worth.WORTH_COLUMNS)
    assert rows["forecast_year"].is_unique
    assert not (rows["eps_min"] > rows["eps_max"]).any()
