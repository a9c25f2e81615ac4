"""Industry indices: the session of now, the daily analysis, the whole past of one index.

Volumes come in 100 million shares and amounts in 100 million CNY, and stay so; numbers may be texts. The list
of current values has neither date nor units: before its amounts are used, its volume has to be compared with
that of the analysis.
"""

from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, list_of, number, object_of, string_of
from resources.upstreams.sw.envelope import data_of, index_code

LEVELS = {"l1": "一级行业", "l2": "二级行业", "l3": "三级行业"}
CURRENT_PAGE, REPORT_PAGE = 50, 200
CURRENT_COLUMNS: dict[str, str] = {
    **texts("code name level"),
    **numbers("last_close open high low close volume amount"),
}
REPORT_COLUMNS: dict[str, str] = {
    **texts("code date name level"),
    **numbers("close change_pct volume_yi turnover_pct pe pb dividend_yield float_market_cap_yi"),
    **numbers("amount_share_pct"),
}
TREND_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("open high low close change_pct volume_yi amount_yi"),
}
_ROOT = "/institute-sw/api"
_LIVE = {"last_close": "l3", "open": "l4", "high": "l6", "low": "l7", "close": "l8"}


def level_name(level: str) -> str:
    """InputError for a level that does not exist."""
    if level not in LEVELS:
        raise InputError("level", f"{level!r} is none of {', '.join(LEVELS)}")
    return LEVELS[level]


def current_request(level: str, page: int) -> Request:
    params = (("page", str(page)), ("page_size", str(CURRENT_PAGE)), ("indextype", level_name(level)))
    path = f"{_ROOT}/index_publish/current/"
    return Request("sw.site", "current", path, params, label=f"{level} page {page}")


def current_rows(rows: list[dict[str, Any]], level: str) -> pd.DataFrame:
    """Columns `CURRENT_COLUMNS`. PayloadError for a duplicate index."""
    made = []
    for raw in rows:
        code = index_code(raw.get("l1"), "current")
        what = f"current {code}"
        made.append(
            {
                "code": code,
                "name": _name(raw.get("l2"), what),
                "level": level,
                **{column: _level(raw.get(wire), f"{what} {wire}") for column, wire in _LIVE.items()},
                "volume": _volume(raw.get("l11"), f"{what} l11"),
                "amount": amount(raw.get("l5"), f"{what} l5"),
            }
        )
    found = frame(made, CURRENT_COLUMNS)
    _enclosed(found, "current")
    if found["code"].duplicated().any():
        raise PayloadError("current: an index appears twice")
    return found


def report_request(level: str, since: str, until: str, page: int) -> Request:
    params = (
        ("page", str(page)),
        ("page_size", str(REPORT_PAGE)),
        ("index_type", level_name(level)),
        ("start_date", since),
        ("end_date", until),
        ("type", "DAY"),
        ("swindexcode", "all"),
    )
    path = f"{_ROOT}/index_analysis/index_analysis_report/"
    return Request("sw.site", "index_report", path, params, label=f"{level} {since}..{until} page {page}")


def report_rows(rows: list[dict[str, Any]], level: str, since: str, until: str) -> pd.DataFrame:
    """Columns `REPORT_COLUMNS`. PayloadError for a day that was not asked for or a row that came twice."""
    made = []
    for raw in rows:
        code = index_code(raw.get("swindexcode"), "report")
        what = f"report {code}"
        day = iso_day(string_of(raw.get("bargaindate"), f"{what} bargaindate")[:10], f"{what} bargaindate")
        if not since <= day <= until:
            raise PayloadError(f"{what}: of {day}, asked was {since}..{until}")
        made.append(
            {
                "code": code,
                "date": day,
                "name": _name(raw.get("swindexname"), what),
                "level": level,
                "close": _level(raw.get("closeindex"), f"{what} closeindex"),
                "change_pct": number(raw.get("markup"), f"{what} markup"),
                "volume_yi": _volume(raw.get("bargainamount"), f"{what} bargainamount"),
                "turnover_pct": amount(raw.get("turnoverrate"), f"{what} turnoverrate"),
                "pe": number(raw.get("pe"), f"{what} pe"),
                "pb": number(raw.get("pb"), f"{what} pb"),
                "dividend_yield": amount(raw.get("dp"), f"{what} dp"),
                "float_market_cap_yi": amount(
                    raw.get("negotiablessharesum1"), f"{what} negotiablessharesum1"
                ),
                "amount_share_pct": amount(raw.get("bargainsumrate"), f"{what} bargainsumrate"),
            }
        )
    found = frame(made, REPORT_COLUMNS)
    if found.duplicated(subset=["code", "date"]).any():
        raise PayloadError("report: a row came twice")
    return found


def trend_request(code: str) -> Request:
    params = (("swindexcode", code), ("period", "DAY"))
    return Request("sw.site", "trend", f"{_ROOT}/index_publish/trend/", params, label=code)


def parse_trend(body: bytes, code: str) -> pd.DataFrame:
    """Columns `TREND_COLUMNS`, oldest first. PayloadError for another index or a date that came twice."""
    what = f"trend {code}"
    listed = data_of(body, what)
    made = []
    for raw in [] if listed is None else list_of(listed, f"{what} data"):
        row = object_of(raw, f"{what} row")
        stated = index_code(row.get("swindexcode"), what)
        if stated != code:
            raise PayloadError(f"{what}: {stated} instead of {code}")
        day = string_of(row.get("bargaindate"), f"{what} bargaindate")
        made.append(
            {
                "code": code,
                "date": iso_day(day[:10], f"{what} bargaindate"),
                "open": _level(row.get("openindex"), f"{what} openindex"),
                "high": _level(row.get("maxindex"), f"{what} maxindex"),
                "low": _level(row.get("minindex"), f"{what} minindex"),
                "close": _level(row.get("closeindex"), f"{what} closeindex"),
                "change_pct": number(row.get("markup"), f"{what} markup"),
                "volume_yi": _volume(row.get("bargainamount"), f"{what} bargainamount"),
                "amount_yi": amount(row.get("bargainsum"), f"{what} bargainsum"),
            }
        )
    rows = frame(made, TREND_COLUMNS)
    _enclosed(rows, what)
    if rows["date"].duplicated().any():
        raise PayloadError(f"{what}: a date came twice")
    return rows.sort_values("date").reset_index(drop=True)


def _name(value: Any, what: str) -> str:
    name = string_of(value, f"{what} name").strip()
    if not name or len(name) > 32:
        raise PayloadError(f"{what}: a name of {len(name)} characters")
    return name


def _level(value: Any, what: str) -> float:
    """Points of an index: above zero, or missing."""
    points = number(value, what)
    if points <= 0:
        raise PayloadError(f"{what} is not above zero: {value!r:.40}")
    return points


def _volume(value: Any, what: str) -> float:
    """100 million shares, to the single hundred."""
    volume = number(value, what, digits=6)
    if volume < 0:
        raise PayloadError(f"{what} is below zero: {value!r:.40}")
    return volume


def _enclosed(rows: pd.DataFrame, what: str) -> None:
    """High on top and low at the bottom, within the rounding of two decimals."""
    top, bottom = rows[["open", "close"]].max(axis=1), rows[["open", "close"]].min(axis=1)
    wrong = (rows["high"] < top - 0.011) | (rows["low"] > bottom + 0.011)
    if wrong.any():
        raise PayloadError(f"{what}: high and low do not enclose open and close")
