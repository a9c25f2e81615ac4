"""Shenzhen: block trades in shares and funds (ShowReport 1932_dzjyzqjy_after, tab2), 20 rows a page.

Every figure is a text with thousands commas: 元, 万股 and 万元.
"""

from dataclasses import dataclass
from typing import Any

from resources.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.exchanges.deals import deal
from resources.upstreams.payload import json_of, list_of, object_of

MOST_PAGES = 500
_TAB = "tab2"
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


@dataclass(frozen=True)
class DealPage:
    """Rows with the keys of `DEAL_COLUMNS`; `count` rows there are on all `pages`."""

    rows: list[dict[str, Any]]
    count: int
    pages: int

    def __len__(self) -> int:
        return len(self.rows)


def deals_request(since: str, until: str, page: int = 1) -> Request:
    params = (
        ("SHOWTYPE", "JSON"),
        ("CATALOGID", "1932_dzjyzqjy_after"),
        ("TABKEY", _TAB),
        ("txtStart", since),
        ("txtEnd", until),
        ("PAGENO", str(page)),
    )
    label = f"{since}..{until} {page}"
    return Request("szse.report", "block_trades", "/api/report/ShowReport/data", params, label=label)


def parse_deals(body: bytes, since: str, until: str) -> DealPage:
    """One page; empty where nothing was dealt or published."""
    tabs = [object_of(tab, "SZSE block trades tab") for tab in list_of(json_of(body), "SZSE block trades")]
    heads = [object_of(tab.get("metadata"), "SZSE block trades metadata") for tab in tabs]
    found = [at for at, head in enumerate(heads) if head.get("tabkey") == _TAB]
    if len(found) != 1:
        raise PayloadError(f"SZSE block trades: {len(found)} of {len(tabs)} tabs are {_TAB}")
    tab, head = tabs[found[0]], heads[found[0]]
    if tab.get("error"):
        raise PayloadError(f"SZSE block trades: {str(tab['error'])[:80]}")
    rows = []
    for raw in list_of(tab.get("data"), "SZSE block trades data"):
        row = object_of(raw, "SZSE block trade")
        gone = [wire for wire in _WIRE.values() if wire not in row]
        if gone:
            raise PayloadError(f"SZSE block trades: no field {', '.join(gone)}")
        rows.append(deal({name: row[wire] for name, wire in _WIRE.items()}, "SZSE", since, until))
    count, pages = head.get("recordcount"), head.get("pagecount")
    if type(count) is not int or type(pages) is not int or not len(rows) <= count:
        raise PayloadError(f"SZSE block trades: {len(rows)} rows of {count!r}, {pages!r} pages")
    return DealPage(rows, count, pages)
