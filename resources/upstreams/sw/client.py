"""Calls of the classification's site."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.paging import Page, collected, whole_number
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    list_of,
    number,
    object_of,
    string_of,
    text_of,
)
from resources.upstreams.parsing.rows import day_of, kinds_of, may, padded_code, values_of
from resources.upstreams.parsing.xls import book_rows, table_of
from resources.upstreams.upstream_client import UpstreamClient

# -- Answers of the classification's site: JSON with bare NaN, `code` "200", lists in pages.


def data_of(body: bytes, what: str) -> Any:
    """The `data` behind code 200. A bare NaN (or Infinity) is nothing."""
    text = text_of(body, "utf-8")
    try:
        document = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"{what}: damaged JSON ({str(error)[:80]})") from error
    found = object_of(document, what)
    if str(found.get("code")) != "200":
        raise PayloadError(f"{what}: code {found.get('code')!r} {str(found.get('message'))[:60]}")
    return found.get("data")


def page_of(body: bytes, what: str, size: int) -> Page:
    """The rows of one page of a list that states its `count`."""
    data = object_of(data_of(body, what), f"{what} data")
    total = whole_number(data.get("count"), f"{what} count")
    rows = list_of(data.get("results"), f"{what} results")
    if len(rows) > min(total, size):
        raise PayloadError(f"{what}: {len(rows)} of {total} rows")
    return Page(rows, len(rows), total)


def index_code(value: Any, what: str) -> str:
    """Six digits that begin with 80 or 85."""
    code = string_of(value, f"{what} index code").strip()
    if len(code) != 6 or not code.isascii() or not code.isdigit() or code[:2] not in {"80", "85"}:
        raise PayloadError(f"{what}: {code[:20]!r} is no index of the classification")
    return code


# -- Which stock belongs to which industry: two workbooks, one of the classes, one of the stocks.
# A stock has a row for each class that it was ever put in; the newest one up to a day is in force. Classes
# have codes of six digits (two for the first level, two for the second, two for the third), which are not
# the codes of the indices; both know the names.

CLASS_COLUMNS = texts("class_code l1_name l2_name l3_name")
STOCK_COLUMNS = texts("code in_date class_code")
_FOLDER = "/swindex/pdf/SwClass2021"


def classes_request() -> Request:
    return Request("sw.site", "classes", f"{_FOLDER}/SwClassCode_2021.xls", label="classes")


def stocks_request() -> Request:
    return Request("sw.site", "class_stocks", f"{_FOLDER}/StockClassifyUse_stock.xls", label="stocks")


def parse_classes(body: bytes) -> pd.DataFrame:
    """Classes of the third level; columns `CLASS_COLUMNS`."""
    what = "classes"
    requested = {"code": "行业代码", "l1": "一级行业", "l2": "二级行业", "l3": "三级行业"}

    def read(row: dict[str, str]) -> dict[str, Any] | None:
        code = padded_code(row["code"], what)
        if not row["l3"]:
            return None
        if not row["l1"] or not row["l2"]:
            raise PayloadError(f"classes {code}: without its upper levels")
        return {"class_code": code, "l1_name": row["l1"], "l2_name": row["l2"], "l3_name": row["l3"]}

    listed = table_of(book_rows(body, what), requested, what)
    made = [row for row in accepted_rows(listed, read, what, named_by("code")) if row is not None]
    if not made:
        raise PayloadError("classes: none")
    return once_each(frame(made, CLASS_COLUMNS), ["class_code"], what)


def parse_class_days(body: bytes, day: str) -> pd.DataFrame:
    """The classes that every stock was put in up to `day`, by code and day; columns `STOCK_COLUMNS`."""
    what = "class stocks"
    requested = {"code": "股票代码", "in_date": "计入日期", "class_code": "行业代码"}

    def read(row: dict[str, str]) -> dict[str, Any]:
        return {
            "code": padded_code(row["code"], what),
            "in_date": iso_day(row["in_date"][:10], f"{what} 计入日期"),
            "class_code": padded_code(row["class_code"], what),
        }

    listed = table_of(book_rows(body, what), requested, what)
    rows = frame(accepted_rows(listed, read, what, named_by("code")), STOCK_COLUMNS)
    known = rows[rows["in_date"] <= day].sort_values(["code", "in_date"], kind="stable")
    if known.empty:
        raise PayloadError("class stocks: no stock")
    return known.drop_duplicates(["code", "in_date"], keep="last").reset_index(drop=True)


def parse_stocks(body: bytes, day: str) -> pd.DataFrame:
    """The class of every stock that is in force on `day`; columns `STOCK_COLUMNS`."""
    return parse_class_days(body, day).drop_duplicates("code", keep="last").reset_index(drop=True)


# -- Industry indices: the session of now, the daily analysis, the whole past of one index.
# Volumes come in 100 million shares and amounts in 100 million CNY, and stay so; numbers may be texts. The
# list of current values has neither date nor units: before its amounts are used, its volume has to be
# compared with that of the analysis.

LEVELS = {"l1": "一级行业", "l2": "二级行业", "l3": "三级行业"}
CURRENT_PAGE, REPORT_PAGE = 50, 200
_ROOT = "/institute-sw/api"


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


_CURRENT = (
    *may(_name, l2="name"),
    *may(_level, l3="last_close", l4="open", l6="high", l7="low", l8="close"),
    *may(_volume, l11="volume"),
    *may(amount, l5="amount"),
)
CURRENT_COLUMNS = texts("code name level") | kinds_of(_CURRENT)
_REPORT = (
    *may(_name, swindexname="name"),
    *may(_level, closeindex="close"),
    *may(number, markup="change_pct"),
    *may(_volume, bargainamount="volume_yi"),
    *may(amount, turnoverrate="turnover_pct"),
    *may(number, pe="pe", pb="pb"),
    *may(
        amount,
        dp="dividend_yield",
        negotiablessharesum1="float_market_cap_yi",
        bargainsumrate="amount_share_pct",
    ),
)
REPORT_COLUMNS = texts("code date name level") | kinds_of(_REPORT)
_TREND = (
    *may(day_of, bargaindate="date"),
    *may(_level, openindex="open", maxindex="high", minindex="low", closeindex="close"),
    *may(number, markup="change_pct"),
    *may(_volume, bargainamount="volume_yi"),
    *may(amount, bargainsum="amount_yi"),
)
TREND_COLUMNS = texts("code") | kinds_of(_TREND)


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
    """Columns `CURRENT_COLUMNS`."""

    def read(listed: Any) -> dict[str, Any]:
        raw = object_of(listed, "current row")
        code = index_code(raw.get("l1"), "current")
        return _enclosed({"code": code, "level": level, **values_of(raw, _CURRENT, f"current {code}")}, code)

    made = accepted_rows(rows, read, "current", named_by("l1"))
    return once_each(frame(made, CURRENT_COLUMNS), ["code"], "current")


def report_request(level: str, since: str, until: str, page: int) -> Request:
    params = pairs(
        f"page={page}&page_size={REPORT_PAGE}&index_type={level_name(level)}&start_date={since}"
        f"&end_date={until}&type=DAY&swindexcode=all"
    )
    path = f"{_ROOT}/index_analysis/index_analysis_report/"
    return Request("sw.site", "index_report", path, params, label=f"{level} {since}..{until} page {page}")


def report_rows(rows: list[dict[str, Any]], level: str, since: str, until: str) -> pd.DataFrame:
    """Columns `REPORT_COLUMNS`. A row of a day that was not asked for is rejected."""

    def read(listed: Any) -> dict[str, Any]:
        raw = object_of(listed, "report row")
        code = index_code(raw.get("swindexcode"), "report")
        what = f"report {code}"
        day = day_of(raw.get("bargaindate"), f"{what} bargaindate")
        if not since <= day <= until:
            raise PayloadError(f"{what}: of {day}, asked was {since}..{until}")
        return {"code": code, "date": day, "level": level, **values_of(raw, _REPORT, what)}

    made = accepted_rows(rows, read, "report", named_by("swindexcode"))
    return once_each(frame(made, REPORT_COLUMNS), ["code", "date"], "report")


def trend_request(code: str) -> Request:
    params = (("swindexcode", code), ("period", "DAY"))
    return Request("sw.site", "trend", f"{_ROOT}/index_publish/trend/", params, label=code)


def parse_trend(body: bytes, code: str) -> pd.DataFrame:
    """Columns `TREND_COLUMNS`, oldest first. PayloadError for another index."""
    what = f"trend {code}"
    listed = data_of(body, what)

    def read(raw: Any) -> dict[str, Any]:
        row = object_of(raw, f"{what} row")
        own = index_code(row.get("swindexcode"), what)
        if own != code:
            raise PayloadError(f"{what}: {own} instead of {code}")
        return _enclosed({"code": code, **values_of(row, _TREND, what)}, what)

    raws = [] if listed is None else list_of(listed, f"{what} data")
    rows = once_each(
        frame(accepted_rows(raws, read, what, named_by("bargaindate")), TREND_COLUMNS), ["date"], what
    )
    return rows.sort_values("date").reset_index(drop=True)


def _enclosed(row: dict[str, Any], what: str) -> dict[str, Any]:
    """The row. PayloadError unless high is on top and low at the bottom, within the rounding of two
    decimals."""
    prices = row["open"], row["close"]
    # A missing price (NaN) compares with nothing.
    if any(row["high"] < one - 0.011 or row["low"] > one + 0.011 for one in prices):
        raise PayloadError(f"{what}: high and low do not enclose open and close")
    return row


_MOST_PAGES = 60


class SwClient(UpstreamClient):
    """`level` is l1, l2 or l3."""

    source = "sw"

    def current(self, level: str) -> pd.DataFrame:
        """The current values of the indices of a level; columns `CURRENT_COLUMNS`. One call per 50 indices:
        ten for the three levels."""

        ask = partial(current_request, level)
        return current_rows(self._pages(ask, f"current {level}", CURRENT_PAGE, ("l1",)), level)

    def report(self, level: str, since: str, until: str) -> pd.DataFrame:
        """The daily analysis of a level between two dates; columns `REPORT_COLUMNS`. One call per 200 rows: a
        date of the three levels is four. Long ranges time out: ask for a month."""

        ask = partial(report_request, level, since, until)
        rows = self._pages(
            ask, f"report {level} {since}..{until}", REPORT_PAGE, ("swindexcode", "bargaindate")
        )
        return report_rows(rows, level, since, until)

    def trend(self, code: str) -> pd.DataFrame:
        """The whole past of one index; columns `TREND_COLUMNS`. One call."""
        return self._ask(trend_request(code), parse_trend, code=code)

    def classes(self) -> pd.DataFrame:
        """The classes of the third level with the names of all three; columns `CLASS_COLUMNS`. One call."""
        return self._ask(classes_request(), parse_classes)

    def stocks(self, day: str) -> pd.DataFrame:
        """The class of every stock in force on a day; columns `STOCK_COLUMNS`. One call."""
        return self._ask(stocks_request(), parse_stocks, day=day)

    def class_days(self, day: str) -> pd.DataFrame:
        """The classes that every stock was put in up to a day; columns `STOCK_COLUMNS`. One call."""
        return self._ask(stocks_request(), parse_class_days, day=day)

    def _pages(self, request: Any, what: str, size: int, key: Sequence[str]) -> list[dict[str, Any]]:
        def ask(page: int) -> Page:
            return self._ask(request(page), page_of, what=what, size=size)

        return collected(ask, what, most_pages=_MOST_PAGES, key=key)
