"""Beijing: margin trading. `cb([…, '2026-07-21'])`: a list and, in single quotes, the date that it is of.

The total is a row of rounded figures in 10,000 CNY and 10,000 shares; the detail is a page of rows in CNY and
shares. Neither has the repayments.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request
from resources.upstreams.exchanges.common import joined, same_day
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.rows import named, security_code, text_of
from resources.upstreams.upstream_client import UpstreamClient

_MOST_PAGES = 100
_CALLBACK = (("callback", "cb"),)
_FORM = (("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),)
_NUMBERS = named("rzye rzye rzmre rzmre rqye rqye loan_volume rqyl rqmcl rqmcl rzrqye rzrqye")
_DAY = re.compile(rb",\s*'(\d{4}-\d{2}-\d{2})'\s*\]")
_WAN = 10_000.0
_SLACK, _TOTAL_SLACK = 1.0, 101.0
"""CNY by which two rounded figures may miss their rounded sum: whole CNY, hundredths of 10,000 CNY."""


@dataclass(frozen=True)
class MarginPage:
    """Rows of one page. `received`: rows on the wire, of which some may be rejected; `total`: rows of all
    pages by the answer's own count, None without one."""

    rows: list[dict[str, Any]]
    pages: int
    received: int
    total: int | None

    def __len__(self) -> int:
        return self.received


def total_request(day: str) -> Request:
    params = (*_CALLBACK, ("transDate", day), ("page", "0"))
    path = "/rzrqjyyexxController/summaryInfoResult.do"
    return Request("bse.disclosure", "margin_total", path, params, label=day)


def detail_request(day: str, page: int) -> Request:
    """Page 0 is the first."""
    return Request(
        "bse.disclosure",
        "margin_detail",
        "/rzrqjyyexxController/detailInfoResult.do",
        _CALLBACK,
        label=f"{day} {page}",
        method="POST",
        headers=_FORM,
        content=urlencode({"transDate": day, "page": str(page)}).encode(),
    )


def parse_total(body: bytes, day: str) -> list[dict[str, Any]]:
    """The row `TOTAL_BJ` with the keys of `MARGIN_COLUMNS`; none where nothing is published."""
    what = "BSE margin total"
    raws, own_day = _answer(body, day, what)
    if len(raws) > 1:
        raise PayloadError(f"{what}: {len(raws)} rows")
    return [_row(payload.object_of(raw, what), own_day, what, detail=False) for raw in raws]


def parse_detail(body: bytes, day: str) -> MarginPage:
    """Rows with the keys of `MARGIN_COLUMNS`; one whose figures contradict each other is rejected."""
    what = "BSE margin detail"
    answer, own_day = _answer(body, day, what)
    page = payload.object_of(answer[0] if answer else None, what)
    raws = payload.list_of(page.get("content"), f"{what} content")
    pages, total = page.get("totalPages"), page.get("totalElements")
    if type(pages) is not int or (total is not None and type(total) is not int):
        raise PayloadError(f"{what}: {pages!r} pages, {total!r} elements")
    if total is not None and len(raws) > total:
        raise PayloadError(f"{what}: {len(raws)} rows of {total}")

    def read(raw: Any) -> dict[str, Any]:
        return _row(payload.object_of(raw, f"{what} row"), own_day, what, detail=True)

    return MarginPage(accepted_rows(raws, read, what, named_by("zqdm")), pages, len(raws), total)


def _answer(body: bytes, day: str, what: str) -> tuple[list[Any], str]:
    """The list of an answer and its date, when that is the one that was asked for."""
    parts = payload.list_of(payload.json_of(_DAY.sub(rb', "\1"]', body)), what)
    if len(parts) != 2:
        raise PayloadError(f"{what}: {len(parts)} parts, expected a list and a date")
    own_day = payload.iso_day(payload.string_of(parts[1], f"{what} date"), f"{what} date")
    return payload.list_of(parts[0], what), same_day(own_day, day, what)


def _row(row: dict[str, Any], day: str, what: str, *, detail: bool) -> dict[str, Any]:
    code = security_code(row.get("zqdm"), f"{what} zqdm") if detail else "TOTAL_BJ"
    label = f"{what} {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": day,
        "exchange": "BSE",
        "name": text_of(row.get("zqjc"), f"{label} zqjc") if detail else None,
    }
    for name, field in _NUMBERS.items():
        wire = field if detail else f"{field}Round"
        if wire not in row:
            raise PayloadError(f"{label}: no field {wire}")
        made[name] = payload.amount(row[wire], f"{label} {wire}", scale=1.0 if detail else _WAN)
    payload.required(made["rzye"], f"{label} rzye")
    if abs(made["rzye"] + made["rqye"] - made["rzrqye"]) > (_SLACK if detail else _TOTAL_SLACK):
        raise PayloadError(f"{label}: rzye + rqye is not rzrqye")
    return made


class BseClient(UpstreamClient):
    source = "bse"

    def margin(self, day: str) -> pd.DataFrame:
        """Every margin security of a trade date and the row `TOTAL_BJ`; columns `MARGIN_COLUMNS`. One call
        for the total, one per page. Empty where nothing is published."""
        total = self._ask(total_request(day), parse_total, day=day)
        rows: list[dict[str, Any]] = []
        received = 0
        for page in range(_MOST_PAGES):
            got = self._ask(detail_request(day, page), parse_detail, day=day)
            rows += got.rows
            received += len(got)
            if page + 1 < got.pages and not len(got):
                raise PayloadError(f"BSE margin: page {page + 1} of {got.pages} is empty", source=self.source)
            if page + 1 >= got.pages:
                if got.total is not None and received != got.total:
                    raise PayloadError(f"BSE margin: {received} of {got.total} rows", source=self.source)
                return joined(total, rows, "BSE margin")
        raise PayloadError(f"BSE margin: more than {_MOST_PAGES} pages", source=self.source)
