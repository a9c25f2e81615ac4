"""Shenzhen: units of every ETF of the newest date (fund.szse.cn ShowReport 1000_lf), in 万份, 20 a page.

The list has no past: `subname` holds its date. Its cells are links.
"""

import html
import re
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.exchanges.margin import code_of, same_day
from resources.upstreams.exchanges.szse_report import page_of, report_request, tab_of
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import grouped_amount, iso_day, required, string_of

MOST_PAGES = 200
_TAB = "tab1"
_WAN = 1e4
_MOST = 1e12
"""Units of one fund: more is another unit."""
_MARKUP = re.compile(r"<[^<>]*>")


def units_request(page: int = 1) -> Request:
    """One page of the ETFs."""
    asked = ("selectJjlb", "ETF")
    return report_request("szse.funds", "etf_units", "1000_lf", _TAB, asked, page=page, label=f"page {page}")


def parse_units(body: bytes, day: str) -> Page:
    """One page, rows with the keys of `sse_funds.UNIT_COLUMNS`. PayloadError for a list of another day, or
    another unit."""
    what = "SZSE ETF units"
    tab, head = tab_of(body, _TAB, what)
    stated = string_of(head.get("subname"), f"{what} subname")
    same_day(iso_day(stated[:10], f"{what} subname"), day, what)
    return page_of(tab, head, what, partial(_row, day=day))


def _row(row: dict[str, Any], day: str) -> dict[str, Any]:
    code = code_of(_shown(row.get("sys_key"), "SZSE ETF units sys_key"), "SZSE ETF units sys_key")
    what = f"SZSE ETF units {code}"
    text = _shown(row.get("dqgm"), f"{what} dqgm")
    units = required(grouped_amount(text, f"{what} dqgm", scale=_WAN), f"{what} dqgm")
    if units > _MOST:
        raise PayloadError(f"{what}: {units:.0f} units: another unit")
    name = _shown(row.get("jjjcurl"), f"{what} jjjcurl")
    if not name:
        raise PayloadError(f"{what} jjjcurl is empty")
    return {"code": code, "trade_date": day, "name": name, "total_shares": float(round(units))}


def _shown(value: Any, what: str) -> str:
    """The text of a cell without its marks."""
    return html.unescape(_MARKUP.sub("", string_of(value, what))).strip()
