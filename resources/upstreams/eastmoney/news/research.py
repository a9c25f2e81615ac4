"""Research reports (reportapi report/list): rating, forecasts and target price of every report of a date."""

import math
import re
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.hosts import LINKS
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, number, object_of, price, string_of
from resources.upstreams.parsing.rows import Reader, may, not_zero, values_of
from resources.upstreams.parsing.texts import plain_text, stock_codes, title_of, within

PAGE = 100
MOST_PAGES = 100
RESEARCH_COLUMNS: dict[str, str] = {
    **texts("info_code code pub_date title org researcher rating rating_change industry pdf_url"),
    **numbers("eps_fy1 eps_fy2 eps_fy3 pe_fy1 target_price"),
}
"""EPS, target price CNY; `eps_fy1` of the year of publication, then the two after it."""
RATING_CHANGES = {0: "上调", 1: "下调", 2: "首次", 3: "维持", 4: "无"}
_ID = re.compile(r"[0-9A-Za-z]{1,32}")


def research_request(since: str, until: str, page: int, code: str = "") -> Request:
    """One page of the reports on all stocks, or on one."""
    params = pairs(
        f"industryCode=*&pageSize={PAGE}&industry=*&rating=*&ratingChange=*&beginTime={since}"
        f"&endTime={until}&pageNo={page}&fields=&qType=0&orgCode=&code={code}&rcode=&p={page}&pageNum={page}"
        f"&pageNumber={page}"
    )
    label = f"{since}..{until} {code} page {page}"
    return Request("eastmoney.research", "research", "/report/list", params, label=label)


def parse_research(body: bytes, since: str, until: str) -> Page:
    """Rows with the keys of `RESEARCH_COLUMNS`; reports on anything but an A share are left out."""
    what = f"research {since}..{until}"
    document = object_of(json_of(body), what)
    total = whole_number(document.get("hits"), f"{what} hits")
    listed = document.get("data")
    raw = [] if listed is None and not total else list_of(listed, f"{what} data")
    if len(raw) > min(total, PAGE):
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")

    def read(row: Any) -> dict[str, Any] | None:
        return _row(object_of(row, f"{what} row"), since, until)

    rows = accepted_rows(raw, read, what, named_by("stockCode"))
    return Page([row for row in rows if row is not None], len(raw), total)


def research_frame(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Columns `RESEARCH_COLUMNS`, each report once."""
    return once_each(frame(rows, RESEARCH_COLUMNS), ["info_code", "code"], what)


def _row(row: dict[str, Any], since: str, until: str) -> dict[str, Any] | None:
    info = string_of(row.get("infoCode"), "report infoCode")
    if not _ID.fullmatch(info):
        raise PayloadError(f"report infoCode {info[:40]!r}")
    what = f"report {info}"
    code = string_of(row.get("stockCode"), f"{what} stockCode")
    if stock_codes(code) != [code]:
        return None
    day = iso_day(string_of(row.get("publishDate"), f"{what} publishDate")[:10], f"{what} publishDate")
    if "emRatingName" not in row:
        raise PayloadError(f"{what}: no rating among its fields")
    return {
        "info_code": info,
        "code": code,
        "pub_date": within(day, since, until, what),
        "title": title_of(row.get("title"), [], f"{what} title"),
        "pdf_url": LINKS["eastmoney.research"].format(info),
        **values_of(row, _FIELDS, what),
    }


def _text(most: int) -> Reader:
    """A plain text of at most so many characters; None where there is none."""
    return lambda value, what: None if value is None else plain_text(value, what, most) or None


def _change(value: Any, what: str) -> str | None:
    """The label of the wire's number; '' and null are unknown."""
    kind = number(value, what)
    if math.isnan(kind):
        return None
    if kind not in RATING_CHANGES:
        raise PayloadError(f"{what} is no known change: {value!r:.40}")
    return RATING_CHANGES[int(kind)]


_FIELDS = (
    *may(_text(64), orgSName="org", indvInduName="industry"),
    *may(_text(128), researcher="researcher"),
    *may(_text(32), emRatingName="rating"),
    *may(_change, ratingChange="rating_change"),
    *may(number, predictThisYearEps="eps_fy1", predictNextYearEps="eps_fy2", predictNextTwoYearEps="eps_fy3"),
    *may(number, predictThisYearPe="pe_fy1"),
    *may(not_zero(price), indvAimPriceT="target_price"),
)
