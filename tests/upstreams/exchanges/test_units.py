"""Units of Shanghai's ETFs: 万份, pages, and what is not believed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import PayloadError
from resources.upstreams.exchanges import SseClient, sse_funds
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
        (page(ROW, ROW), "twice"),
    ],
)
def test_what_cannot_be_believed(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SseClient(Pages(body)).etf_units(DAY)


def test_a_list_that_ends_early_is_refused() -> None:
    with pytest.raises(PayloadError, match="1 of 3 rows"):
        SseClient(Pages(page(ROW, total=3), page(total=3))).etf_units(DAY)


@quick
@given(st.one_of(damaged_json(page(ROW)), damaged_bytes(page(ROW))))
def test_damaged_answers(body: bytes) -> None:
    try:
        rows = sse_funds.parse_units(body, DAY).rows
    except ACCEPTED:
        return
    assert all(row["trade_date"] == DAY and row["total_shares"] >= 0 for row in rows)
