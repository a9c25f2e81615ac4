"""Notices of listed companies (np-anotice-stock): 100 a page, the moment of publication, several codes each.

`notice_date` is the disclosure date, often the day after `display_time`, the moment itself.
"""

import re
from typing import Any

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request
from resources.upstreams.hosts import LINKS
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, moment, object_of, string_of
from resources.upstreams.parsing.texts import plain_text, stock_codes, title_of, within

PAGE = 100
MOST_PAGES = 300
_MARKET = "SHA,CYB,SZA,BJA,INV"
_ID = re.compile(r"[0-9A-Za-z]{1,64}")


def notices_request(since: str, until: str, page: int, code: str | None = None) -> Request:
    """One page of the notices of all companies, or of one."""
    params = [
        ("sr", "-1"),
        ("page_size", str(PAGE)),
        ("page_index", str(page)),
        ("ann_type", _MARKET if code is None else "A"),
        ("client_source", "web"),
        ("f_node", "0"),
        ("s_node", "0"),
        ("begin_time", since),
        ("end_time", until),
    ]
    if code is not None:
        params.append(("stock_list", code))
    label = f"{since}..{until} {code or ''} page {page}"
    return Request("eastmoney.notices", "notices", "/api/security/ann", tuple(params), label=label)


def parse_notices(body: bytes, since: str, until: str) -> Page:
    """Rows with the keys of `NOTICE_COLUMNS`."""
    what = f"portal notices {since}..{until}"
    document = object_of(json_of(body), what)
    if document.get("success") != 1:
        raise PayloadError(f"{what}: success {document.get('success')!r:.40}")
    data = object_of(document.get("data"), f"{what} data")
    total = whole_number(data.get("total_hits"), f"{what} total_hits")
    raw = list_of(data.get("list"), f"{what} list")
    if len(raw) > min(total, PAGE):
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")

    def read(row: Any) -> list[dict[str, Any]]:
        return _rows(object_of(row, f"{what} row"), since, until)

    made = accepted_rows(raw, read, what, named_by("art_code"))
    return Page([row for rows in made for row in rows], len(raw), total)


def _rows(row: dict[str, Any], since: str, until: str) -> list[dict[str, Any]]:
    """One row per A share that a notice is of."""
    ann_id = string_of(row.get("art_code"), "notice art_code")
    if not _ID.fullmatch(ann_id):
        raise PayloadError(f"notice art_code {ann_id[:40]!r}")
    what = f"notice {ann_id}"
    companies = [object_of(one, f"{what} code") for one in list_of(row.get("codes"), f"{what} codes")]
    shares = [one for one in companies if string_of(one.get("ann_type"), f"{what} ann_type")[:1] == "A"]
    codes = [code for one in shares for code in stock_codes(string_of(one.get("stock_code"), f"{what} code"))]
    names = [plain_text(one.get("short_name") or "", f"{what} short_name", 200) for one in companies]
    kinds = [
        plain_text(object_of(one, f"{what} column").get("column_name"), f"{what} column_name", 64)
        for one in list_of(row.get("columns") or [], f"{what} columns")
    ]
    day = iso_day(string_of(row.get("notice_date"), f"{what} notice_date")[:10], f"{what} notice_date")
    address = LINKS["eastmoney.notice"].format(ann_id)
    made = {
        "ann_id": ann_id,
        "title": title_of(row.get("title"), names, f"{what} title"),
        "pub_date": within(day, since, until, what),
        "pub_time": _shown(row.get("display_time"), f"{what} display_time"),
        "ann_type": ",".join(kinds)[:64] or None,
        "url": address,
        "pdf_url": address,
    }
    return [{**made, "code": code} for code in dict.fromkeys(codes)]


def _shown(value: Any, what: str) -> str | None:
    """`2026-09-24 18:05:11` of `2026-09-24 18:05:11:123`; None where there is none."""
    if value is None or value == "":
        return None
    text = string_of(value, what)[:19]
    return str(moment(text, "%Y-%m-%d %H:%M:%S", what))
