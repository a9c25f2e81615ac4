"""Notices of the companies listed in Shenzhen (annList), 50 a page; the request is a JSON body."""

import json
import re
from typing import Any

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request
from resources.upstreams.hosts import LINKS
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, object_of, string_of
from resources.upstreams.parsing.texts import plain_text, stock_codes, title_of, within

PAGE = 50
MOST_PAGES = 200
_JSON = (("Content-Type", "application/json"), ("X-Request-Type", "ajax"))
_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_FILE = re.compile(r"(?!.*\.\.)/disc/[0-9A-Za-z_./-]{1,200}")


def notices_request(since: str, until: str, page: int, code: str | None = None) -> Request:
    """One page of the notices of all companies, or of one."""
    asked: dict[str, Any] = {
        "channelCode": ["listedNotice_disc"],
        "pageSize": PAGE,
        "pageNum": page,
        "seDate": [since, until],
    }
    if code is not None:
        asked["stock"] = [code]
    return Request(
        "szse.disclosure",
        "notices",
        "/api/disc/announcement/annList",
        (("random", "0.5"),),
        label=f"{since}..{until} {code or ''} page {page}",
        method="POST",
        headers=_JSON,
        content=json.dumps(asked, separators=(",", ":")).encode(),
    )


def parse_notices(body: bytes, since: str, until: str) -> Page:
    """Rows with the keys of `NOTICE_COLUMNS`."""
    what = f"SZSE notices {since}..{until}"
    document = object_of(json_of(body), what)
    total = whole_number(document.get("announceCount"), f"{what} announceCount")
    listed = document.get("data")
    raw = [] if listed is None and not total else list_of(listed, f"{what} data")
    if len(raw) > min(total, PAGE):
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")

    def read(row: Any) -> list[dict[str, Any]]:
        return _rows(object_of(row, f"{what} row"), since, until)

    made = accepted_rows(raw, read, what, named_by("annId"))
    return Page([row for rows in made for row in rows], len(raw), total)


def _rows(row: dict[str, Any], since: str, until: str) -> list[dict[str, Any]]:
    """One row per company. Codes are a list, in some archives the text of one (`"['002670']"`)."""
    given = row.get("annId")
    # A number in what public clients recorded, a text in the newest answers.
    ann_id = str(given) if type(given) is int else string_of(given, "notice annId")
    if not _ID.fullmatch(ann_id):
        raise PayloadError(f"notice annId {ann_id[:40]!r}")
    what = f"notice {ann_id}"
    codes = stock_codes(_joined(row.get("secCode"), f"{what} secCode"))
    names = _joined(row.get("secName") or [], f"{what} secName").split(",")
    day = iso_day(string_of(row.get("publishTime"), f"{what} publishTime")[:10], f"{what} publishTime")
    file = row.get("attachPath")
    address = f"{LINKS['szse.file']}{file}" if isinstance(file, str) and _FILE.fullmatch(file) else None
    made = {
        "ann_id": ann_id,
        "title": title_of(row.get("title"), names, f"{what} title"),
        "pub_date": within(day, since, until, what),
        "url": address,
        "pdf_url": address if address and address.lower().endswith(".pdf") else None,
    }
    return [{**made, "code": code} for code in codes]


def _joined(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    return ",".join(plain_text(one, what, 200) for one in list_of(value, what))
