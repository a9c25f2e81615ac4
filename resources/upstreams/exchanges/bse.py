"""Beijing: margin trading, JSONP of pages. CNY and shares.

Addresses, parameters and units are documented; the names of the fields are not, and are assumed to be
those of the other exchanges' pages (`docs/upstreams.md`). Another shape is a PayloadError.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from resources.errors import PayloadError
from resources.transport.request import Fetcher, Request
from resources.upstreams.exchanges.margin import code_of, figure, joined, name_of, same_day
from resources.upstreams.payload import iso_day, json_of, list_of, object_of, required, string_of

_MOST_PAGES = 100
_CALLBACK = (("callback", "cb"),)
_FORM = (("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),)
_NUMBERS = {
    "rzye": "rzye",
    "rzmre": "rzmre",
    "rzche": "rzche",
    "rqye": "rqye",
    "loan_volume": "rqyl",
    "rqmcl": "rqmcl",
    "rqchl": "rqchl",
    "rzrqye": "rzrqye",
}


@dataclass(frozen=True)
class MarginPage:
    rows: list[dict[str, Any]]
    pages: int
    total: int

    def __len__(self) -> int:
        return len(self.rows)


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


def parse_margin(body: bytes, day: str, *, detail: bool) -> MarginPage:
    """Rows with the keys of `MARGIN_COLUMNS`."""
    what = "BSE margin detail" if detail else "BSE margin total"
    outer = list_of(json_of(body), what)
    page = object_of(outer[0] if outer else None, what)
    raw = list_of(page.get("content"), f"{what} content")
    pages, total = page.get("totalPages"), page.get("totalElements")
    if type(pages) is not int or type(total) is not int or len(raw) > total:
        raise PayloadError(f"{what}: {len(raw)} rows, {pages!r} pages, {total!r} elements")
    return MarginPage([_row(object_of(row, f"{what} row"), day, what, detail) for row in raw], pages, total)


def _row(row: dict[str, Any], day: str, what: str, detail: bool) -> dict[str, Any]:
    code = code_of(row.get("zqdm"), f"{what} zqdm") if detail else "TOTAL_BJ"
    label = f"{what} {code}"
    told = iso_day(string_of(row.get("jyrq"), f"{label} jyrq"), f"{label} jyrq")
    made: dict[str, Any] = {
        "code": code,
        "date": same_day(told, day, label),
        "exchange": "BSE",
        "name": name_of(row.get("zqjc"), f"{label} zqjc") if detail else None,
    }
    for name, wire in _NUMBERS.items():
        if wire not in row:
            raise PayloadError(f"{label}: no field {wire}")
        made[name] = figure(row[wire], f"{label} {wire}")
    required(made["rzye"], f"{label} rzye")
    if abs(made["rzye"] + made["rqye"] - made["rzrqye"]) > 1:
        raise PayloadError(f"{label}: rzye + rqye is not rzrqye")
    return made


class BseClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = "bse"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def margin(self, day: str) -> pd.DataFrame:
        """Every margin security of a trade date and the row `TOTAL_BJ`; columns `MARGIN_COLUMNS`. One call
        for the total, one per page. Empty where nothing is published."""
        total = self._fetcher.call(total_request(day), partial(parse_margin, day=day, detail=False))
        rows: list[dict[str, Any]] = []
        for page in range(_MOST_PAGES):
            got = self._fetcher.call(detail_request(day, page), partial(parse_margin, day=day, detail=True))
            rows += got.rows
            if page + 1 >= got.pages or not len(got):
                if len(rows) != got.total:
                    raise PayloadError(f"BSE margin: {len(rows)} of {got.total} rows", source=self.source)
                break
        return joined(total.rows, rows, "BSE margin")
