"""The common form of answers of Shenzhen's ShowReport: tabs with a total number of rows."""

import html
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request
from resources.upstreams.exchanges.common import STOCKS, deal, overview, same_day
from resources.upstreams.exchanges.sheet import sheet_rows
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.paging import UNTOLD, Page
from resources.upstreams.parsing.rows import named, security_code, text_of

Row = dict[str, Any]


def report_request(
    site: str, call: str, catalog: str, tab: str, *asked: tuple[str, str], page: int, label: str
) -> Request:
    """One page of one tab of a report."""
    params = (
        ("SHOWTYPE", "JSON"), ("CATALOGID", catalog), ("TABKEY", tab), *asked, ("PAGENO", str(page)),
    )  # fmt: skip
    return Request(site, call, "/api/report/ShowReport/data", params, label=label)


def tab_of(body: bytes, key: str, what: str) -> tuple[Row, Row]:
    """The one tab that was asked for, and its metadata. A tab without a key of its own is that one."""
    tabs = [payload.object_of(tab, f"{what} tab") for tab in payload.list_of(payload.json_of(body), what)]
    heads = [payload.object_of(tab.get("metadata"), f"{what} metadata") for tab in tabs]
    found = [(tab, head) for tab, head in zip(tabs, heads, strict=True) if head.get("tabkey", key) == key]
    if len(found) != 1:
        raise PayloadError(f"{what}: {len(found)} of {len(tabs)} tabs are {key}")
    refuse_error(found[0][0], what)
    return found[0]


def refuse_error(tab: Row, what: str) -> None:
    """Raises PayloadError when a tab reports an error."""
    if tab.get("error"):
        raise PayloadError(f"{what}: {str(tab['error'])[:80]}")


def page_of(tab: Row, head: Row, what: str, make: Callable[[Row], Row]) -> Page:
    """Each row of a tab as `make` reads it, and the number of rows on all pages, if the tab has it."""
    raws = payload.list_of(tab.get("data"), f"{what} data")
    count = head.get("recordcount", UNTOLD)
    if type(count) is not int or (count != UNTOLD and len(raws) > count):
        raise PayloadError(f"{what}: {len(raws)} rows of {count!r}")

    def read(raw: Any) -> Row:
        return make(payload.object_of(raw, f"{what} row"))

    return Page(accepted_rows(raws, read, what, stated_code), len(raws), count)


stated_code = named_by("zqdm", "zqdh", "sys_key")
"""The code of a row, as it is on the wire."""


# -- Shenzhen: block trades in shares and funds (ShowReport 1932_dzjyzqjy_after, tab2), 20 rows a page.
# Every figure is a text with thousands commas: 元, 万股 and 万元.

DEAL_PAGES = 500
_CATALOG, _TAB = "1932_dzjyzqjy_after", "tab2"
_WIRE = named(
    "code zqdh date cjrq name zqjc price cjjg volume cjgsnew amount cjjenew buyer bxwmc seller sxwmc"
)


def deals_request(since: str, until: str, page: int = 1) -> Request:
    asked = (("txtStart", since), ("txtEnd", until))
    label = f"{since}..{until} {page}"
    return report_request("szse.report", "block_trades", _CATALOG, _TAB, *asked, page=page, label=label)


def parse_deals(body: bytes, since: str, until: str) -> Page:
    """One page, rows with the keys of `DEAL_COLUMNS`; empty where nothing was dealt or published."""
    what = "SZSE block trades"

    def made(row: dict[str, Any]) -> dict[str, Any]:
        payload.promised(row, _WIRE.values(), what)
        return deal({name: row[wire] for name, wire in _WIRE.items()}, "SZSE", since, until)

    return page_of(*tab_of(body, _TAB, what), what, made)


# -- Shenzhen: units of every ETF of the newest date (fund.szse.cn ShowReport 1000_lf), in 万份, 20 a page.
# The list has no past: `subname` holds its date. Its cells are links.

MOST_PAGES = 200
_SZSE_FUNDS_TAB = "tab1"
_WAN = 1e4
_MOST = 1e12
"""Units of one fund: more is another unit."""
_MARKUP = re.compile(r"<[^<>]*>")


def units_request(page: int = 1) -> Request:
    """One page of the ETFs."""
    asked = ("selectJjlb", "ETF")
    return report_request(
        "szse.funds", "etf_units", "1000_lf", _SZSE_FUNDS_TAB, asked, page=page, label=f"page {page}"
    )


def parse_units(body: bytes, day: str) -> Page:
    """One page, rows with the keys of `sse_funds.UNIT_COLUMNS`. PayloadError for a list of another day, or
    another unit."""
    what = "SZSE ETF units"
    tab, head = tab_of(body, _SZSE_FUNDS_TAB, what)
    own_day = payload.string_of(head.get("subname"), f"{what} subname")
    same_day(payload.iso_day(own_day[:10], f"{what} subname"), day, what)
    return page_of(tab, head, what, partial(_row, day=day))


def _row(row: dict[str, Any], day: str) -> dict[str, Any]:
    code = security_code(_shown(row.get("sys_key"), "SZSE ETF units sys_key"), "SZSE ETF units sys_key")
    what = f"SZSE ETF units {code}"
    text = _shown(row.get("dqgm"), f"{what} dqgm")
    units = payload.required(payload.grouped_amount(text, f"{what} dqgm", scale=_WAN), f"{what} dqgm")
    if units > _MOST:
        raise PayloadError(f"{what}: {units:.0f} units: another unit")
    name = _shown(row.get("jjjcurl"), f"{what} jjjcurl")
    if not name:
        raise PayloadError(f"{what} jjjcurl is empty")
    return {"code": code, "trade_date": day, "name": name, "total_shares": float(round(units))}


def _shown(value: Any, what: str) -> str:
    """The text of a cell without its marks."""
    return html.unescape(_MARKUP.sub("", payload.string_of(value, what))).strip()


# -- Shenzhen: the market by class on one date (ShowReport 1803_sczm), as a workbook. 元, unless a head says
# 亿元.

_HEADS = {
    "证券类别": "sec_class",
    "数量": "listed_count",
    "成交金额": "amount_yi",
    "总市值": "total_market_cap_yi",
    "流通市值": "float_market_cap_yi",
}
_UNITS = {"元": 1e-8, "亿元": 1.0, "只": 1.0}
_HEAD = re.compile(r"([^(（]+)(?:[(（](.+)[)）])?")


def overview_request(day: str) -> Request:
    params = (("SHOWTYPE", "xlsx"), ("CATALOGID", "1803_sczm"), ("TABKEY", "tab1"), ("txtQueryDate", day))
    return Request("szse.report", "overview", "/api/report/ShowReport", params, label=day)


def parse_overview(body: bytes, day: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`, volume, PE and turnover missing; empty on a day without trading or before
    publication. The workbook has no date of its own."""
    table = sheet_rows(body, "SZSE overview")
    if not table:
        raise PayloadError("SZSE overview: no heads")
    place: dict[str, tuple[int, float]] = {}
    for at, text in enumerate(table[0]):
        found = _HEAD.fullmatch(text.strip())
        column = _HEADS.get(found.group(1).strip()) if found else None
        if found and column:
            place[column] = (at, _unit(column, found.group(2)))
    if len(place) != len(_HEADS):
        raise PayloadError(f"SZSE overview: heads {table[0][:8]}")

    def read(values: list[str]) -> dict[str, Any]:
        padded = [*values, *[""] * len(table[0])]
        name = text_of(padded[place["sec_class"][0]], "SZSE overview 证券类别")
        row: dict[str, Any] = {"trade_date": day, "exchange": "SZSE", "sec_class": name}
        for column, (at, unit) in place.items():
            if column != "sec_class":
                row[column] = payload.grouped_amount(padded[at], f"SZSE overview {name} {column}", scale=unit)
        return row

    lines = [values for values in table[1:] if any(values)]
    rows = accepted_rows(lines, read, "SZSE overview", lambda values: values[place["sec_class"][0]])
    if rows and STOCKS not in {row["sec_class"] for row in rows}:
        raise PayloadError(f"SZSE overview: no class {STOCKS}")
    return overview(rows, "SZSE overview")


def _unit(column: str, unit: str | None) -> float:
    if column in {"sec_class", "listed_count"}:
        return 1.0
    if unit is not None and unit not in _UNITS:
        raise PayloadError(f"SZSE overview: {column} in {unit[:10]!r}")
    return _UNITS[unit or "元"]
