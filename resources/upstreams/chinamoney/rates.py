"""Closing yield curve, SHIBOR and LPR: JSON whose figures are texts, `---` for a missing one. Percent.

Known by what public clients read: of the curve a record per date and tenor (`newDateValueCN`, `yearTermStr`
from `0.083` to `46.0`, `maturityYieldStr`), newest date first, whatever `termId` says, with `total` or
`pageTotal`; of the two rates `ON 1W ... 1Y` and `1Y 5Y` with `showDateCN`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.chinamoney.registration import TURNED_AWAY, answer_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import iso_day, list_of, number, object_of, string_of

PAGE = 50
"""A request for more rows is answered with HTTP 403."""
MOST_PAGES = 60
SHIBOR_TENORS = {
    "ON": "on", "1W": "1w", "2W": "2w", "1M": "1m", "3M": "3m", "6M": "6m", "9M": "9m", "1Y": "1y",
}  # fmt: skip
LPR_TENORS = {"1Y": "1y", "5Y": "5y"}
CURVE_COLUMNS: dict[str, str] = {**texts("date"), **numbers("years rate")}
RATE_COLUMNS: dict[str, str] = {**texts("date tenor"), **numbers("rate")}
GOVERNMENT = "CYCC000"
_LARGEST = 30.0
_OK = "200"
_YEARS = re.compile(r"\d{1,2}(\.\d{1,4})?")


@dataclass(frozen=True)
class RatePage:
    """Rows of a page; `total` rows on all `pages`, either of which may be missing."""

    rows: list[dict[str, Any]]
    received: int
    total: int | None
    pages: int | None

    def __len__(self) -> int:
        return self.received


def curve_request(
    since: str, until: str, page: int, *, bonds: str = GOVERNMENT, refusable: bool = False
) -> Request:
    """One page of the closing curve of `bonds` in steps of a year; at most a month. `refusable`: HTTP errors
    go to the parser, which recognises the page that refuses a client."""
    params = (
        ("lang", "CN"),
        ("reference", "1,2,3"),
        ("bondType", bonds),
        ("startDate", since),
        ("endDate", until),
        ("termId", "1"),
        ("pageNum", str(page)),
        ("pageSize", str(PAGE)),
    )
    path = "/ags/ms/cm-u-bk-currency/ClsYldCurvHis"
    label = f"{since}..{until} page {page}"
    explained = TURNED_AWAY if refusable else ()
    return Request("chinamoney.rates", "curve", path, params, label=label, explained=explained)


def shibor_request(since: str, until: str) -> Request:
    """At most a year."""
    params = (("lang", "cn"), ("startDate", since), ("endDate", until))
    return Request(
        "chinamoney.rates", "shibor", "/ags/ms/cm-u-bk-shibor/ShiborHis", params, label=f"{since}..{until}"
    )


def lpr_request(since: str, until: str) -> Request:
    params = (("lang", "CN"), ("strStartDate", since), ("strEndDate", until))
    return Request(
        "chinamoney.rates", "lpr", "/ags/ms/cm-u-bk-currency/LprHis", params, label=f"{since}..{until}"
    )


def parse_curve(body: bytes, since: str, until: str) -> RatePage:
    """Rows with the keys of `CURVE_COLUMNS`: yield to maturity by years."""
    records, data = _records(body, "closing curve")
    total = data.get("total", data.get("totalCount"))
    pages = data.get("pageTotal")
    if not _is_count(total) or not _is_count(pages) or (total is None and pages is None):
        raise PayloadError(f"closing curve: {total!r:.20} records on {pages!r:.20} pages")
    if total is not None and len(records) > total:
        raise PayloadError(f"closing curve: {len(records)} records of {total}")
    rows = []
    for record in records:
        day = _day(record, "newDateValueCN", since, until, "closing curve")
        years = string_of(record.get("yearTermStr"), f"closing curve {day} yearTermStr").strip()
        if not _YEARS.fullmatch(years):
            raise PayloadError(f"closing curve {day}: yearTermStr {years[:20]!r}")
        rate = _percent(record.get("maturityYieldStr"), f"closing curve {day} {years}")
        rows.append({"date": day, "years": float(years), "rate": rate})
    return RatePage(rows, len(records), total, pages)


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)


def curve_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Columns `CURVE_COLUMNS`. PayloadError when a tenor of a day came twice."""
    made = frame(rows, CURVE_COLUMNS)
    if made.duplicated(subset=["date", "years"]).any():
        raise PayloadError("closing curve: a tenor came twice")
    return made


def _parse_rates(body: bytes, since: str, until: str, tenors: Mapping[str, str], what: str) -> pd.DataFrame:
    records, _ = _records(body, what)
    rows = []
    for record in records:
        day = _day(record, "showDateCN", since, until, what)
        for wire, tenor in tenors.items():
            if wire not in record:
                raise PayloadError(f"{what} {day}: no field {wire}")
            rate = _percent(record[wire], f"{what} {day} {wire}")
            rows.append({"date": day, "tenor": tenor, "rate": rate})
    made = frame(rows, RATE_COLUMNS)
    if made.duplicated(subset=["date", "tenor"]).any():
        raise PayloadError(f"{what}: a day came twice")
    return made


parse_shibor: Callable[..., pd.DataFrame] = partial(_parse_rates, tenors=SHIBOR_TENORS, what="SHIBOR")
parse_lpr: Callable[..., pd.DataFrame] = partial(_parse_rates, tenors=LPR_TENORS, what="LPR")
"""(body, since, until) -> columns `RATE_COLUMNS`. PayloadError for days outside of what was asked."""


def _records(body: bytes, what: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    document = answer_of(body, what)
    head = object_of(document.get("head"), f"{what} head")
    if head.get("rep_code") != _OK:
        raise PayloadError(
            f"{what}: rep_code {head.get('rep_code')!r:.20} {str(head.get('rep_message'))[:60]}"
        )
    records = list_of(document.get("records") or [], f"{what} records")
    data = object_of(document.get("data") or {}, f"{what} data")
    refusal = data.get("message") or data.get("flagMessage")
    if refusal and not records:
        # More than a year in one request: a message, with the code of a good answer and no record.
        raise PayloadError(f"{what}: {str(refusal)[:60]}")
    return [object_of(one, f"{what} record") for one in records], data


def _day(record: Mapping[str, Any], name: str, since: str, until: str, what: str) -> str:
    day = iso_day(string_of(record.get(name), f"{what} {name}"), f"{what} {name}")
    if not since <= day <= until:
        raise PayloadError(f"{what}: answered for {day}, asked was {since}..{until}")
    return day


def _percent(value: Any, what: str) -> float:
    text = string_of(value, what).strip()
    percent = number(None if text == "---" else text, what)
    if abs(percent) > _LARGEST:
        raise PayloadError(f"{what}: {text!r} is no percentage: another unit")
    return percent
