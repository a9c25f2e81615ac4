"""Company profiles: the survey page (register data and its issue), main business, actual controller."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    json_of,
    list_of,
    number,
    object_of,
    promised,
    string_of,
)
from resources.upstreams.parsing.rows import day_or_none
from resources.upstreams.parsing.texts import plain_text, web_address

SURVEY_COLUMNS: dict[str, str] = {
    **texts("code full_name established_date legal_rep chairman general_manager secretary reg_address"),
    **texts("website phone business_scope intro csrc_industry list_date issue_date"),
    **numbers("registered_capital employees issue_price issue_pe issue_shares raised_funds"),
    **numbers("first_day_change_pct"),
}
"""`registered_capital` and `raised_funds` CNY, `issue_price` CNY, `issue_shares` shares."""
_ROOT = "/PC_HSF10"
_WAN = 10_000.0
_FEWEST_SHARES = 100_000
"""An issue of fewer shares is one in another unit, or of the years of the first exchange."""
_REGISTER = {
    "full_name": ("ORG_NAME", 128),
    "legal_rep": ("LEGAL_PERSON", 64),
    "chairman": ("CHAIRMAN", 64),
    "general_manager": ("PRESIDENT", 64),
    "secretary": ("SECRETARY", 64),
    "reg_address": ("ADDRESS", 255),
    "phone": ("ORG_TEL", 64),
    "business_scope": ("BUSINESS_SCOPE", 16_000),
    "intro": ("ORG_PROFILE", 16_000),
    "csrc_industry": ("INDUSTRYCSRC1", 64),
}
_PROMISED = ("ORG_NAME", "SECURITY_CODE", "REG_CAPITAL", "EMP_NUM", "ORG_WEB")
_ISSUE = ("FOUND_DATE", "LISTING_DATE", "ISSUE_PRICE", "TOTAL_ISSUE_NUM", "TOTAL_FUNDS", "AFTER_ISSUE_PE")


def page_request(page: str, call: str, symbol: str) -> Request:
    """One page of a company, `page` as the portal names it."""
    params = (("code", symbol.upper()),)
    return Request("eastmoney.emweb", call, f"{_ROOT}/{page}/PageAjax", params, label=symbol)


def survey_request(symbol: str) -> Request:
    return page_request("CompanySurvey", "f10_survey", symbol)


def business_request(symbol: str) -> Request:
    return page_request("BusinessAnalysis", "f10_operations", symbol)


def holders_request(symbol: str) -> Request:
    return page_request("ShareholderResearch", "f10_holders", symbol)


def parse_survey(body: bytes, symbol: str) -> pd.DataFrame:
    """At most one row, columns `SURVEY_COLUMNS`; none where the portal has no such company."""
    what = f"survey {symbol}"
    document = object_of(json_of(body), what)
    register = _only(document, "jbzl", what)
    if register is None:
        return frame([], SURVEY_COLUMNS)
    promised(register, _PROMISED, what)
    _of(register, symbol, what)
    issue = _only(document, "fxxg", what) or dict.fromkeys(_ISSUE)
    promised(issue, _ISSUE, what)
    row = {
        "code": symbol[2:],
        **{
            name: _text(register.get(wire), f"{what} {wire}", most)
            for name, (wire, most) in _REGISTER.items()
        },
        "website": _website(register["ORG_WEB"], f"{what} ORG_WEB"),
        "registered_capital": amount(register["REG_CAPITAL"], f"{what} REG_CAPITAL", scale=_WAN),
        "employees": amount(register["EMP_NUM"], f"{what} EMP_NUM"),
        **_issue_of(issue, what),
    }
    return frame([row], SURVEY_COLUMNS)


def _issue_of(issue: Mapping[str, Any], what: str) -> dict[str, Any]:
    price = _positive(amount(issue["ISSUE_PRICE"], f"{what} ISSUE_PRICE"))
    shares = amount(issue["TOTAL_ISSUE_NUM"], f"{what} TOTAL_ISSUE_NUM")
    funds = _positive(amount(issue["TOTAL_FUNDS"], f"{what} TOTAL_FUNDS"))
    if price * shares > 0 and funds > 0 and not 0.5 <= price * shares / funds <= 2:
        raise PayloadError(f"{what}: {shares:.0f} shares at {price:g} do not make {funds:.0f}")
    accepted = shares >= _FEWEST_SHARES
    close = amount(issue.get("CLOSE_PRICE"), f"{what} CLOSE_PRICE")
    return {
        "established_date": _founded(issue["FOUND_DATE"], f"{what} FOUND_DATE"),
        "list_date": day_or_none(issue["LISTING_DATE"], f"{what} LISTING_DATE"),
        "issue_date": day_or_none(issue.get("ONLINE_ISSUE_DATE"), f"{what} ONLINE_ISSUE_DATE"),
        "issue_price": price,
        "issue_pe": number(issue["AFTER_ISSUE_PE"], f"{what} AFTER_ISSUE_PE"),
        "issue_shares": shares if accepted else math.nan,
        "raised_funds": funds if accepted else math.nan,
        "first_day_change_pct": round((close / price - 1) * 100, 4) if close > 0 else math.nan,
    }


def parse_business(body: bytes, symbol: str) -> str | None:
    """The text of the main business; None where the page has none."""
    what = f"business {symbol}"
    section = _only(object_of(json_of(body), what), "zyfw", what)
    if section is None:
        return None
    _of(section, symbol, what)
    return _text(section.get("BUSINESS_SCOPE"), f"{what} BUSINESS_SCOPE", 16_000)


def parse_controller(body: bytes, symbol: str) -> str | None:
    """The actual controllers, joined; None where the page names none."""
    what = f"controller {symbol}"
    rows = list_of(object_of(json_of(body), what).get("sjkzr"), f"{what} sjkzr")
    names = []
    for raw in rows:
        row = object_of(raw, f"{what} sjkzr")
        _of(row, symbol, what)
        names.append(_text(row.get("HOLDER_NAME"), f"{what} HOLDER_NAME", 128))
    return "、".join(dict.fromkeys(name for name in names if name))[:128] or None


# -- readers ------------------------------------------------------------------------------------------


def _only(document: Mapping[str, Any], name: str, what: str) -> Mapping[str, Any] | None:
    """The one object of a list; None of an empty one. PayloadError for two."""
    if name not in document:
        raise PayloadError(f"{what}: the page has no part {name}")
    rows = list_of(document[name], f"{what} {name}")
    if len(rows) > 1:
        raise PayloadError(f"{what}: {len(rows)} rows in {name}")
    return object_of(rows[0], f"{what} {name}") if rows else None


def _of(row: Mapping[str, Any], symbol: str, what: str) -> None:
    stated = string_of(row.get("SECURITY_CODE"), f"{what} SECURITY_CODE")
    if stated != symbol[2:]:
        raise PayloadError(f"{what}: {stated[:20]!r} instead of {symbol[2:]}")


def _text(value: Any, what: str, most: int) -> str | None:
    text = None if value is None else plain_text(value, what, most)
    return None if text in {"", "-", "--"} else text


def _website(value: Any, what: str) -> str | None:
    """An http(s) address; a bare host gets its scheme, anything else is none."""
    text = _text(value, what, 255)
    if text is None:
        return None
    return web_address(text if "://" in text else f"http://{text}")


def _founded(value: Any, what: str) -> str | None:
    """A day; companies are older than exchanges."""
    if value is None or value == "":
        return None
    text = string_of(value, what)[:10]
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise PayloadError(f"{what} is no date: {text!r}") from error
    if not 1850 <= day.year <= 2100:
        raise PayloadError(f"{what} is no valid date: {text!r}")
    return day.isoformat()


def _positive(value: float) -> float:
    return value if value > 0 else math.nan
