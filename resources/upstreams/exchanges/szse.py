"""Shenzhen: margin trading (ShowReport 1837_xxpl), as JSON pages and as one workbook.

JSON: every figure a text with thousands commas; financing in 亿元 in both tabs; lending in 亿股 and 亿元 in
the market tab, in 万股 and 万元 in the detail tab. The workbook is in 元 and 股. So the workbook gives the
securities in one call, unrounded; the JSON gives the market's sums, how many securities there must be, and
twenty of them, against which the workbook's units are checked. Repayments are not published.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.exchanges import notices, szse_billboard, szse_calendar, szse_report
from resources.upstreams.exchanges.common import a_share_listings, a_shares, figure, joined, same_day
from resources.upstreams.exchanges.sheet import sheet_rows
from resources.upstreams.exchanges.sse import units_frame
from resources.upstreams.exchanges.szse_report import refuse_error, stated_code
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.parsing.payload import (
    grouped_amount,
    json_of,
    list_of,
    object_of,
    required,
    string_of,
)
from resources.upstreams.parsing.rows import named, security_code, text_of
from resources.upstreams.parsing.texts import notice_frame
from resources.upstreams.upstream_client import UpstreamClient

YI, WAN = 1e8, 1e4
_HEADS = named(
    "证券代码 code 证券简称 name 融资买入额(元) rzmre 融资余额(元) rzye 融券卖出量(股/份) rqmcl "
    "融券余量(股/份) loan_volume 融券余额(元) rqye 融资融券余额(元) rzrqye"
)
_WIRE = named("rzye jrrzye rzmre jrrzmr rqmcl jrrjmc loan_volume jrrjyl rqye jrrjye rzrqye jrrzrjye")
_MARKET_UNITS = dict.fromkeys(_WIRE, YI)
_DETAIL_UNITS = {**_MARKET_UNITS, "rqmcl": WAN, "loan_volume": WAN, "rqye": WAN}
_ROUNDING = 0.0051
"""Half a digit of the JSON's two decimals, in its own unit."""
_REPORT = (("CATALOGID", "1837_xxpl"),)


@dataclass(frozen=True)
class MarginTabs:
    """The market's sums and the first securities of a date; `count` securities there are in all, None where
    the answer has no count; `received` of them are shown."""

    total: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    count: int | None
    received: int

    def __len__(self) -> int:
        return self.received


def tabs_request(day: str) -> Request:
    params = (
        ("SHOWTYPE", "JSON"), *_REPORT, ("TABKEY", "tab1,tab2"), ("txtDate", day), ("tab2PAGENO", "1"),
    )  # fmt: skip
    return Request("szse.report", "margin_tabs", "/api/report/ShowReport/data", params, label=day)


def sheet_request(day: str) -> Request:
    params = (("SHOWTYPE", "xlsx"), *_REPORT, ("TABKEY", "tab2"), ("txtDate", day))
    return Request("szse.report", "margin_sheet", "/api/report/ShowReport", params, label=day)


def parse_tabs(body: bytes, day: str) -> MarginTabs:
    """Both tabs in CNY and shares. PayloadError when a row breaks its tab's identity: the units are then
    not the documented ones."""
    tabs = [object_of(tab, "SZSE margin tab") for tab in list_of(json_of(body), "SZSE margin")]
    if len(tabs) < 2:
        raise PayloadError(f"SZSE margin: {len(tabs)} tabs")
    for tab in tabs[:2]:
        refuse_error(tab, "SZSE margin")
        stated = object_of(tab.get("metadata"), "SZSE margin metadata").get("subname")
        if stated:
            same_day(string_of(stated, "SZSE margin subname")[:10], day, "SZSE margin")
    market = [
        _tab_row(object_of(row, "SZSE margin total"), day, "TOTAL_SZ", _MARKET_UNITS)
        for row in list_of(tabs[0].get("data"), "SZSE margin total")
    ]
    if len(market) > 1:
        raise PayloadError(f"SZSE margin: {len(market)} totals")
    raws = list_of(tabs[1].get("data"), "SZSE margin detail")

    def read(raw: Any) -> dict[str, Any]:
        row = object_of(raw, "SZSE margin row")
        return _tab_row(row, day, security_code(row.get("zqdm"), "SZSE zqdm"), _DETAIL_UNITS)

    rows = accepted_rows(raws, read, "SZSE margin detail", stated_code)
    count = object_of(tabs[1].get("metadata"), "SZSE margin metadata").get("recordcount")
    if count is not None and (type(count) is not int or count < len(raws) or (count > 0 and not raws)):
        raise PayloadError(f"SZSE margin: {len(raws)} rows of {count!r}")
    return MarginTabs(market, rows, count, len(raws))


def _tab_row(row: dict[str, Any], day: str, code: str, units: dict[str, float]) -> dict[str, Any]:
    what = f"SZSE margin {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": day,
        "exchange": "SZSE",
        "name": None if code.startswith("TOTAL") else text_of(row.get("zqjc"), f"{what} zqjc"),
    }
    for name, wire in _WIRE.items():
        text = string_of(row.get(wire), f"{what} {wire}")
        made[name] = figure(grouped_amount(text, f"{what} {wire}") * units[name], f"{what} {wire}")
    required(made["rzye"], f"{what} jrrzye")
    gap = abs(made["rzye"] + made["rqye"] - made["rzrqye"])
    # Three roundings meet here; a table in another unit is off by the whole lending balance.
    if gap > _ROUNDING * (2 * YI + units["rqye"]):
        raise PayloadError(f"{what}: jrrzye + jrrjye is not jrrzrjye: another unit")
    return made


@dataclass(frozen=True)
class MarginSheet:
    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)


def parse_sheet(body: bytes, day: str, tabs: MarginTabs) -> MarginSheet:
    """The workbook's rows. PayloadError when it has not the rows that the tabs promise, or says other
    figures than they do beyond their rounding."""
    table = sheet_rows(body, "SZSE margin sheet")
    if not table or not set(_HEADS) <= set(table[0]):
        raise PayloadError(f"SZSE margin sheet: heads {table[0][:8] if table else []}")
    place = {_HEADS[head]: at for at, head in enumerate(table[0]) if head in _HEADS}
    lines = table[1:]
    while lines and not any(lines[-1]):
        lines.pop()
    if len(lines) < tabs.received or (tabs.count is not None and len(lines) != tabs.count):
        raise PayloadError(f"SZSE margin sheet: {len(lines)} of {tabs.count} rows")
    shown = {_cell(values, place["code"]) for values in lines}
    rows = accepted_rows(
        lines,
        lambda values: _sheet_row(values, place, day),
        "SZSE margin sheet",
        lambda values: _cell(values, place["code"]),
    )
    known = {row["code"]: row for row in rows}
    unnamed = sum(not code for code in (_cell(values, place["code"]) for values in lines))
    for rounded in tabs.rows:
        if rounded["code"] in known:
            _agree(known[rounded["code"]], rounded)
        elif rounded["code"] not in shown:
            unnamed -= 1
            if unnamed < 0:
                _agree(None, rounded)
    return MarginSheet(rows)


def _sheet_row(values: list[str], place: dict[str, int], day: str) -> dict[str, Any]:
    def value(name: str) -> str:
        return _cell(values, place[name])

    code = security_code(value("code"), "SZSE margin sheet 证券代码")
    what = f"SZSE margin sheet {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": day,
        "exchange": "SZSE",
        "name": text_of(value("name"), f"{what} name"),
    }
    for name in _WIRE:
        made[name] = grouped_amount(value(name), f"{what} {name}")
    required(made["rzye"], f"{what} rzye")
    if abs(made["rzye"] + made["rqye"] - made["rzrqye"]) > 1:
        raise PayloadError(f"{what}: 融资余额 + 融券余额 is not 融资融券余额")
    return made


def _cell(values: list[str], at: int) -> str:
    return values[at] if at < len(values) else ""


def _agree(exact: dict[str, Any] | None, rounded: dict[str, Any]) -> None:
    if exact is None:
        raise PayloadError(f"SZSE margin sheet: {rounded['code']} is missing")
    for name, unit in _DETAIL_UNITS.items():
        gap = abs(exact[name] - rounded[name])
        if not math.isnan(gap) and gap > _ROUNDING * unit:
            raise PayloadError(
                f"SZSE margin sheet {rounded['code']}: {name} {exact[name]:.2f}, "
                f"the page says {rounded[name]:.2f}"
            )


class SzseClient(UpstreamClient):
    source = "szse"

    def margin(self, day: str) -> pd.DataFrame:
        """Every margin security of a trade date and the row `TOTAL_SZ`, two calls; columns
        `MARGIN_COLUMNS`, `rzche` and `rqchl` missing. Empty where nothing is published."""
        tabs = self._ask(tabs_request(day), parse_tabs, day=day)
        if not tabs.received:
            return joined(tabs.total, [], "SZSE margin")
        sheet = self._ask(sheet_request(day), parse_sheet, day=day, tabs=tabs)
        return joined(tabs.total, sheet.rows, "SZSE margin")

    def announcements(self, since: str, until: str, code: str | None = None) -> pd.DataFrame:
        """Notices of the companies listed here with a disclosure date between two dates; columns
        `NOTICE_COLUMNS`, `pub_time` and `ann_type` missing. One call per 50 notices."""
        what = f"SZSE notices {since}..{until} {code or ''}"

        def ask(page: int) -> Page:
            request = notices.notices_request(since, until, page, code)
            return self._ask(request, notices.parse_notices, since=since, until=until)

        return notice_frame(collected(ask, what, most_pages=notices.MOST_PAGES, key=("ann_id", "code")), what)

    def month_days(self, month: str) -> pd.DataFrame:
        """Every day of a month (YYYY-MM) and whether a session is held, one call; columns
        `szse_calendar.COLUMNS`. Empty, or with all weekdays open, where the month is not decided yet."""
        parse = partial(szse_calendar.parse_month, month=month)
        return self._ask(szse_calendar.month_request(month), parse)

    def overview(self, day: str) -> pd.DataFrame:
        """Turnover and value of the market on one date, by class, one call; columns `OVERVIEW_COLUMNS`,
        without volume, PE and turnover. Empty where nothing is published."""
        parse = partial(szse_report.parse_overview, day=day)
        return self._ask(szse_report.overview_request(day), parse)

    def etf_units(self, day: str) -> pd.DataFrame:
        """Units of every ETF at the end of the newest trade date, one call for a page of 20; columns
        `UNIT_COLUMNS`. PayloadError when `day` is not that date: the list knows no past."""
        what = "SZSE ETF units"

        def ask(page: int) -> Page:
            return self._ask(szse_report.units_request(page), szse_report.parse_units, day=day)

        return units_frame(
            collected(ask, what, most_pages=szse_report.MOST_PAGES, key=("code",)), what, self.source
        )

    def billboard(self, since: str, until: str) -> pd.DataFrame:
        """Billboard listings between two dates, without seats, one call for a page of 20; columns
        `BILLBOARD_COLUMNS`, `amount` in steps of a million, A shares alone. Empty where nothing is
        published."""
        what = f"SZSE billboard {since}..{until}"

        def ask(page: int) -> Page:
            request = szse_billboard.billboard_request(since, until, page)
            return self._ask(request, szse_billboard.parse_billboard, since=since, until=until)

        return a_share_listings(
            collected(ask, what, most_pages=szse_billboard.MOST_PAGES, key=("code", "date", "reason")),
            "SZ",
            what,
        )

    def block_trades(self, since: str, until: str) -> pd.DataFrame:
        """Block trades in A shares between two dates, one call for 20 deals; columns `DEAL_COLUMNS`. Empty
        where nothing is published."""
        what = f"SZSE block trades {since}..{until}"

        def ask(page: int) -> Page:
            request = szse_report.deals_request(since, until, page)
            return self._ask(request, szse_report.parse_deals, since=since, until=until)

        return a_shares(collected(ask, what, most_pages=szse_report.DEAL_PAGES), "SZ")
