"""Reports of the data centre about results: summaries, statements, express reports and forecasts.

One report holds the whole market of a report period (11 pages), or all periods of some codes. A row that came
twice for one period (a correction) counts in its later notice.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError
from core.report_periods import is_period
from resources.upstreams.eastmoney.data_centre import Report, among, of_codes, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import number, promised, some_of, string_of
from resources.upstreams.parsing.rows import code_of, day_of, named

Row = Mapping[str, Any]

_KEY = ("code", "report_period", "ann_date", "security_type")
_SHARES = ("058001001", "058001008")
"""A shares and depositary receipts; the same reports hold B shares, bonds and funds."""
B_SHARES = ("200", "900")

SUMMARY_COLUMNS: dict[str, str] = {
    **texts("code report_period ann_date security_type indicators"),
    **numbers("revenue net_profit roe gross_margin eps bvps ocfps revenue_yoy net_profit_yoy"),
}
_SUMMARY_NUMBERS = named(
    "TOTAL_OPERATE_INCOME revenue PARENT_NETPROFIT net_profit WEIGHTAVG_ROE roe XSMLL gross_margin "
    "BASIC_EPS eps BPS bvps MGJYXJJE ocfps YSTZ revenue_yoy SJLTZ net_profit_yoy"
)
_SUMMARY_OTHERS = named("DEDUCT_BASIC_EPS deducted_eps YSHZ yshz SJLHZ sjlhz ZXGXL zxgxl")

EXPRESS_COLUMNS: dict[str, str] = {
    **texts("code report_period ann_date security_type"),
    **numbers("revenue revenue_yoy net_profit net_profit_yoy eps bvps roe"),
}
_EXPRESS_NUMBERS = named(
    "TOTAL_OPERATE_INCOME revenue YSTZ revenue_yoy PARENT_NETPROFIT net_profit JLRTBZCL net_profit_yoy "
    "BASIC_EPS eps PARENT_BVPS bvps WEIGHTAVG_ROE roe"
)

FORECAST_COLUMNS: dict[str, str] = {
    **texts("code report_period indicator ann_date security_type predict_type content reason"),
    **numbers("lower upper change_lower_pct change_upper_pct prev_value"),
}
_FORECAST_NUMBERS = named(
    "PREDICT_AMT_LOWER lower PREDICT_AMT_UPPER upper ADD_AMP_LOWER change_lower_pct "
    "ADD_AMP_UPPER change_upper_pct PREYEAR_SAME_PERIOD prev_value"
)
_INDICATORS = {"003": "eps", "004": "net_profit", "005": "deducted_net_profit", "006": "revenue"}

STATEMENT_COLUMNS: dict[str, str] = {
    **texts("code report_period statement item ann_date"),
    **numbers("value yoy"),
}
ITEMS: dict[str, dict[str, str]] = {
    "balance": named(
        "TOTAL_ASSETS total_assets TOTAL_LIABILITIES total_liabilities TOTAL_EQUITY total_equity "
        "TOTAL_PARENT_EQUITY parent_equity MONETARYFUNDS cash ACCOUNTS_RECE accounts_receivable "
        "INVENTORY inventory FIXED_ASSET fixed_assets GOODWILL goodwill CONTRACT_LIAB contract_liabilities "
        "SHORT_LOAN short_debt LONG_LOAN long_debt"
    ),
    "income": named(
        "TOTAL_OPERATE_INCOME revenue PARENT_NETPROFIT net_profit "
        "DEDUCT_PARENT_NETPROFIT deducted_net_profit OPERATE_PROFIT operating_profit "
        "TOTAL_PROFIT total_profit TOTAL_OPERATE_COST total_operating_cost OPERATE_COST operating_cost "
        "SALE_EXPENSE sell_expense MANAGE_EXPENSE admin_expense FINANCE_EXPENSE finance_expense "
        "RESEARCH_EXPENSE rd_expense"
    ),
    "cashflow": named(
        "NETCASH_OPERATE operating_cash_flow NETCASH_INVEST investing_cash_flow "
        "NETCASH_FINANCE financing_cash_flow CONSTRUCT_LONG_ASSET capex CCE_ADD cash_increase"
    ),
}
"""Statement -> wire name -> item: the fused column where there is one."""
_REPORTS = {
    "balance": "RPT_DMSK_FN_BALANCE",
    "income": "RPT_DMSK_FN_INCOME",
    "cashflow": "RPT_DMSK_FN_CASHFLOW",
}
_SUMMARY_SOME = ("TOTAL_OPERATE_INCOME", "PARENT_NETPROFIT", "BASIC_EPS")
_SOME = {
    "balance": ("TOTAL_ASSETS", "TOTAL_LIABILITIES", "TOTAL_EQUITY", "MONETARYFUNDS"),
    "income": ("TOTAL_OPERATE_INCOME", "PARENT_NETPROFIT", "OPERATE_PROFIT", "TOTAL_PROFIT"),
    "cashflow": ("NETCASH_OPERATE", "NETCASH_INVEST", "NETCASH_FINANCE"),
}
_YOY = {"TOTAL_OPERATE_INCOME": "TOI_RATIO", "PARENT_NETPROFIT": "PARENT_NETPROFIT_RATIO"}
STATEMENTS = tuple(_REPORTS)


# -- requests -----------------------------------------------------------------------------------------


def summary_report(period: str | None, codes: Sequence[str] | None = None) -> Report:
    """RPT_LICO_FN_CPD of one period, or of codes; its date column has no underscore."""
    return _report("RPT_LICO_FN_CPD", _of(period, codes, "REPORTDATE"), "REPORTDATE")


def statement_report(statement: str, period: str | None, codes: Sequence[str] | None = None) -> Report:
    """Balance, income or cash flow of one period, or of codes."""
    where = (among("SECURITY_TYPE_CODE", _SHARES), *_of(period, codes))
    return _report(_REPORTS[statement], where, "REPORT_DATE")


def express_report(period: str | None, codes: Sequence[str] | None = None) -> Report:
    return _report("RPT_FCI_PERFORMANCEE", _of(period, codes), "REPORT_DATE")


def forecast_report(period: str | None, codes: Sequence[str] | None = None) -> Report:
    found = _report("RPT_PUBLIC_OP_NEWPREDICT", _of(period, codes), "REPORT_DATE")
    sort = (*found.sort, "PREDICT_FINANCE_CODE")
    return Report(found.name, found.columns, found.where, sort, (*found.key, "indicator"))


def _of(period: str | None, codes: Sequence[str] | None, column: str = "REPORT_DATE") -> tuple[str, ...]:
    """Clauses of a period, of codes, or of both."""
    return (*(() if period is None else (on_day(column, period),)), *of_codes(codes))


def _report(name: str, where: tuple[str, ...], dated: str) -> Report:
    # All columns: the optional ones differ by report, and one that is gone is found by the parser.
    sort = ("SECURITY_CODE", dated, "NOTICE_DATE")
    return Report(name, ("ALL",), where, sort=sort, key=_KEY)


# -- answers ------------------------------------------------------------------------------------------


def summary_rows(rows: Sequence[Row]) -> pd.DataFrame:
    """Columns `SUMMARY_COLUMNS`; `indicators` is the JSON of every number of the row."""
    made = []
    for row in rows:
        head = _head(row, "summary", "REPORTDATE", some=_SUMMARY_SOME)
        what = f"summary {head['code']}"
        figures = _figures(row, _SUMMARY_NUMBERS, what)
        others = _figures(row, _SUMMARY_OTHERS, what)
        known = {name: value for name, value in (figures | others).items() if not math.isnan(value)}
        made.append(head | figures | {"indicators": canonical_json(known)})
    return frame(made, SUMMARY_COLUMNS)


def express_rows(rows: Sequence[Row]) -> pd.DataFrame:
    """Columns `EXPRESS_COLUMNS`."""
    made = []
    for row in rows:
        head = _head(row, "express", "REPORT_DATE", some=_SUMMARY_SOME)
        made.append(head | _figures(row, _EXPRESS_NUMBERS, f"express {head['code']}"))
    return frame(made, EXPRESS_COLUMNS)


def forecast_rows(rows: Sequence[Row]) -> pd.DataFrame:
    """Columns `FORECAST_COLUMNS`; one row per announced indicator."""
    made = []
    for row in rows:
        head = _head(row, "forecast", "REPORT_DATE", "PREDICT_FINANCE_CODE", "NOTICE_DATE")
        what = f"forecast {head['code']}"
        number_of = string_of(row["PREDICT_FINANCE_CODE"], f"{what} PREDICT_FINANCE_CODE")
        texts_of = {
            "predict_type": _text(row, "PREDICT_TYPE", what),
            "content": _text(row, "PREDICT_CONTENT", what),
            "reason": _text(row, "CHANGE_REASON_EXPLAIN", what),
        }
        indicator = _INDICATORS.get(number_of, number_of.lower()[:32])
        made.append({**head, **texts_of, "indicator": indicator, **_figures(row, _FORECAST_NUMBERS, what)})
    return frame(made, FORECAST_COLUMNS)


def statement_rows(rows: Sequence[Row], statement: str) -> pd.DataFrame:
    """One row per security: code, report_period, ann_date, security_type, an item per column and its change
    as `yoy:<item>`. `long_statement` makes the stored form of it."""
    items = ITEMS[statement]
    columns = {
        **texts("code report_period ann_date security_type"),
        **dict.fromkeys(items.values(), "f"),
        **dict.fromkeys((f"yoy:{items[name]}" for name in _YOY if name in items), "f"),
    }
    made = []
    for row in rows:
        head = _head(row, statement, "REPORT_DATE", some=_SOME[statement])
        what = f"{statement} {head['code']}"
        changes = {name: f"yoy:{items[at]}" for at, name in _YOY.items() if at in items}
        made.append(head | _figures(row, items, what) | _figures(row, changes, what))
    return frame(made, columns)


def long_statement(rows: pd.DataFrame, statement: str) -> pd.DataFrame:
    """Columns `STATEMENT_COLUMNS`: one row per item that a security has a value of."""
    parts = []
    for item in ITEMS[statement].values():
        known = rows[rows[item].notna()]
        part = known[["code", "report_period", "ann_date"]].assign(
            statement=statement, item=item, value=known[item]
        )
        part["yoy"] = known[f"yoy:{item}"] if f"yoy:{item}" in known.columns else float("nan")
        parts.append(part)
    return pd.concat(parts, ignore_index=True)[list(STATEMENT_COLUMNS)]


def of_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """A shares alone, each period once: of a corrected one the later notice."""
    kind = rows["security_type"]
    shares = kind.isna() | kind.isin(list(_SHARES))
    mine = rows[shares & ~rows["code"].str.startswith(B_SHARES)]
    key = [name for name in ("code", "report_period", "indicator") if name in mine.columns]
    # Forecasts keep every notice: each is a revision of its own.
    subset = [*key, "ann_date"] if "indicator" in key else key
    ordered = mine.sort_values("ann_date", kind="stable", na_position="first")
    kept = ordered.drop_duplicates(subset=subset, keep="last").drop(columns="security_type")
    return kept.sort_values(subset, kind="stable").reset_index(drop=True)


# -- one row ------------------------------------------------------------------------------------------


def _head(row: Row, what: str, dated: str, *keys: str, some: Sequence[str] = ()) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", dated, *keys), what)
    if some:
        some_of(row, some, what)
    code = code_of(row["SECURITY_CODE"], what)
    return {
        "code": code,
        "report_period": period_of(row[dated], f"{what} {code} {dated}"),
        "ann_date": notice_of(row, f"{what} {code}"),
        "security_type": _text(row, "SECURITY_TYPE_CODE", f"{what} {code}"),
    }


def period_of(value: Any, what: str) -> str:
    """A quarter end. PayloadError for any other date."""
    day = day_of(value, what)
    if not is_period(day):
        raise PayloadError(f"{what}: {day} is no quarter end")
    return day


def notice_of(row: Row, what: str) -> str | None:
    """The date of the notice; None where the report has none."""
    for name in ("NOTICE_DATE", "UPDATE_DATE"):
        if row.get(name):
            return day_of(row[name], f"{what} {name}")
    return None


def _figures(row: Row, names: Mapping[str, str], what: str) -> dict[str, float]:
    """The numbers of a row under our names: amounts with two decimals are four-decimal numbers as well."""
    return {ours: number(row.get(wire), f"{what} {wire}") for wire, ours in names.items()}


def _text(row: Row, name: str, what: str) -> str | None:
    value = row.get(name)
    return None if value is None else string_of(value, f"{what} {name}").strip()
