"""Calls of the interbank market's site."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from core.errors import InputError, PayloadError, Permanent, Refused
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    present,
    string_of,
)
from resources.upstreams.upstream_client import UpstreamClient

# -- Closing yield curve, SHIBOR and LPR: JSON whose figures are texts, `---` for a missing one. Percent.
# Known by what public clients read: of the curve a record per date and tenor (`newDateValueCN`,
# `yearTermStr` from `0.083` to `46.0`, `maturityYieldStr`), newest date first, whatever `termId` says, with
# `total` or `pageTotal`; of the two rates `ON 1W ... 1Y` and `1Y 5Y` with `showDateCN`.

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
    params = pairs(
        f"lang=CN&reference=1,2,3&bondType={bonds}&startDate={since}&endDate={until}&termId=1&pageNum={page}"
        f"&pageSize={PAGE}"
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

    def read(raw: Any) -> dict[str, Any]:
        record = object_of(raw, "closing curve record")
        day = _day(record, "newDateValueCN", since, until, "closing curve")
        years = string_of(record.get("yearTermStr"), f"closing curve {day} yearTermStr").strip()
        if not _YEARS.fullmatch(years):
            raise PayloadError(f"closing curve {day}: yearTermStr {years[:20]!r}")
        rate = _percent(record.get("maturityYieldStr"), f"closing curve {day} {years}")
        return {"date": day, "years": float(years), "rate": rate}

    rows = accepted_rows(records, read, "closing curve", named_by("yearTermStr"))
    return RatePage(rows, len(records), total, pages)


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)


def curve_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Columns `CURVE_COLUMNS`, each tenor of a day once."""
    return once_each(frame(rows, CURVE_COLUMNS), ["date", "years"], "closing curve")


def _parse_rates(body: bytes, since: str, until: str, tenors: Mapping[str, str], what: str) -> pd.DataFrame:
    records, _ = _records(body, what)

    def read(raw: Any) -> list[dict[str, Any]]:
        record = object_of(raw, f"{what} record")
        day = _day(record, "showDateCN", since, until, what)
        gone = [wire for wire in tenors if wire not in record]
        if gone:
            raise PayloadError(f"{what} {day}: no field {gone[0]}")
        return [
            {"date": day, "tenor": tenor, "rate": _percent(record[wire], f"{what} {day} {wire}")}
            for wire, tenor in tenors.items()
        ]

    made = accepted_rows(records, read, what, named_by("showDateCN"))
    days = pd.DataFrame({"date": [rows[0]["date"] for rows in made], "rates": [str(rows) for rows in made]})
    kept = once_each(days.assign(at=range(len(days))), ["date"], what)["at"]
    return frame([row for at in kept for row in made[at]], RATE_COLUMNS)


parse_shibor: Callable[..., pd.DataFrame] = partial(_parse_rates, tenors=SHIBOR_TENORS, what="SHIBOR")
parse_lpr: Callable[..., pd.DataFrame] = partial(_parse_rates, tenors=LPR_TENORS, what="LPR")
"""(body, since, until) -> columns `RATE_COLUMNS`. PayloadError for days outside of what was asked."""


def _records(body: bytes, what: str) -> tuple[list[Any], dict[str, Any]]:
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
    return records, data


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


# -- Registration of a client that the site refuses.
# The site answers a client that it does not know, or that sends too many requests, with a page (mostly HTTP
# 403) instead of data. A browser that opens the curve's page registers itself; afterwards the address may
# ask for a day. Two public clients do the same in these steps.

TURNED_AWAY = (403,)
_SITE = "chinamoney.rates"
_PAGE = "/chinese/bkcurvclosedyhis/"
_PAGE_PARAMS = (("bondType", "CYCC000"), ("reference", "1"))
_APPLY = "/dqs/rest/cm-u-rbt/apply"
_USER = "/lss/rest/cm-s-account/getSessionUser"
_KEY = "TThwSjc2NWkzV0VSOVRzOA=="
"""Not a secret: the script of the page sends it for every browser."""
_FORM = (("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),)
_BACKGROUND = (("X-Requested-With", "XMLHttpRequest"),)
_GOVERNMENT_LABEL = "国债"


class TurnedAway(Permanent):
    """A page instead of data: a registration may help."""


def registration_requests() -> tuple[Request, ...]:
    """The page, its registration, and the session of the visitor. The transport holds the cookies."""
    return (
        Request(_SITE, "visit", _PAGE, _PAGE_PARAMS, label="page", explained=TURNED_AWAY),
        Request(
            _SITE,
            "register",
            _APPLY,
            label="apply",
            method="POST",
            headers=_FORM + _BACKGROUND,
            content=urlencode({"key": _KEY}).encode(),
        ),
        Request(_SITE, "register", _USER, label="session", method="POST", headers=_FORM + _BACKGROUND),
    )


def parse_registration(body: bytes) -> int:
    """Bytes of the answer; they are not read. Success shows in the answer to the next request."""
    return len(body)


def curves_request() -> Request:
    """Names and numbers of the curves."""
    path = "/ags/ms/cm-u-bk-currency/ClsYldCurvCurvGO"
    return Request(_SITE, "curves", path, label="curves", headers=_BACKGROUND)


def parse_curves(body: bytes) -> dict[str, str]:
    """Name of a curve -> its number. PayloadError without the one of government bonds."""
    records = list_of(answer_of(body, "curves").get("records"), "curves records")
    found: dict[str, str] = {}
    for one in records:
        record: Mapping[str, Any] = object_of(one, "curve")
        number = string_of(record.get("value"), "curve value")
        if not number.isascii() or not number.isalnum():
            raise PayloadError(f"curve {number[:20]!r}")
        found[string_of(record.get("cnLabel"), "curve cnLabel").strip()] = number
    if _GOVERNMENT_LABEL not in found:
        raise PayloadError(f"curves: none of {len(found)} is {_GOVERNMENT_LABEL}")
    return found


def government_of(curves: Mapping[str, str]) -> str:
    return curves[_GOVERNMENT_LABEL]


def answer_of(body: bytes, what: str) -> dict[str, Any]:
    """The JSON object of an answer. Refused for a page in its place."""
    if present(body)[:1] == b"<":
        raise Refused(f"{what}: a page instead of data")
    return object_of(json_of(body), what)


_MONTH, _YEAR = 30, 365
"""Days of one request: for 31 the curve's site answers that it returns a month at most."""


class ChinamoneyClient(UpstreamClient):
    """Days are ISO dates; percent."""

    source = "chinamoney"

    def closing_curve(self, since: str, until: str) -> pd.DataFrame:
        """Yields to maturity of government bonds by date and years; columns `CURVE_COLUMNS`. At most a
        month; one call per 50 rows, which is one date. Where the site refuses the client, `registered_curve`
        gets the same rows."""
        _bounded(since, until, _MONTH)
        try:
            return self._curve(since, until, GOVERNMENT, refusable=True)
        except TurnedAway:
            return self.registered_curve(since, until)

    def registered_curve(self, since: str, until: str) -> pd.DataFrame:
        """The same rows as a browser gets them: three calls that register the visitor, one for the numbers
        of the curves. Refused when the site still refuses the client."""
        _bounded(since, until, _MONTH)
        for step in registration_requests():
            self._ask(step, parse_registration)
        curves = self._ask(curves_request(), parse_curves)
        return self._curve(since, until, government_of(curves), refusable=False)

    def _curve(self, since: str, until: str, bonds: str, *, refusable: bool) -> pd.DataFrame:
        rows: list[dict[str, Any]] = []
        received = 0
        read = partial(parse_curve, since=since, until=until)
        for page in range(1, MOST_PAGES + 1):
            got = self._ask(
                curve_request(since, until, page, bonds=bonds, refusable=refusable),
                partial(_or_turned_away, read=read) if refusable else read,
            )
            rows += got.rows
            received += len(got)
            missing = 0 if got.total is None else got.total - received
            ended = page >= (got.pages or 0) if got.total is None else missing <= 0
            if missing < 0 or not (ended or len(got)):
                problem = f"{received} of {got.total} rows on page {page} of {got.pages}"
                raise PayloadError(f"closing curve: {problem}", source=self.source)
            if ended:
                return curve_frame(rows)
        raise PayloadError(f"closing curve: more than {MOST_PAGES} pages", source=self.source)

    def shibor(self, since: str, until: str) -> pd.DataFrame:
        """SHIBOR of every tenor by date; columns `RATE_COLUMNS`. At most a year, one call."""
        _bounded(since, until, _YEAR)
        return self._ask(shibor_request(since, until), parse_shibor, since=since, until=until)

    def lpr(self, since: str, until: str) -> pd.DataFrame:
        """Loan prime rates of 1 and 5 years by date; columns `RATE_COLUMNS`. At most a year, one call."""
        _bounded(since, until, _YEAR)
        return self._ask(lpr_request(since, until), parse_lpr, since=since, until=until)


def _or_turned_away(body: bytes, read: Callable[[bytes], RatePage]) -> RatePage:
    try:
        return read(body)
    except Refused as refusal:
        raise TurnedAway(refusal.message) from refusal


def _bounded(since: str, until: str, days: int) -> None:
    if not since <= until <= (date.fromisoformat(since) + timedelta(days=days)).isoformat():
        raise InputError("since", f"{since}..{until} is no span of at most {days} days")
