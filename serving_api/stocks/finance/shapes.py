"""Responses of the finance reads. Pure; report periods newest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.report_periods import previous_period
from platform_assets.compute.quarters import (
    Figures,
    growth_pct,
    on_quarter_before,
    on_year_before,
    single_quarter,
    year_before,
)
from platform_assets.datasets.finance_indicator import AuxChanges, FinanceIndicator
from serving_api.stocks.finance.groups import GROUPS

Row = Mapping[str, Any]

_GROUPED = {item for _, _, items in GROUPS for item, _, _ in items}
_FACTS = {"code", "report_period", "ann_date", "updated", "quality", "is_express", "name", "report_type"}

SERIES: tuple[tuple[str, str, str, str], ...] = (
    ("revenue", "营业总收入", "CNY", "revenue"),
    ("netProfit", "归属净利润", "CNY", "net_profit"),
    ("deductedNetProfit", "扣非净利润", "CNY", "deducted_net_profit"),
    ("grossMargin", "毛利率", "pct", "gross_margin"),
    ("netMargin", "净利率", "pct", "net_margin"),
    ("roe", "净资产收益率", "pct", "roe"),
    ("ocf", "经营现金流净额", "CNY", "operating_cash_flow"),
    ("debtRatio", "资产负债率", "pct", "debt_ratio"),
)
"""(key, name, unit, column) of the core series."""
FIGURES = (
    FinanceIndicator.revenue, FinanceIndicator.net_profit.label("netProfit"), FinanceIndicator.roe,
    FinanceIndicator.eps, FinanceIndicator.bvps,
)  # fmt: skip
EXPLAINED = (
    AuxChanges.report_period, AuxChanges.item, AuxChanges.change_pct, AuxChanges.explanation.label("text"),
)  # fmt: skip
LARGE_CHANGE = 30.0
"""Least change of an item that is listed, percent."""


def finance_row(row: Row) -> dict[str, Any]:
    """One period of `/stocks/{code}/finance`."""
    period = str(row["report_period"])
    figures = {column.key: row.get(column) for column in FIGURES}
    return {"year": int(period[:4]), "report_period": period, **figures}


def numbers_of(row: Row) -> dict[str, float]:
    """The numbers of a row: its indicators."""
    return {
        name: value
        for name, value in row.items()
        if name not in _FACTS and isinstance(value, int | float) and not isinstance(value, bool)
    }


def groups(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Indicators by group, each with a value per row (None when a period lacks it); an indicator without
    any value is left out."""
    reported = [numbers_of(row) for row in rows]
    beyond = sorted({name for one in reported for name in one} - _GROUPED)
    named = (*GROUPS, ("other", "其他", tuple((name, name, "") for name in beyond)))
    made = []
    for key, name, items in named:
        held = [
            {"key": item, "name": label, "unit": unit, "values": [one.get(item) for one in reported]}
            for item, label, unit in items
            if any(item in one for one in reported)
        ]
        if held:
            made.append({"key": key, "name": name, "items": held})
    return made


def series(rows: Sequence[Row], periods: Sequence[str]) -> list[dict[str, Any]]:
    """The core series over `periods`. Amounts are cumulative, their `qoq` compares single quarters;
    changes of ratios are differences in points. `rows` may contain more periods, for comparison."""
    by_period = {str(row["report_period"]): row for row in rows}
    made = []
    for key, name, unit, column in SERIES:
        figures = _figures(by_period, column)
        changes = (_growth if unit == "CNY" else _difference)(figures, by_period, column)
        made.append(
            {
                "key": key,
                "name": name,
                "unit": unit,
                "values": [figures(one) for one in periods],
                "yoy": [_rounded(changes[0](one)) for one in periods],
                "qoq": [_rounded(changes[1](one)) for one in periods],
            }
        )
    return made


def _growth(figures: Figures, rows: Mapping[str, Row], column: str) -> tuple[Figures, Figures]:
    def yoy(period: str) -> float | None:
        reported = rows.get(period, {}).get(f"{column}_yoy")
        return reported if reported is not None else growth_pct(figures(period), figures(year_before(period)))

    return yoy, lambda period: on_quarter_before(figures, period)


def _difference(figures: Figures, rows: Mapping[str, Row], column: str) -> tuple[Figures, Figures]:
    def against(earlier: Any) -> Figures:
        def points(period: str) -> float | None:
            now, past = figures(period), figures(earlier(period))
            return None if now is None or past is None else now - past

        return points

    return against(year_before), against(previous_period)


def large_changes(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Items with large changes, with the text that explains it if one is known."""
    return [
        {column.key: row[column] for column in EXPLAINED}
        for row in rows
        if row["explanation"] or abs(row["change_pct"] or 0.0) >= LARGE_CHANGE
    ]


def quarters(rows: Sequence[Row], periods: Sequence[str]) -> list[dict[str, Any]]:
    """Single-quarter revenue and net profit of each period with their growth, percent."""
    by_period = {str(row["report_period"]): row for row in rows}
    made = []
    for period in periods:
        one: dict[str, Any] = {"code": by_period[period]["code"], "report_period": period}
        for column in ("revenue", "net_profit"):
            figures = _figures(by_period, column)
            one[column] = _rounded(single_quarter(figures, period), 2)
            one[f"{column}_yoy"] = _rounded(on_year_before(figures, period))
            one[f"{column}_qoq"] = _rounded(on_quarter_before(figures, period))
        made.append(one)
    return made


def _figures(rows: Mapping[str, Row], column: str) -> Figures:
    """The figure of a period, by period."""

    def figures(period: str) -> float | None:
        value = rows.get(period, {}).get(column)
        return None if value is None else float(value)

    return figures


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
