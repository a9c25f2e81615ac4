"""Shenzhen: block trades in shares and funds (ShowReport 1932_dzjyzqjy_after, tab2), 20 rows a page.

Every figure is a text with thousands commas: 元, 万股 and 万元.
"""

from typing import Any

from resources.transport.request import Request
from resources.upstreams.exchanges.deals import deal
from resources.upstreams.exchanges.szse_report import page_of, report_request, tab_of
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import promised

MOST_PAGES = 500
_CATALOG, _TAB = "1932_dzjyzqjy_after", "tab2"
_WIRE = {
    "code": "zqdh",
    "date": "cjrq",
    "name": "zqjc",
    "price": "cjjg",
    "volume": "cjgsnew",
    "amount": "cjjenew",
    "buyer": "bxwmc",
    "seller": "sxwmc",
}


def deals_request(since: str, until: str, page: int = 1) -> Request:
    asked = (("txtStart", since), ("txtEnd", until))
    label = f"{since}..{until} {page}"
    return report_request("szse.report", "block_trades", _CATALOG, _TAB, *asked, page=page, label=label)


def parse_deals(body: bytes, since: str, until: str) -> Page:
    """One page, rows with the keys of `DEAL_COLUMNS`; empty where nothing was dealt or published."""
    what = "SZSE block trades"

    def made(row: dict[str, Any]) -> dict[str, Any]:
        promised(row, _WIRE.values(), what)
        return deal({name: row[wire] for name, wire in _WIRE.items()}, "SZSE", since, until)

    return page_of(*tab_of(body, _TAB, what), what, made)
