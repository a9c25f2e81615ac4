"""Shenzhen's months: every day once, in the form that public clients read, and what is refused."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.exchanges.szse import SzseClient
from resources.upstreams.exchanges.szse_calendar import parse_month
from resources.upstreams.hosts import SITES
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, quick

# As SzseTradingCalendarDataSource and others in the public index read it; zrxh 1 is a Sunday.
OCTOBER = [
    {
        "zrxh": day.isoweekday() % 7 + 1,
        "jybz": "1" if day.day > 7 and day.weekday() < 5 else "0",
        "jyrq": day.isoformat(),
    }
    for day in (date(2026, 10, 1) + timedelta(days=step) for step in range(31))
]


def body(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"data": list(rows), "nowdate": "2026-10-10"}).encode()


def test_a_month() -> None:
    pages = Pages(body(*reversed(OCTOBER)))

    days = SzseClient(pages).month_days("2026-10")

    assert (len(days), int(days["is_open"].sum()), days["date"].iloc[0]) == (31, 17, "2026-10-01")
    assert days.loc[days["is_open"], "date"].iloc[0] == "2026-10-08"
    assert dict(pages.asked[0].params) == {"month": "2026-10"}
    assert SITES[pages.asked[0].site].referer == "https://www.szse.cn/aboutus/calendar/"
    assert SzseClient(Pages(body())).month_days("2029-01").empty


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (OCTOBER[1:], "30 days, 31"),
        ([*OCTOBER, OCTOBER[0]], "32 days, 31"),
        ([*OCTOBER[1:], OCTOBER[0] | {"jyrq": "2026-11-01"}], "31 days, 31"),
        ([OCTOBER[0] | {"jybz": "2"}, *OCTOBER[1:]], "neither 0 nor 1"),
        ([*OCTOBER[:9], OCTOBER[9] | {"jybz": "1"}, *OCTOBER[10:]], "a weekend"),
        ([OCTOBER[0] | {"jyrq": "2026-10-32"}, *OCTOBER[1:]], "no date"),
        ([{"jyrq": "2026-10-01"}, *OCTOBER[1:]], "jybz"),
    ],
)
def test_rejected_answers(rows: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        SzseClient(Pages(body(*rows))).month_days("2026-10")


@quick
@given(data=st.data())
def test_a_damaged_answer_is_the_month_or_an_error(data: st.DataObject) -> None:
    damaged = data.draw(damaged_bytes(body(*OCTOBER)))
    try:
        days = parse_month(damaged, "2026-10")
    except ACCEPTED:
        return
    assert len(days) in (0, 31)
