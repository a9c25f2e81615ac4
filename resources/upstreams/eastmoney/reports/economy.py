"""Reports of the data centre about the economy (RPT_ECONOMY_* and similar ones), one row per period.

REPORT_DATE is a day of the period: of a month mostly its first. Only the reserve ratio and the values of
other countries carry their date of publication.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.upstreams.eastmoney.data_centre import Report, among, equals, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import number, promised, required, some_of, string_of
from resources.upstreams.parsing.rows import day_of

MOST_PERCENT = 100.0
"""No rate, yield or index of managers is larger: a value that is comes in another unit."""
_QUARTER = re.compile(r"(\d{4})年第(?:1-)?([1-4])季度")
_IDENTITY_SLACK = 0.11
_YIELDS = (
    "EMM00588704", "EMM00166462", "EMM00166466", "EMM00166469",
    "EMG00001306", "EMG00001308", "EMG00001310", "EMG00001312",
)  # fmt: skip
"""Government bonds of China and the United States: 2, 5, 10 and 30 years each."""


@dataclass(frozen=True)
class Economy:
    """Columns of figures that are read of a report. `rates` of them are percentages or indices between 0 and
    `MOST_PERCENT`; `same` are pairs (change on the year, index) with change = index - 100."""

    columns: tuple[str, ...]
    day: str = "REPORT_DATE"
    period: str = "month"
    rates: tuple[str, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    published: str = ""
    token: bool = False


def _of(text: str, **how: Any) -> Economy:
    return Economy(tuple(text.split()), **how)


REPORTS: Mapping[str, Economy] = {
    "RPT_ECONOMY_CPI": _of(
        "NATIONAL_SAME NATIONAL_BASE NATIONAL_SEQUENTIAL NATIONAL_ACCUMULATE CITY_SAME RURAL_SAME",
        same=(("NATIONAL_SAME", "NATIONAL_BASE"),),
    ),
    "RPT_ECONOMY_PPI": _of("BASE BASE_SAME BASE_ACCUMULATE", same=(("BASE_SAME", "BASE"),)),
    "RPT_ECONOMY_PMI": _of(
        "MAKE_INDEX MAKE_SAME NMAKE_INDEX NMAKE_SAME", rates=("MAKE_INDEX", "NMAKE_INDEX")
    ),
    "RPT_ECONOMY_CURRENCY_SUPPLY": _of(
        "BASIC_CURRENCY BASIC_CURRENCY_SAME BASIC_CURRENCY_SEQUENTIAL "
        "CURRENCY CURRENCY_SAME CURRENCY_SEQUENTIAL FREE_CASH FREE_CASH_SAME FREE_CASH_SEQUENTIAL"
    ),
    "RPT_ECONOMY_GDP": _of(
        "DOMESTICL_PRODUCT_BASE SUM_SAME FIRST_SAME SECOND_SAME THIRD_SAME", period="quarter"
    ),
    "RPT_ECONOMY_INDUS_GROW": _of("BASE_SAME BASE_ACCUMULATE"),
    "RPT_ECONOMY_TOTAL_RETAIL": _of("RETAIL_TOTAL RETAIL_TOTAL_SAME RETAIL_TOTAL_SEQUENTIAL"),
    "RPT_ECONOMY_ASSET_INVEST": _of("BASE BASE_SAME BASE_SEQUENTIAL BASE_ACCUMULATE"),
    "RPT_ECONOMY_CUSTOMS": _of(
        "EXIT_BASE EXIT_BASE_SAME EXIT_BASE_SEQUENTIAL IMPORT_BASE IMPORT_BASE_SAME IMPORT_BASE_SEQUENTIAL"
    ),
    "RPT_ECONOMY_RMB_LOAN": _of("RMB_LOAN RMB_LOAN_SAME RMB_LOAN_SEQUENTIAL RMB_LOAN_ACCUMULATE"),
    "RPT_ECONOMY_DEPOSIT_RESERVE": _of(
        "INTEREST_RATE_BA INTEREST_RATE_SA",
        day="TRADE_DATE",
        period="day",
        rates=("INTEREST_RATE_BA", "INTEREST_RATE_SA"),
        published="PUBLISH_DATE",
    ),
    "RPTA_WEB_RATE": _of("LPR1Y LPR5Y", day="TRADE_DATE", period="day", rates=("LPR1Y", "LPR5Y"), token=True),
    "RPTA_WEB_TREASURYYIELD": _of(
        " ".join(_YIELDS), day="SOLAR_DATE", period="day", rates=_YIELDS, token=True
    ),
}
"""Report -> the columns that are read."""

IN_OLDER_DIALECT = frozenset({"RPTA_WEB_TREASURYYIELD"})
"""Reports that public clients ask for in the gateway's older dialect."""

TENORS: Mapping[str, str] = {
    "001": "on", "101": "1w", "102": "2w", "201": "1m", "203": "3m", "206": "6m", "209": "9m", "301": "1y",
}  # fmt: skip
"""INDICATOR_ID of SHIBOR -> tenor."""
INTERBANK_COLUMNS: dict[str, str] = {**texts("date tenor"), **numbers("rate")}
FOREIGN_COLUMNS: dict[str, str] = {**texts("series date publish_date"), **numbers("value previous")}


def economy_columns(name: str) -> dict[str, str]:
    """`date` (first day of the month or quarter, or the day), `publish_date` where the report has one, and
    the report's own columns as numbers."""
    return {**texts("date publish_date"), **dict.fromkeys(_known(name).columns, "f")}


def economy_report(name: str, since: str | None = None) -> Report:
    """All periods, or those with a day from `since` on. InputError for a report that is not known."""
    report = _known(name)
    head = (report.day, *(("TIME",) if report.period == "quarter" else ()))
    published = (report.published,) if report.published else ()
    where = () if since is None else (on_day(report.day, since, ">="),)
    return Report(
        name,
        (*head, *published, *report.columns),
        where,
        sort=(f"-{report.day}",),
        key=("date",),
        token=report.token,
    )


def economy_rows(rows: Sequence[Mapping[str, Any]], name: str) -> pd.DataFrame:
    """Columns `economy_columns`; a figure that a period has none of is missing."""
    report = _known(name)
    made = [_row(row, name, report) for row in rows]
    return frame([row for row in made if row is not None], economy_columns(name))


def _row(row: Mapping[str, Any], name: str, report: Economy) -> dict[str, Any]:
    promised(row, (report.day, *((report.published,) if report.published else ())), name)
    some_of(row, report.columns, name)
    day = day_of(row[report.day], f"{name} {report.day}")
    what = f"{name} {day}"
    made: dict[str, Any] = {"date": _period(day, row, report, what)}
    if report.published:
        made["publish_date"] = day_of(row[report.published], f"{what} {report.published}")
    for column in report.columns:
        made[column] = number(row.get(column), f"{what} {column}")
    for column in report.rates:
        if not math.isnan(made[column]) and not 0 <= made[column] <= MOST_PERCENT:
            raise PayloadError(f"{what}: {column} {made[column]:g} is no percentage: another unit")
    for change, index in report.same:
        gap = abs(made[change] - (made[index] - 100))
        if not math.isnan(gap) and gap > _IDENTITY_SLACK:
            raise PayloadError(f"{what}: {change} is not {index} - 100")
    return made


def _period(day: str, row: Mapping[str, Any], report: Economy, what: str) -> str:
    """The first day of the period that a row is about."""
    if report.period == "day":
        return day
    if report.period == "month":
        return f"{day[:7]}-01"
    found = _QUARTER.fullmatch(string_of(row.get("TIME"), f"{what} TIME").strip())
    if found is None:
        raise PayloadError(f"{what}: TIME {row.get('TIME')!r:.40} names no quarter")
    year, quarter = int(found.group(1)), int(found.group(2))
    first, last = f"{year}-{3 * quarter - 2:02d}", f"{year}-{3 * quarter:02d}"
    if not first <= day[:7] <= last:
        raise PayloadError(f"{what}: TIME names quarter {quarter} of {year}")
    return f"{first}-01"


def _known(name: str) -> Economy:
    if name not in REPORTS:
        raise InputError("report", f"{name!r} is none of {', '.join(REPORTS)}")
    return REPORTS[name]


# -- rates between banks ------------------------------------------------------------------------------


def interbank_report(since: str) -> Report:
    """SHIBOR of every tenor, from a day on."""
    return Report(
        "RPT_IMP_INTRESTRATEN",
        ("REPORT_DATE", "INDICATOR_ID", "IR_RATE", "CHANGE_RATE"),
        (
            equals("MARKET_CODE", "001"),
            equals("CURRENCY_CODE", "CNY"),
            among("INDICATOR_ID", tuple(TENORS)),
            on_day("REPORT_DATE", since, ">="),
        ),
        sort=("-REPORT_DATE", "INDICATOR_ID"),
        key=("date", "tenor"),
    )


def interbank_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `INTERBANK_COLUMNS`, percent."""
    made = []
    for row in rows:
        promised(row, ("REPORT_DATE", "INDICATOR_ID", "IR_RATE"), "SHIBOR")
        day = day_of(row["REPORT_DATE"], "SHIBOR REPORT_DATE")
        indicator = string_of(row["INDICATOR_ID"], f"SHIBOR {day} INDICATOR_ID")
        if indicator not in TENORS:
            raise PayloadError(f"SHIBOR {day}: INDICATOR_ID {indicator[:20]!r} was not asked for")
        what = f"SHIBOR {day} {TENORS[indicator]}"
        rate = required(number(row["IR_RATE"], f"{what} IR_RATE"), f"{what} IR_RATE")
        if not 0 <= rate <= MOST_PERCENT:
            raise PayloadError(f"{what}: {rate:g} is no percentage")
        made.append({"date": day, "tenor": TENORS[indicator], "rate": rate})
    return frame(made, INTERBANK_COLUMNS)


# -- other countries ----------------------------------------------------------------------------------


def foreign_report(country: str, series: Sequence[str], since: str) -> Report:
    """Values of some series of a country (USA), of periods from a day on."""
    if not country.isascii() or not country.isalpha() or not series:
        raise InputError("country", f"{country!r} with {len(series)} series")
    return Report(
        f"RPT_ECONOMICVALUE_{country}",
        ("INDICATOR_ID", "REPORT_DATE", "PUBLISH_DATE", "VALUE", "PRE_VALUE"),
        (among("INDICATOR_ID", series), on_day("REPORT_DATE", since, ">=")),
        sort=("-REPORT_DATE", "INDICATOR_ID"),
        key=("series", "date"),
    )


def foreign_rows(rows: Sequence[Mapping[str, Any]], series: Sequence[str]) -> pd.DataFrame:
    """Columns `FOREIGN_COLUMNS`; `date` is the first day of the month. A value that is not out is missing."""
    made = []
    for row in rows:
        promised(row, ("INDICATOR_ID", "REPORT_DATE", "PUBLISH_DATE", "VALUE"), "foreign value")
        indicator = string_of(row["INDICATOR_ID"], "INDICATOR_ID")
        if indicator not in series:
            raise PayloadError(f"foreign value: INDICATOR_ID {indicator[:20]!r} was not asked for")
        day = day_of(row["REPORT_DATE"], f"{indicator} REPORT_DATE")
        what = f"{indicator} {day}"
        published = row["PUBLISH_DATE"]
        made.append(
            {
                "series": indicator,
                "date": f"{day[:7]}-01",
                "publish_date": None if published is None else day_of(published, f"{what} PUBLISH_DATE"),
                "value": number(row["VALUE"], f"{what} VALUE"),
                "previous": number(row.get("PRE_VALUE"), f"{what} PRE_VALUE"),
            }
        )
    return frame(made, FOREIGN_COLUMNS)
