"""hisAnnouncement/query: notices of all three exchanges, 30 a page, and the map of company ids.

`totalAnnouncement` (older answers: `totalRecordNum`) counts the list, `totalpages` rounds down and is not
used; `announcements: null` with a count of 0 means none. The time of a notice is its disclosure date at
00:00 of Shanghai; one that is published on that date itself has the exact second instead.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request
from resources.upstreams.hosts import LINKS
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import json_of, list_of, number, object_of, promised, string_of
from resources.upstreams.parsing.texts import plain_text, stock_codes, title_of, within

PAGE = 30
MOST_PAGES = 100
"""Deeper pages are not answered."""
ORG_COLUMNS = texts("code org_id name")
CATEGORIES = tuple(
    f"category_{name}_szsh"
    for name in (
        "ndbg bndbg yjdbg sjdbg yjygjxz qyfpxzcs dshgg jshgg gddh rcjy gszl zj sf zf gqjl pg jj gszq kzzq "
        "qtrz gqbd bcgz cqdq fxts tbclts tszlq"
    ).split()
)
_SITE = "cninfo.disclosure"
FORM = (
    ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
    ("X-Requested-With", "XMLHttpRequest"),
)
_SHANGHAI = timedelta(hours=8)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_ID = re.compile(r"[0-9A-Za-z]{1,64}")
_FILE = re.compile(r"(?!.*\.\.)finalpage/[0-9A-Za-z_./-]{1,200}")


@dataclass(frozen=True)
class Query:
    """Dates (both included), a company as `code,orgId` ('' all), a category ('' all)."""

    since: str
    until: str
    stock: str = ""
    category: str = ""

    @property
    def what(self) -> str:
        """For messages and the fetch record."""
        days = self.since if self.since == self.until else f"{self.since}..{self.until}"
        return " ".join(part for part in (days, self.stock, self.category) if part)


def announcements_request(query: Query, page: int) -> Request:
    """One page."""
    form = (
        ("pageNum", str(page)),
        ("pageSize", str(PAGE)),
        ("column", "szse"),
        ("tabName", "fulltext"),
        ("plate", ""),
        ("stock", query.stock),
        ("searchkey", ""),
        ("secid", ""),
        ("category", query.category),
        ("trade", ""),
        ("seDate", f"{query.since}~{query.until}"),
        ("sortName", ""),
        ("sortType", ""),
        ("isHLtitle", "true"),
    )
    return Request(
        _SITE,
        "announcements",
        "/new/hisAnnouncement/query",
        label=f"{query.what} page {page}",
        method="POST",
        headers=FORM,
        content=urlencode(form).encode(),
    )


def parse_announcements(body: bytes, query: Query) -> Page:
    """Rows with the keys of `NOTICE_COLUMNS`."""
    what = f"notices {query.what}"
    document = object_of(json_of(body), what)
    count = document.get("totalAnnouncement")
    total = whole_number(document.get("totalRecordNum") if count is None else count, f"{what} count")
    if "announcements" not in document:
        raise PayloadError(f"{what}: no field announcements")
    listed = document["announcements"]
    raw = [] if listed is None else list_of(listed, f"{what} announcements")
    if len(raw) > min(total, PAGE) or (total and not raw):
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")

    def read(row: Any) -> list[dict[str, Any]]:
        return _rows(object_of(row, f"{what} row"), query)

    made = accepted_rows(raw, read, what, named_by("announcementId"))
    return Page([row for rows in made for row in rows], len(raw), total)


def _rows(row: dict[str, Any], query: Query) -> list[dict[str, Any]]:
    """One row per company that a notice is of."""
    ann_id = string_of(row.get("announcementId"), "notice id")
    if not _ID.fullmatch(ann_id):
        raise PayloadError(f"notice id {ann_id[:40]!r}")
    what = f"notice {ann_id}"
    codes: Sequence[str | None] = stock_codes(string_of(row.get("secCode"), f"{what} secCode"))
    name = row.get("secName")
    names = [] if name is None else plain_text(name, f"{what} secName", 200).split(",")
    kinds = row.get("announcementType")
    file = row.get("adjunctUrl")
    address = f"{LINKS['cninfo.file']}{file}" if isinstance(file, str) and _FILE.fullmatch(file) else None
    day, moment = _time(row.get("announcementTime"), what)
    size = number(row.get("adjunctSize"), f"{what} adjunctSize", digits=0)
    if size < 0:
        raise PayloadError(f"{what} adjunctSize is below zero: {size}")
    made = {
        "ann_id": ann_id,
        "title": title_of(row.get("announcementTitle"), names, f"{what} announcementTitle"),
        "pub_date": within(day, query.since, query.until, what),
        "pub_time": moment,
        "ann_type": None if kinds is None else plain_text(kinds, f"{what} announcementType", 64) or None,
        "url": address,
        "pdf_url": address if address and address.upper().endswith(".PDF") else None,
        "size_kb": size,
    }
    # One that is of no stock counts for the list, and is left out of the frame.
    return [{**made, "code": code} for code in codes or [None]]


def _time(value: Any, what: str) -> tuple[str, str | None]:
    """The date of milliseconds since 1970, in Shanghai, and the moment where it is not the date's begin."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 13:
        value = int(value)
    if type(value) is not int or not 0 < value < 4_102_444_800_000:
        raise PayloadError(f"{what} announcementTime is no time: {value!r:.40}")
    published = (_EPOCH + timedelta(milliseconds=value) + _SHANGHAI).replace(microsecond=0)
    is_begin = published.time() == datetime.min.time()
    return published.date().isoformat(), None if is_begin else published.isoformat(sep=" ")


def orgs_request() -> Request:
    """The map of all listed companies in one answer."""
    return Request(_SITE, "orgs", "/new/data/szse_stock.json", label="orgs")


def parse_orgs(body: bytes) -> pd.DataFrame:
    """Columns `ORG_COLUMNS`. An id does not follow from the code; companies without one are left out."""
    listed = object_of(json_of(body), "orgs").get("stockList")
    return frame(list(org_rows(list_of(listed, "orgs stockList"))), ORG_COLUMNS)


def org_rows(listed: list[Any]) -> list[dict[str, Any]]:
    """Rows of the map with an id, once per code. PayloadError where a row has no such key at all: the map
    would seem to be empty."""
    found: dict[str, dict[str, Any]] = {}
    for one in listed:
        row = object_of(one, "org row")
        promised(row, ("code", "orgId"), "org row")
        code, org = string_of(row.get("code"), "org code"), row.get("orgId")
        if stock_codes(code) != [code] or not isinstance(org, str) or not org:
            continue
        if not _ID.fullmatch(org):
            raise PayloadError(f"org {code}: orgId {org[:40]!r}")
        name = plain_text(row.get("zwjc") or "", f"org {code} zwjc", 64)
        found.setdefault(code, {"code": code, "org_id": org, "name": name or None})
    return list(found.values())
