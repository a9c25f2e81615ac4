"""One invalid row costs that row, in every list with independent rows; a page is rejected when a tenth of it
is invalid."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest

from core.errors import PayloadError
from resources.rejections import noting, once_each
from resources.upstreams.chinabond import client as chinabond
from resources.upstreams.cls import client
from resources.upstreams.cninfo import announcements, records
from resources.upstreams.cninfo.client import CninfoClient
from resources.upstreams.eastmoney.news import articles, notices
from resources.upstreams.eastmoney.quotes import changes
from resources.upstreams.exchanges import sse, szse, szse_report
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient
from resources.upstreams.parsing.paging import UNTOLD, Page, collected, pages_joined
from resources.upstreams.sw.client import current_rows, parse_trend
from resources.upstreams.ths import limits, worth
from resources.upstreams.ths.client import ThsClient
from resources.upstreams.xueqiu import client as xueqiu_client
from tests.upstreams.chinabond import test_curve as curve
from tests.upstreams.cls import test_flashes as flashes
from tests.upstreams.cninfo import test_announcements as cninfo
from tests.upstreams.cninfo import test_records as disclosed
from tests.upstreams.eastmoney import test_changes as anomalies
from tests.upstreams.eastmoney import test_press as press
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.exchanges import test_billboard as boards
from tests.upstreams.exchanges import test_deals as deals
from tests.upstreams.exchanges import test_margin as margin
from tests.upstreams.exchanges import test_units as units
from tests.upstreams.hkex import test_daily as connect
from tests.upstreams.sw import test_sw as sw
from tests.upstreams.ths import test_ths as ths
from tests.upstreams.ths import test_worth as pages
from tests.upstreams.xueqiu import test_xueqiu as social

Row = dict[str, Any]
Case = tuple[Callable[..., bytes], Callable[[bytes], Any], Callable[[int], Row], Row]


def numbered(row: Row, **by: Callable[[int], Any]) -> Callable[[int], Row]:
    return lambda number: {**row, **{name: make(number) for name, make in by.items()}}


def code(number: int) -> str:
    return f"{600000 + number}"


CASES: dict[str, Case] = {
    "SSE margin": (
        margin.sse_body, partial(sse.parse_margin, day=margin.DAY, detail=True),
        numbered(margin.SSE_ROW, stockCode=code), {"rqylje": 5e9, "rzrqjyzl": 1},
    ),
    "SSE deals": (
        deals.sse_body, partial(sse.parse_deals, since=deals.DAY, until=deals.DAY),
        numbered(deals.SSE_ROW, stockid=code), {"tradeprice": "none"},
    ),
    "SZSE deals": (
        deals.szse_body, partial(szse_report.parse_deals, since=deals.DAY, until=deals.DAY),
        numbered(deals.SZSE_ROW), {"cjjg": "x"},
    ),
    "anomalies": (
        anomalies.body, lambda body: changes.parse_changes(body).rows,
        numbered(anomalies.ROW, c=code), {"i": "0.1"},
    ),
    "notices of the portal": (
        press.notice_body, partial(notices.parse_notices, since=press.SINCE, until=press.UNTIL),
        numbered(press.NOTICE | {"codes": press.NOTICE["codes"][:1]}, art_code=lambda n: f"AN{n}"),
        {"notice_date": "?"},
    ),
    "notices of the platform": (
        lambda *rows: cninfo.body(list(rows), len(rows)),
        partial(announcements.parse_announcements, query=cninfo.ALL),
        cninfo.row, {"announcementTime": 17},
    ),
    "disclosure dates": (
        disclosed.plans, partial(records.parse_schedule, period=disclosed.PERIOD),
        numbered(disclosed.PLAN, seccode=code), {"f002d_0102": "soon"},
    ),
    "holder counts": (
        disclosed.answer, partial(records.parse_holders, period=disclosed.PERIOD),
        numbered(disclosed.COUNT, SECCODE=code), {"F003N": 55.0},
    ),
    "telegraph": (
        flashes.rolled, client.parse_roll, numbered(flashes.ITEM, id=lambda n: n + 1), {"ctime": 17},
    ),
    "limit pool": (
        ths.page, partial(limits.parse_limits, pool="up", day=ths.DAY),
        numbered(ths.LIMIT_UP, code=code), {"latest": 0},
    ),
    "hot list": (
        ths.hot_list, worth.parse_hot, numbered(ths.HOT, code=code, order=lambda n: n + 1), {"rate": "hot"},
    ),
    "strong stocks": (
        ths.strong_list, partial(worth.parse_strong, day=ths.DAY),
        numbered(ths.STRONG, code=code), {"close": "-1"},
    ),
}  # fmt: skip


def size(parsed: Any) -> int:
    return len(parsed.rows) if hasattr(parsed, "rows") and not callable(parsed.rows) else len(parsed)


@pytest.mark.parametrize("name", CASES)
def test_an_odd_row_costs_itself_and_a_tenth_the_page(name: str) -> None:
    body, parse, made, odd = CASES[name]
    rows = [made(number) for number in range(30)]
    with noting() as rejected:
        assert size(parse(body(*rows))) == 30
    assert rejected == []

    rows[7] |= odd
    with noting() as rejected:
        assert size(parse(body(*rows))) == 29
    assert len(rejected) == 1

    for place in (9, 11, 13):
        rows[place] |= odd
    with pytest.raises(PayloadError, match="4 of 30 rows"):
        parse(body(*rows))


REPEATED: dict[str, Callable[[], Any]] = {
    "curve of Chinabond": lambda: chinabond.parse_curve(
        curve.page(curve.row("2026-09-24"), curve.row("2026-09-24")), *curve.SPAN
    ),
    "telegraph": lambda: client.parse_roll(flashes.rolled(flashes.ITEM, flashes.ITEM)),
    "disclosure dates": lambda: CninfoClient(
        Pages(disclosed.plans(disclosed.PLAN, disclosed.PLAN))
    ).disclosure_schedule(disclosed.PERIOD),
    "holder counts": lambda: records.parse_holders(
        disclosed.answer(disclosed.COUNT, disclosed.COUNT), disclosed.PERIOD
    ),
    "PE of industries": lambda: records.parse_ratios(sw.records(sw.RECORD, sw.RECORD), sw.DAY),
    "flash news": lambda: articles.parse_flashes(press.flash_body(press.FLASH, press.FLASH)).rows,
    "SZSE billboard": lambda: SzseClient(Pages(boards.szse_body(boards.SZSE_ROW, boards.SZSE_ROW))).billboard(
        boards.DAY, boards.DAY
    ),
    "ETF units": lambda: SseClient(Pages(units.page(units.ROW, units.ROW))).etf_units(units.DAY),
    "stock connect": lambda: connect.of(connect.SAMPLE, connect.SAMPLE),
    "past of an index": lambda: parse_trend(sw.body([sw.TREND, sw.TREND]), "801150"),
    "indices of the session": lambda: current_rows([sw.CURRENT, sw.CURRENT], "l1"),
    "strong stocks": lambda: ThsClient(Pages(ths.strong_list(ths.STRONG, ths.STRONG))).strong_stocks(ths.DAY),
    "worth": lambda: worth.parse_worth(pages.page([pages.EPS[0], pages.EPS[0]]), "600519"),
    "hot list": lambda: xueqiu_client.parse_hot(social.answer({"items": [social.HOT, social.HOT]})),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_row_that_comes_again_counts_once(name: str) -> None:
    with noting() as rejected:
        rows = REPEATED[name]()

    assert len(rows) == 1
    assert ["repeats" in reason for _, reason in rejected] == [True]


def test_identical_rows_are_no_odd_ones_and_contradictions_are() -> None:
    """A report of 18 rows in which two came twice was refused as a whole."""
    rows = pd.DataFrame({"code": [f"{at:06d}" for at in range(16)], "value": 1.0})

    with noting() as rejected:
        joined = once_each(pd.concat([rows, rows[:2]]), ["code"], "report")
    assert joined["code"].tolist() == rows["code"].tolist()
    assert [item for item, _ in rejected] == ["000000", "000001"]
    with pytest.raises(PayloadError, match="2 of 18 rows fail validation; 000000: contradicts"):
        once_each(pd.concat([rows, rows[:2].assign(value=2.0)]), ["code"], "report")


def test_a_row_of_an_earlier_page_means_that_others_are_missing() -> None:
    def pages_of(*lists: list[str]) -> list[pd.DataFrame]:
        return [pd.DataFrame({"code": codes, "value": 1.0}) for codes in lists]

    edge = pages_joined(pages_of(["a", "b"], ["b", "c"]), ["code"], "list")
    assert edge["code"].tolist() == ["a", "b", "c"]
    with pytest.raises(PayloadError, match="two pages"):
        pages_joined(pages_of(["a", "b"], ["c", "a"]), ["code"], "list")
    with pytest.raises(PayloadError, match="rows that came twice"):
        pages_joined(pages_of(["a", "a", "b", "b", "c", "c"]), ["code"], "list")


def test_a_row_of_the_margin_workbook_whose_sum_does_not_close_costs_itself() -> None:
    tabs = szse.parse_tabs(margin.SZSE_TABS, margin.DAY)
    sheet = [margin.HEADS, *([f"{number:06d}", *margin.EXACT[1:]] for number in range(1, 2106))]
    sheet[900] = [*sheet[900][:-1], "1.00"]

    with noting() as rejected:
        made = szse.parse_sheet(margin.workbook(sheet), margin.DAY, tabs)

    assert len(made.rows) == 2104
    assert [item for item, _ in rejected] == ["000900"]


def test_a_list_that_does_not_count_itself_ends_with_a_short_page() -> None:
    rows = [{"at": at} for at in range(45)]

    def ask(page: int) -> Page:
        part = rows[(page - 1) * 20 : page * 20]
        return Page(part, len(part), UNTOLD)

    assert collected(ask, "list", most_pages=9) == rows
    rows = rows[:40]
    assert collected(ask, "list", most_pages=9) == rows
    with pytest.raises(PayloadError, match="no end"):
        collected(ask, "list", most_pages=2)

    body = deals.szse_body(deals.SZSE_ROW).replace(b', "recordcount": 1', b"")
    assert b"recordcount" not in body
    page = szse_report.parse_deals(body, deals.DAY, deals.DAY)
    assert (len(page.rows), page.total) == (1, UNTOLD)
    tabs = szse.parse_tabs(margin.SZSE_TABS.replace(b',"recordcount":2105', b""), margin.DAY)
    assert (tabs.count, len(tabs)) == (None, 1)
