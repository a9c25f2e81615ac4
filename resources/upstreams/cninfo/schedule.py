"""getPrbookInfo: when companies mean to disclose a periodic report, and when they did."""

from typing import Any
from urllib.parse import urlencode

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.cninfo.announcements import FORM
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, object_of, promised, string_of
from resources.upstreams.parsing.texts import plain_text

PAGE = 1000
MOST_PAGES = 20
_DATES = {
    "first_date": "f002d_0102",
    "change1_date": "f003d_0102",
    "change2_date": "f004d_0102",
    "change3_date": "f005d_0102",
    "actual_date": "f006d_0102",
}
_PERIOD = "f001d_0102"
__all__ = ["MOST_PAGES", "parse_schedule", "schedule_request"]


def schedule_request(period: str, page: int = 1) -> Request:
    """A page of all companies of the three exchanges for one quarter end."""
    form = {
        "sectionTime": period, "firstTime": "", "lastTime": "", "market": "szsh", "stockCode": "",
        "orderClos": "", "isDesc": "", "pagesize": str(PAGE), "pagenum": str(page),
    }  # fmt: skip
    return Request(
        "cninfo.disclosure",
        "schedule",
        "/new/information/getPrbookInfo",
        label=f"{period} page {page}",
        method="POST",
        headers=FORM,
        content=urlencode(form).encode(),
    )


def parse_schedule(body: bytes, period: str) -> Page:
    """One page, rows with the keys of `SCHEDULE`; none before the quarter's plans are out.
    PayloadError for another quarter."""
    what = f"schedule {period}"
    document = object_of(json_of(body), what)
    total = whole_number(document.get("totalRows"), f"{what} totalRows")
    listed = document.get("prbookinfos")
    raw = [] if listed is None and not total else list_of(listed, f"{what} prbookinfos")
    if len(raw) > total:
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")
    found = [object_of(one, f"{what} row") for one in raw]
    rows = accepted_rows(found, lambda row: _row(row, period), what, lambda row: row.get("seccode"))
    return Page(rows, len(raw), total)


def _row(row: dict[str, Any], period: str) -> dict[str, Any]:
    promised(row, ("seccode", "secname", _PERIOD, *_DATES.values()), f"schedule {period}")
    code = string_of(row["seccode"], "schedule seccode")
    if len(code) != 6 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"schedule {period}: {code[:20]!r} is no code")
    what = f"schedule {period} {code}"
    stated = _day(row[_PERIOD], f"{what} {_PERIOD}")
    if stated != period:
        raise PayloadError(f"{what}: a report of {stated}")
    return {
        "code": code,
        "report_period": stated,
        "name": plain_text(row["secname"] or "", f"{what} secname", 64) or None,
        **{name: _day(row[wire], f"{what} {wire}") for name, wire in _DATES.items()},
    }


def _day(value: Any, what: str) -> str | None:
    """An empty text is a day that is not there."""
    text = "" if value is None else string_of(value, what).strip()
    return iso_day(text[:10], what) if text else None
