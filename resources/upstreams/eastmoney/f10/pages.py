"""Pages of one company: main indicators (old dialect of the data centre) and the three statements (emweb)."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError
from core.market.symbols import instrument
from resources.rejections import accepted_rows, named_by
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.data_centre import ReportPage, equals, parse_report
from resources.upstreams.eastmoney.reports.finance import ITEMS, STATEMENT_COLUMNS, notice_of, period_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import json_of, list_of, number, object_of, string_of
from resources.upstreams.parsing.rows import named

Row = Mapping[str, Any]

PAGE = 200
DATES_PER_CALL = 5
"""More dates in one request are cut off without an error."""

MAIN_COLUMNS: dict[str, str] = {
    **texts("code report_period ann_date indicators"),
    **numbers(
        "revenue net_profit deducted_net_profit roe roa gross_margin net_margin debt_ratio eps bvps ocfps "
        "revenue_yoy net_profit_yoy"
    ),
}
MAIN_NAMES: dict[str, str] = named(
    "EPSJB eps EPSKCJB deducted_eps EPSXS eps_diluted BPS bvps MGZBGJ capital_reserve_ps "
    "MGWFPLR undistributed_ps MGJYXJJE ocfps TOTALOPERATEREVE revenue MLR gross_profit "
    "PARENTNETPROFIT net_profit KCFJCXSYJLR deducted_net_profit TOTALOPERATEREVETZ revenue_yoy "
    "PARENTNETPROFITTZ net_profit_yoy KCFJCXSYJLRTZ deducted_net_profit_yoy ROEJQ roe ROEKCJQ roe_deducted "
    "ZZCJLL roa XSJLL net_margin XSMLL gross_margin ZCFZL debt_ratio LD current_ratio SD quick_ratio "
    "TOAZZL asset_turnover CHZZTS inventory_days YSZKZZTS receivable_days DJD_TOI_QOQ revenue_qoq "
    "DJD_DPNP_QOQ net_profit_qoq"
)
"""Wire name -> indicator; every other number keeps its wire name in small letters."""
_PROMISED = ("SECUCODE", "REPORT_DATE", "TOTALOPERATEREVE", "PARENTNETPROFIT", "EPSJB")

_MAIN_REPORT = "RPT_F10_FINANCE_MAINFINADATA"
_PAGES = {"balance": "zcfzb", "income": "lrb", "cashflow": "xjllb"}
_ROOT = "/PC_HSF10/NewFinanceAnalysis"
_KIND = re.compile(r"<input[^>]*\bid=[\"']hidctype[\"'][^>]*\bvalue=[\"']([1-4])[\"']")


def secucode(symbol: str) -> str:
    """`600519.SH` of `sh600519`."""
    one = instrument(symbol)
    return f"{one.code}.{one.symbol[:2].upper()}"


# -- main indicators ----------------------------------------------------------------------------------


def main_request(symbol: str, page: int) -> Request:
    """All report periods of one company, newest first."""
    params = pairs(
        f"type={_MAIN_REPORT}&sty=APP_F10_MAINFINADATA&quoteColumns="
        f"&filter={equals('SECUCODE', secucode(symbol))}&p={page}&ps={PAGE}&sr=-1&st=REPORT_DATE"
        "&source=HSF10&client=PC"
    )
    return Request("eastmoney.f10", "f10_main", "/securities/api/data/get", params, label=symbol)


def parse_main(body: bytes, symbol: str) -> ReportPage:
    """Columns `MAIN_COLUMNS`, `indicators` the JSON of every number of a row. The old dialect does not always
    count its pages."""
    what = f"main indicators {symbol}"
    return parse_report(body, what, lambda rows: _main_rows(rows, symbol), paged=False)


def _main_rows(rows: Sequence[Row], symbol: str) -> pd.DataFrame:
    made = []
    for row in rows:
        what = f"main indicators {symbol}"
        _require(row, _PROMISED, what)
        _of_company(row, symbol, what)
        period = period_of(row["REPORT_DATE"], f"{what} REPORT_DATE")
        values = {
            MAIN_NAMES.get(name, name.lower()): number(value, f"{what} {period} {name}")
            for name, value in row.items()
            if name in MAIN_NAMES or (isinstance(value, int | float) and not isinstance(value, bool))
        }
        known = {name: value for name, value in values.items() if not math.isnan(value)}
        head = {"code": symbol[2:], "report_period": period, "ann_date": notice_of(row, what)}
        figures = {name: known[name] for name in MAIN_COLUMNS if name in known}
        made.append({**head, **figures, "indicators": canonical_json(known)})
    return frame(made, MAIN_COLUMNS)


# -- statements ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Page:
    """The company, statement and dates of one request."""

    symbol: str
    statement: str
    kind: str

    @property
    def path(self) -> str:
        return f"{_ROOT}/{_PAGES[self.statement]}"

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        return (("companyType", self.kind), ("reportDateType", "0"), ("code", self.symbol.upper()))


def kind_request(symbol: str) -> Request:
    """The page whose hidden field holds the form of a company's statements."""
    params = (("type", "web"), ("code", symbol))
    return Request("eastmoney.emweb", "f10_kind", f"{_ROOT}/Index", params, label=symbol)


def parse_kind(body: bytes, symbol: str) -> str:
    """1 broker, 2 insurer, 3 bank, 4 general."""
    found = _KIND.search(body.decode("utf-8", errors="replace"))
    if found is None:
        raise PayloadError(f"{symbol}: the page has no hidctype")
    return found.group(1)


def dates_request(page: Page) -> Request:
    return Request(
        "eastmoney.emweb", "f10_dates", f"{page.path}DateAjaxNew", page.params, label=f"{page.symbol} dates"
    )


def parse_dates(body: bytes, page: Page) -> list[str]:
    """Report periods of a statement, newest first; [] when the company has none."""
    what = f"{page.statement} dates {page.symbol}"
    rows = list_of(object_of(json_of(body), what).get("data"), f"{what} data")
    found = accepted_rows(
        rows,
        lambda row: period_of(object_of(row, what).get("REPORT_DATE"), what),
        what,
        named_by("REPORT_DATE"),
    )
    return sorted(set(found), reverse=True)


def statement_request(page: Page, periods: Sequence[str]) -> Request:
    """Cumulative figures of at most five periods."""
    params = (*page.params, ("reportType", "1"), ("dates", ",".join(periods)))
    label = f"{page.symbol} {periods[-1]}..{periods[0]}"
    return Request("eastmoney.emweb", "f10_statement", f"{page.path}AjaxNew", params, label=label)


def parse_statement(body: bytes, page: Page, periods: Sequence[str]) -> pd.DataFrame:
    """Columns `STATEMENT_COLUMNS`: every amount that has a column for its change (`_YOY`). PayloadError when
    a period that was asked for is not there, or one that was not."""
    what = f"{page.statement} {page.symbol}"
    rows = [
        object_of(row, what) for row in list_of(object_of(json_of(body), what).get("data"), f"{what} data")
    ]
    made: list[dict[str, Any]] = []
    found = []
    for row in rows:
        _require(row, ("SECUCODE", "REPORT_DATE"), what)
        _of_company(row, page.symbol, what)
        found.append(period_of(row["REPORT_DATE"], f"{what} REPORT_DATE"))
        made += _items(row, page, found[-1], what)
    if sorted(found) != sorted(periods):
        given, asked = ", ".join(sorted(found)), ", ".join(sorted(periods))
        raise PayloadError(f"{what}: periods {given}; asked were {asked}")
    return frame(made, STATEMENT_COLUMNS)


def _items(row: Row, page: Page, period: str, what: str) -> list[dict[str, Any]]:
    names = ITEMS[page.statement]
    head = {
        "code": page.symbol[2:],
        "report_period": period,
        "statement": page.statement,
        "ann_date": notice_of(row, what),
    }
    found = []
    for name, value in row.items():
        # Amounts have a column for their change; so do figures per share, which have too few decimals here.
        if f"{name}_YOY" not in row or name.endswith("_EPS"):
            continue
        amount = number(value, f"{what} {period} {name}")
        if not math.isnan(amount):
            change = number(row[f"{name}_YOY"], f"{what} {period} {name}_YOY")
            found.append({**head, "item": names.get(name, name.lower()), "value": amount, "yoy": change})
    return found


def _require(row: Row, names: Sequence[str], what: str) -> None:
    gone = [name for name in names if name not in row]
    if gone:
        raise PayloadError(f"{what}: the answer has no column {', '.join(gone)}")


def _of_company(row: Row, symbol: str, what: str) -> None:
    stated = string_of(row["SECUCODE"], f"{what} SECUCODE")
    if stated != secucode(symbol):
        raise PayloadError(f"{what}: {stated[:20]} instead of {secucode(symbol)}")
