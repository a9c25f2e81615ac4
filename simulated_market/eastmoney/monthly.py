"""Monthly and quarterly reports of the data centre about the economy.

A report has lines of its own; what accumulates within a year, and every change on the year or the month,
follows from the published single months.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from simulated_market import economy
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.economy import Line, released
from simulated_market.wire import Row, View

_REVISED = 0.3
_MONEY = ("BASIC_CURRENCY", "CURRENCY", "FREE_CASH")
_PRODUCTS, _GDP = ("FIRST", "SECOND", "THIRD"), "DOMESTICL_PRODUCT_BASE"
_SIDES = ("EXIT", "IMPORT")
_YEAR = 12


@dataclass(frozen=True)
class Monthly:
    """A report of one row a month, out at a moment of the next month. `lines`: column -> (line, decimals);
    `index` is a column that is 100 more than another. What follows from a column, by its own name: `sums` and
    `means` of the months of the year up to now, `on_year` and `on_month` changes in percent of an amount. The
    lines of a quarterly report are of the quarter alone, its rows of the year up to now."""

    lines: Mapping[str, tuple[Line, int]]
    day: int
    hour: str = "09:30"
    after: int = 1
    index: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, str] = field(default_factory=dict)
    means: Mapping[str, str] = field(default_factory=dict)
    on_year: Mapping[str, str] = field(default_factory=dict)
    on_month: Mapping[str, str] = field(default_factory=dict)
    quarterly: bool = False


def _percent(name: str, level: float, swing: float = 0.8, jitter: float = 0.1) -> tuple[Line, int]:
    return Line(name, level, swing, jitter=jitter), 1


def _sum(name: str, level: float, growth: float = 0.06) -> tuple[Line, int]:
    return Line(name, level, jitter=level * 0.01, growth=growth), 1


MONTHLY: Mapping[str, Monthly] = {
    "RPT_ECONOMY_CPI": Monthly(
        {
            **{f"{place}_SAME": _percent(f"cpi{place}", level)
               for place, level in (("NATIONAL", 1.2), ("CITY", 1.1), ("RURAL", 1.4))},
            **{f"{place}_SEQUENTIAL": _percent(f"cpi{place}m", 0.1, 0.3)
               for place in ("NATIONAL", "CITY", "RURAL")},
        },
        9,
        index={f"{place}_BASE": f"{place}_SAME" for place in ("NATIONAL", "CITY", "RURAL")},
        means={f"{place}_ACCUMULATE": f"{place}_BASE" for place in ("NATIONAL", "CITY", "RURAL")},
    ),
    "RPT_ECONOMY_PPI": Monthly(
        {"BASE_SAME": _percent("ppi", 0.4, 2.5)},
        9,
        index={"BASE": "BASE_SAME"},
        means={"BASE_ACCUMULATE": "BASE"},
    ),
    "RPT_ECONOMY_PMI": Monthly(
        {"MAKE_INDEX": _percent("pmi", 50.2, 0.9, 0.3), "MAKE_SAME": _percent("pmis", 0.2, 1.5),
         "NMAKE_INDEX": _percent("npmi", 52.0, 1.1, 0.4), "NMAKE_SAME": _percent("npmis", 0.1, 1.5)},
        0,
        after=0,
    ),
    "RPT_ECONOMY_CURRENCY_SUPPLY": Monthly(
        {
            "BASIC_CURRENCY": _sum("m2", 420_000, 0.11), "CURRENCY": _sum("m1", 150_000, 0.08),
            "FREE_CASH": _sum("m0", 32_000, 0.07),
        },
        13,
        "16:00",
        on_year={f"{name}_SAME": name for name in _MONEY},
        on_month={f"{name}_SEQUENTIAL": name for name in _MONEY},
    ),
    "RPT_ECONOMY_GDP": Monthly(
        {
            "FIRST_PRODUCT_BASE": _sum("gdp1", 9_000), "SECOND_PRODUCT_BASE": _sum("gdp2", 40_000),
            "THIRD_PRODUCT_BASE": _sum("gdp3", 50_000),
        },
        17,
        "10:00",
        after=3,
        on_year={f"{part}_SAME": f"{part}_PRODUCT_BASE" for part in _PRODUCTS} | {"SUM_SAME": _GDP},
        quarterly=True,
    ),
    "RPT_ECONOMY_INDUS_GROW": Monthly(
        {"BASE_SAME": _percent("indus", 5.6, 1.0)},
        17,
        "10:00",
        means={"BASE_ACCUMULATE": "BASE_SAME"},
    ),
    "RPT_ECONOMY_TOTAL_RETAIL": Monthly(
        {
            "RETAIL_TOTAL": _sum("retail", 9_500, 0.08),
        },
        17,
        "10:00",
        sums={"RETAIL_TOTAL_ACCUMULATE": "RETAIL_TOTAL"},
        on_year={"RETAIL_TOTAL_SAME": "RETAIL_TOTAL", "RETAIL_ACCUMULATE_SAME": "RETAIL_TOTAL_ACCUMULATE"},
        on_month={"RETAIL_TOTAL_SEQUENTIAL": "RETAIL_TOTAL"},
    ),
    "RPT_ECONOMY_ASSET_INVEST": Monthly(
        {"BASE": _sum("fai", 20_000)},
        17,
        "10:00",
        sums={"BASE_ACCUMULATE": "BASE"},
        on_year={"BASE_SAME": "BASE"},
        on_month={"BASE_SEQUENTIAL": "BASE"},
    ),
    "RPT_ECONOMY_CUSTOMS": Monthly(
        {f"{side}_BASE": _sum(side, level, 0.06) for side, level in (("EXIT", 1.2e8), ("IMPORT", 1.0e8))},
        8,
        "11:00",
        sums={f"{side}_ACCUMULATE": f"{side}_BASE" for side in _SIDES},
        on_year={f"{one}_SAME": one for side in _SIDES for one in (f"{side}_BASE", f"{side}_ACCUMULATE")},
        on_month={f"{side}_BASE_SEQUENTIAL": f"{side}_BASE" for side in _SIDES},
    ),
    "RPT_ECONOMY_RMB_LOAN": Monthly(
        {
            "RMB_LOAN": _sum("loan", 4_500, 0.09),
        },
        13,
        "16:00",
        sums={"RMB_LOAN_ACCUMULATE": "RMB_LOAN"},
        on_year={"RMB_LOAN_SAME": "RMB_LOAN"},
        on_month={"RMB_LOAN_SEQUENTIAL": "RMB_LOAN"},
    ),
}  # fmt: skip


def rows_of(name: str, report: Monthly) -> Maker:
    def rows(view: View, conditions: Conditions) -> list[Row]:
        return [
            monthly_row(name, report, place, month, view)
            for place, month in economy.months(view.now.date())
            if (not report.quarterly or month.month % 3 == 1)
            and released(month, report.day, report.hour, report.after) <= view.now
        ]

    return rows


def monthly_row(name: str, report: Monthly, place: int, month: date, view: View) -> Row:
    """One period. Retail sales of a month are corrected when the next month's come out."""
    row: Row = {"REPORT_DATE": f"{month} 00:00:00", "TIME": f"{month.year}年{month.month:02d}月份"}
    row |= _amounts(report, place)
    for columns, back in ((report.on_year, _YEAR), (report.on_month, 1)):
        before = _amounts(report, place - back) if columns else {}
        for column, of in columns.items():
            row[column] = round((row[of] / before[of] - 1) * 100, 1)
    if report.quarterly:
        quarter = month.month // 3 + 1
        row["TIME"] = f"{month.year}年第{quarter if quarter == 1 else f'1-{quarter}'}季度"
    if name == "RPT_ECONOMY_TOTAL_RETAIL" and released(month, report.day, report.hour, 2) <= view.now:
        row["RETAIL_TOTAL"] = round(row["RETAIL_TOTAL"] + _REVISED * (1 + economy.draw("rev", place)), 1)
    return row


def _amounts(report: Monthly, place: int) -> dict[str, float]:
    """The figures of a period that follow from the lines alone, in the decimals in which they are published:
    cumulative ones are sums of the published months."""
    step, row = (3, {}) if report.quarterly else (1, _of_period(report, place))
    year = [_of_period(report, at) for at in range(place - place % _YEAR, place + 1, step)]
    if report.quarterly:
        row = {column: round(sum(one[column] for one in year), 1) for column in report.lines}
        row[_GDP] = round(sum(row[f"{part}_PRODUCT_BASE"] for part in _PRODUCTS), 1)
    for column, of in report.sums.items():
        row[column] = round(sum(one[of] for one in year), 1)
    for column, of in report.means.items():
        row[column] = round(sum(one[of] for one in year) / len(year), 1)
    return row


def _of_period(report: Monthly, place: int) -> dict[str, float]:
    row = {column: round(line.at(place), digits) for column, (line, digits) in report.lines.items()}
    return row | {column: round(row[same] + 100, 1) for column, same in report.index.items()}
