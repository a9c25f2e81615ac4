"""The common form of answers of Shenzhen's ShowReport: tabs with a total number of rows."""

from collections.abc import Callable
from typing import Any

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.parsing.paging import UNTOLD, Page
from resources.upstreams.parsing.payload import json_of, list_of, object_of

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
    tabs = [object_of(tab, f"{what} tab") for tab in list_of(json_of(body), what)]
    heads = [object_of(tab.get("metadata"), f"{what} metadata") for tab in tabs]
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
    """Each row of a tab as `make` reads it, and how many there are on all pages, if the tab has that
    count."""
    raws = [object_of(raw, f"{what} row") for raw in list_of(tab.get("data"), f"{what} data")]
    count = head.get("recordcount", UNTOLD)
    if type(count) is not int or (count != UNTOLD and len(raws) > count):
        raise PayloadError(f"{what}: {len(raws)} rows of {count!r}")
    return Page(accepted_rows(raws, make, what, stated_code), len(raws), count)


def stated_code(row: Row) -> object:
    """The code of a row, as it is on the wire."""
    return row.get("zqdm") or row.get("zqdh") or row.get("sys_key")
