"""Shenzhen: units of every ETF of the newest date (fund.szse.cn ShowReport 1000_lf), in 万份, 20 a page.

The list knows no past: `subname` tells which date it is of. Its cells are links.
"""

import html
import re
from dataclasses import dataclass
from typing import Any

from resources.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.exchanges.margin import code_of, same_day
from resources.upstreams.payload import amount, iso_day, json_of, list_of, object_of, required, string_of

MOST_PAGES = 200
_TAB = "tab1"
_WAN = 1e4
_MOST = 1e12
"""Units of one fund: more is another unit."""
_MARKUP = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class UnitPage:
    """Rows with the keys of `sse_funds.UNIT_COLUMNS`; `count` rows there are on all `pages`."""

    rows: list[dict[str, Any]]
    count: int
    pages: int

    def __len__(self) -> int:
        return len(self.rows)


def units_request(page: int = 1) -> Request:
    """One page of the ETFs."""
    params = (
        ("SHOWTYPE", "JSON"),
        ("CATALOGID", "1000_lf"),
        ("TABKEY", _TAB),
        ("selectJjlb", "ETF"),
        ("PAGENO", str(page)),
    )
    return Request("szse.funds", "etf_units", "/api/report/ShowReport/data", params, label=f"page {page}")


def parse_units(body: bytes, day: str) -> UnitPage:
    """One page. PayloadError for a list of another day, or another unit."""
    tabs = [object_of(tab, "SZSE ETF units tab") for tab in list_of(json_of(body), "SZSE ETF units")]
    if len(tabs) != 1:
        raise PayloadError(f"SZSE ETF units: {len(tabs)} tabs")
    head = object_of(tabs[0].get("metadata"), "SZSE ETF units metadata")
    if tabs[0].get("error"):
        raise PayloadError(f"SZSE ETF units: {str(tabs[0]['error'])[:80]}")
    told = string_of(head.get("subname"), "SZSE ETF units subname")
    same_day(iso_day(told[:10], "SZSE ETF units subname"), day, "SZSE ETF units")
    raw = list_of(tabs[0].get("data"), "SZSE ETF units data")
    rows = [_row(object_of(row, "SZSE ETF units row"), day) for row in raw]
    count, pages = head.get("recordcount"), head.get("pagecount")
    if type(count) is not int or type(pages) is not int or not len(rows) <= count:
        raise PayloadError(f"SZSE ETF units: {len(rows)} rows of {count!r}, {pages!r} pages")
    return UnitPage(rows, count, pages)


def _row(row: dict[str, Any], day: str) -> dict[str, Any]:
    code = code_of(_shown(row.get("sys_key"), "SZSE ETF units sys_key"), "SZSE ETF units sys_key")
    what = f"SZSE ETF units {code}"
    text = _shown(row.get("dqgm"), f"{what} dqgm").replace(",", "")
    units = required(amount(text, f"{what} dqgm", scale=_WAN), f"{what} dqgm")
    if units > _MOST:
        raise PayloadError(f"{what}: {units:.0f} units: another unit")
    name = _shown(row.get("jjjcurl"), f"{what} jjjcurl")
    if not name:
        raise PayloadError(f"{what} jjjcurl is empty")
    return {"code": code, "trade_date": day, "name": name, "total_shares": float(round(units))}


def _shown(value: Any, what: str) -> str:
    """The text of a cell without its marks."""
    return html.unescape(_MARKUP.sub("", string_of(value, what))).strip()
