"""Whom finance_indicator asks: reports of the whole market by period, pages of single companies, and the
terminal's snapshot.

Calls of one trade date: per open report period 11 (summaries) + 33 (statements) + 1 or 2 (express reports)
+ up to 10 (forecasts); one period is open most of the year, two in April and May. Of single codes: 1 (main
indicators) + 16 (statements) each, 1 per hundred codes for express reports and forecasts; of more than
`FEW_CODES` the reports again, some 10 + 30 calls per hundred codes.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from core.declaration.frames import canonical_json, stacked
from core.declaration.scope import Scope
from core.report_periods import open_on_any
from resources.upstreams.fetch_context import FetchContext

FEW_CODES = 10
_TERMINAL = {
    "revenue": "revenue",
    "net_profit": "net_profit",
    "operating_profit": "operating_profit",
    "total_profit": "total_profit",
    "operating_cash_flow": "operating_cash_flow",
    "total_assets": "total_assets",
    "fixed_assets": "fixed_assets",
    "net_assets": "parent_equity",
    "receivables": "accounts_receivable",
    "inventory": "inventory",
    "eps": "eps",
    "bvps": "bvps",
}
"""Column of the terminal's snapshot -> indicator."""
_STATEMENTS = {
    "income": ("revenue", "operating_profit", "total_profit", "net_profit"),
    "balance": ("total_assets", "fixed_assets", "parent_equity", "accounts_receivable", "inventory"),
    "cashflow": ("operating_cash_flow",),
}
"""Statement -> the terminal's items of it."""
_MOST_PERIODS = 20
_COLUMNS = ("revenue", "net_profit", "eps", "bvps")


def few_codes(ctx: FetchContext, scope: Scope) -> bool:
    """Codes whose own pages are asked."""
    return scope.codes is not None and len(scope.codes) <= FEW_CODES


def by_report(ctx: FetchContext, scope: Scope) -> bool:
    """The whole market, or more codes than pages are asked of."""
    return not few_codes(ctx, scope)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return stacked(parts, ["code", "report_period"])


# -- the whole market, by report period -----------------------------------------------------------------


Codes = tuple[str, ...]


def _by_period_or_codes(
    scope: Scope, of_period: Callable[[str], pd.DataFrame], of_codes: Callable[[Codes], pd.DataFrame]
) -> pd.DataFrame:
    if scope.codes is None:
        return _joined([of_period(period) for period in open_on_any(scope.dates)])
    return _joined([of_codes(codes) for codes in scope.named_groups()])


def summaries(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Key figures of the open periods (of codes all of theirs), shared with `summary_changes`."""

    def of(period: str) -> pd.DataFrame:
        return ctx.once(("summaries", period), lambda view: view.eastmoney.summaries(period))

    def of_some(codes: Codes) -> pd.DataFrame:
        return ctx.once(("summaries", codes), lambda view: view.eastmoney.summaries_of(codes))

    return _by_period_or_codes(scope, of, of_some)


def statements(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Balance, income and cash flow of the open periods; of codes all of theirs."""
    return _by_period_or_codes(scope, ctx.eastmoney.statements, ctx.eastmoney.statements_of)


def summary_changes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Revenue and net profit of the open periods with their change on the year before; no further call."""
    rows = summaries(ctx, scope)
    parts = [
        rows[["code", "report_period"]].assign(
            item=item, value=rows.get(item), change_pct=rows.get(f"{item}_yoy")
        )
        for item in ("revenue", "net_profit")
    ]
    return _with_value_before(pd.concat(parts, ignore_index=True))


def express(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Express reports of the open periods; of codes all of theirs."""
    return _by_period_or_codes(scope, ctx.eastmoney.express, ctx.eastmoney.express_of)


def forecasts(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Forecasts of the open periods; of codes all of theirs."""
    return _by_period_or_codes(scope, ctx.eastmoney.forecasts, ctx.eastmoney.forecasts_of)


# -- single companies -----------------------------------------------------------------------------------


def main_indicators(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every period of each code with all its indicators."""
    return _joined(ctx.each(ctx.eastmoney.main_indicators, ctx.symbols(scope.codes, "stock")))


def company_statements(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every item of the newest 20 periods of each code, shared with `statement_changes`."""

    def of(symbol: str) -> pd.DataFrame:
        return ctx.once(
            ("company_statements", symbol), lambda view: view.eastmoney.company_statements(symbol)
        )

    return _joined(ctx.each(of, ctx.symbols(scope.codes, "stock")))


def statement_changes(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every item of each code with its change on the year before; no further call."""
    rows = company_statements(ctx, scope)
    if rows.empty:
        return rows
    # An item's name is unique over the three statements but for a few totals: the first one is kept.
    rows = rows.drop_duplicates(subset=["code", "report_period", "item"])
    return _with_value_before(rows.rename(columns={"yoy": "change_pct"}))


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The newest snapshot of every stock, one call each; the figures are rounded to seven digits. What the
    terminal does not know is 0 there."""
    found = ctx.each(ctx.tdx.finance, ctx.symbols(scope.codes, "stock"))
    rows = _joined(found)
    if rows.empty:
        return pd.DataFrame(columns=["code", "report_period"])
    rows = rows[rows["report_period"].notna()]
    if scope.codes is None:
        rows = rows[rows["report_period"].isin(list(open_on_any(scope.dates)))]
    made = rows[["code", "report_period"]].assign(ann_date=rows["updated_date"])
    reported = rows[list(_TERMINAL)].rename(columns=_TERMINAL).astype(float)
    reported = reported.where(reported != 0)
    made["indicators"] = [
        canonical_json({name: value for name, value in row.items() if not math.isnan(value)})
        for row in reported.to_dict("records")
    ]
    return made.assign(**{name: reported[name] for name in _COLUMNS}).reset_index(drop=True)


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The items of the second quote site's statements for the newest 20 periods of each code, three calls
    each; it has no dates of notices."""
    parts = [
        part
        for statement in _STATEMENTS
        for part in ctx.each(partial(_statement_of, ctx, statement), ctx.symbols(scope.codes, "stock"))
    ]
    return _joined(parts)


def _statement_of(ctx: FetchContext, statement: str, symbol: str) -> pd.DataFrame:
    return ctx.sina.statement(symbol, statement, _MOST_PERIODS)


def terminal_items(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The newest snapshot of each code as items of its statements, one call each."""
    rows = _joined(ctx.each(ctx.tdx.finance, ctx.symbols(scope.codes, "stock")))
    if rows.empty:
        return pd.DataFrame(columns=["code", "report_period", "statement", "item"])
    reported = rows[rows["report_period"].notna()].rename(columns=_TERMINAL)
    parts = [
        reported[["code", "report_period"]].assign(
            ann_date=reported["updated_date"],
            statement=statement,
            item=item,
            value=reported[item].astype(float),
        )
        for statement, items in _STATEMENTS.items()
        for item in items
    ]
    made = pd.concat(parts, ignore_index=True)
    return made[made["value"].notna() & (made["value"] != 0)].reset_index(drop=True)


# -- arithmetic -----------------------------------------------------------------------------------------


def _with_value_before(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with `prev_value`: the value of the year before, as far as value and change determine it. A
    change is stated against the absolute value, so with one of more than 100 % a profit may have followed a
    loss or a smaller profit: then it is null."""
    value, share = rows["value"].astype(float), rows["change_pct"].astype(float) / 100
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(value >= 0, value / (1 + share), value / (1 - share))
    known = (share.abs() <= 1) & (share != -1) & (share != 1)
    # Revenue cannot have been below zero, however much it grew.
    grown = (rows["item"] == "revenue") & (share > -1) & (value >= 0)
    kept = pd.Series(before, index=rows.index).where(known | grown).round(2)
    return rows.assign(prev_value=kept)
