"""Business segments of a company, a page of the portal (BusinessAnalysis): revenue, cost and profit of every
report period by industry, product and region."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.symbols import instrument
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.eastmoney.f10.pages import secucode
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import AMT, json_of, list_of, number, object_of, promised, string_of
from resources.upstreams.parsing.rows import day_of, may, values_of

OPERATION_COLUMNS: dict[str, str] = {
    **texts("code report_period dim_type item"),
    **numbers("revenue revenue_ratio_pct cost profit gross_margin"),
}
DIMENSIONS = {"1": "industry", "2": "product", "3": "region"}
_FIELDS = ("REPORT_DATE", "MAINOP_TYPE", "ITEM_NAME", "MAIN_BUSINESS_INCOME", "MBI_RATIO",
           "GROSS_RPOFIT_RATIO")  # fmt: skip
_SLACK = 0.01


def _percent(value: Any, what: str) -> float:
    """Percent of a fraction; a value that is too large for a fraction is already in percent."""
    share = number(value, what, digits=8)
    if share > 1.5:
        raise PayloadError(f"{what} is no fraction: {value!r}")
    return round(share * 100, 4)


_money = partial(number, digits=AMT)
_FIGURES = (
    *may(day_of, REPORT_DATE="report_period"),
    *may(_money, MAIN_BUSINESS_INCOME="revenue", MAIN_BUSINESS_COST="cost", MAIN_BUSINESS_RPOFIT="profit"),
    *may(_percent, MBI_RATIO="revenue_ratio_pct", GROSS_RPOFIT_RATIO="gross_margin"),
)


def operations_request(symbol: str) -> Request:
    """Every report period of one company."""
    params = (("code", symbol.upper()),)
    return Request(
        "eastmoney.emweb", "f10_operations", "/PC_HSF10/BusinessAnalysis/PageAjax", params, label=symbol
    )


def parse_operations(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `OPERATION_COLUMNS`: CNY, percent (the wire has fractions). PayloadError when a row
    contradicts itself. Empty for a company that publishes none."""
    what = f"operations {symbol}"
    document = object_of(json_of(body), what)
    promised(document, ("zygcfx",), what)

    def read(one: Any) -> dict[str, Any]:
        return _row(object_of(one, f"{what} row"), symbol)

    rows = accepted_rows(list_of(document["zygcfx"], what), read, what, named_by("ITEM_NAME"))
    return once_each(frame(rows, OPERATION_COLUMNS), ["report_period", "dim_type", "item"], what)


def _row(row: Mapping[str, Any], symbol: str) -> dict[str, Any]:
    what = f"operations {symbol}"
    promised(row, _FIELDS, what)
    if row.get("SECUCODE", secucode(symbol)) != secucode(symbol):
        raise PayloadError(f"{what}: answered for {str(row['SECUCODE'])[:20]!r}")
    kind = str(row["MAINOP_TYPE"])
    if kind not in DIMENSIONS:
        raise PayloadError(f"{what}: MAINOP_TYPE {kind[:8]!r} is unknown")
    item = string_of(row["ITEM_NAME"], f"{what} ITEM_NAME").strip()
    if not item:
        raise PayloadError(f"{what}: an item without a name")
    made: dict[str, Any] = {
        "code": instrument(symbol).code,
        "dim_type": DIMENSIONS[kind],
        "item": item,
        **values_of(row, _FIGURES, what),
    }
    _check(made, f"{what} {item[:20]}")
    return made


def _check(row: Mapping[str, Any], what: str) -> None:
    revenue, cost, profit, margin = row["revenue"], row["cost"], row["profit"], row["gross_margin"]
    scale = max(abs(revenue), 1.0) if not math.isnan(revenue) else 1.0
    if abs(revenue - cost - profit) > _SLACK * scale:
        raise PayloadError(f"{what}: MAIN_BUSINESS_RPOFIT is not income - cost")
    if revenue > 0 and abs(profit / revenue * 100 - margin) > 100 * _SLACK:
        raise PayloadError(f"{what}: GROSS_RPOFIT_RATIO is not profit / income")
