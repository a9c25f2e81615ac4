"""Units of both exchanges' ETFs: 万份, pages, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.exchanges import sse, szse_report
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-09-24"
ROW = {"NUM": "1", "SEC_CODE": "510300", "SEC_NAME": "300ETF", "ETF_TYPE": "单市场ETF", "STAT_DATE": DAY,
       "TOT_VOL": "9012345.67"}  # fmt: skip


def page(*rows: dict[str, Any], total: int | None = None) -> bytes:
    paging = {"data": list(rows), "total": len(rows) if total is None else total}
    return json.dumps({"actionErrors": [], "pageHelp": paging, "result": list(rows)}).encode()


def test_units_of_a_date() -> None:
    pages = Pages(page(ROW))
    (row,) = SseClient(pages).etf_units(DAY).to_dict("records")
    assert (row["code"], row["trade_date"], row["name"]) == ("510300", DAY, "300ETF")
    assert row["total_shares"] == 90_123_456_700
    assert dict(pages.asked[0].params)["STAT_DATE"] == DAY
    assert SseClient(Pages(page())).etf_units(DAY).empty


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (page(ROW | {"STAT_DATE": "2026-09-23"}), "2026-09-23"),
        (page(ROW | {"TOT_VOL": "90123456700000"}), "another unit"),
        (page(ROW | {"TOT_VOL": "-1"}), "below zero"),
        (page(ROW | {"SEC_CODE": "51030"}), "code"),
    ],
)
def test_rejected_answers(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SseClient(Pages(body)).etf_units(DAY)


def test_a_list_that_ends_early_is_refused() -> None:
    with pytest.raises(PayloadError, match="1 of 3 rows"):
        SseClient(Pages(page(ROW, total=3), page(total=3))).etf_units(DAY)


FUND = {
    "sys_key": "<a href='x'><u>159915</u></a>", "jjjcurl": "<a><u>创业板ETF&nbsp;</u></a>", "jjlb": "ETF",
    "tzlb": "股票基金", "ssrq": "2011-12-09", "dqgm": "<a href='x'>1,951,234.56</a>", "glrmc": "易方达基金",
}  # fmt: skip


def listed(*rows: dict[str, Any], count: int | None = None, pages: int = 1, day: str = DAY) -> bytes:
    head = {"tabkey": "tab1", "subname": day, "pagecount": pages,
            "recordcount": len(rows) if count is None else count}  # fmt: skip
    return json.dumps([{"metadata": head, "data": list(rows), "error": None}]).encode()


def test_units_of_shenzhen() -> None:
    other = FUND | {"sys_key": "<u>159919</u>"}
    pages = Pages(listed(FUND, count=2, pages=2), listed(other, count=2, pages=2))
    rows = SzseClient(pages).etf_units(DAY)

    assert rows["code"].tolist() == ["159915", "159919"]
    assert rows.loc[0, ["name", "trade_date", "total_shares"]].tolist() == ["创业板ETF", DAY, 19_512_345_600]
    assert dict(pages.asked[1].params)["PAGENO"] == "2"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (listed(FUND, day="2026-09-23"), "answered for 2026-09-23"),
        (listed(FUND | {"dqgm": "<a>19,512,345,600.00</a>"}), "another unit"),
        (listed(FUND | {"dqgm": "<a>-</a>"}), "missing"),
        (listed(FUND | {"sys_key": "159915<x"}), "code"),
    ],
)
def test_rejected_units_of_shenzhen(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SzseClient(Pages(body)).etf_units(DAY)


def test_shenzhens_list_that_ends_early_or_grows_while_it_is_read() -> None:
    first = listed(FUND, count=3, pages=2)
    with pytest.raises(PayloadError, match="1 of 3 rows"):
        SzseClient(Pages(first, listed(count=3, pages=2))).etf_units(DAY)
    with pytest.raises(PayloadError, match="moved from 3 to 4"):
        SzseClient(Pages(first, listed(FUND, count=4, pages=2))).etf_units(DAY)


@quick
@given(st.one_of(damaged_json(listed(FUND)), damaged_bytes(listed(FUND))))
def test_damaged_lists_of_shenzhen(body: bytes) -> None:
    try:
        rows = szse_report.parse_units(body, DAY).rows
    except ACCEPTED:
        return
    assert all(row["trade_date"] == DAY and row["total_shares"] >= 0 for row in rows)


@quick
@given(st.one_of(damaged_json(page(ROW)), damaged_bytes(page(ROW))))
def test_damaged_answers(body: bytes) -> None:
    try:
        rows = sse.parse_units(body, DAY).rows
    except ACCEPTED:
        return
    assert all(row["trade_date"] == DAY and row["total_shares"] >= 0 for row in rows)
