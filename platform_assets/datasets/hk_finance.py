"""raw_hk_finance: annual and half-yearly figures of companies in Hong Kong. A RAW table alone.

Loaded are the companies that are listed at home as well, a tenth of them a day, and any that is asked for by
a code of five digits.
"""

import zlib
from datetime import date

import pandas as pd

from core.declaration.columns import S4, S64, Amt, Code, Date, Json, Model, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import canonical_json, stacked
from core.declaration.interfaces import REQUIRED, stock
from core.declaration.rules import Partition, calendar_days
from core.declaration.scope import Scope
from resources.upstreams.fetch_context import FetchContext

ROUND_DAYS = 10
"""Days in which every company is asked once."""
_WITH_ITEMS = 4
"""Newest periods that are asked for with whole statements."""
_STATEMENTS = ("balance", "income", "cashflow")
_TOTALS = {"total_assets": ("balance", "总资产"), "operating_cash_flow": ("cashflow", "经营业务现金净额")}
_HK_DIGITS = 5


class HkFinance(Model):
    """One report period of one company, in its own currency."""

    code: Code = key("security code, five digits")
    report_period: Date = key("end of the report period")
    name: S64 = col(title="name")
    currency: S4 = col(title="reporting currency")
    revenue: Amt = col("CCY", "revenue")
    revenue_yoy: Pct = col("pct", "revenue, year on year")
    net_profit: Amt = col("CCY", "net profit of the shareholders")
    net_profit_yoy: Pct = col("pct", "net profit, year on year")
    eps: Px = col("CCY", "earnings per share")
    bvps: Px = col("CCY", "book value per share")
    roe: Pct = col("pct", "return on mean equity")
    gross_margin: Pct = col("pct", "gross margin")
    net_margin: Pct = col("pct", "net margin")
    debt_ratio: Pct = col("pct", "debts / assets", ge=0)
    total_assets: Amt = col("CCY", "assets, of the newest four periods")
    operating_cash_flow: Amt = col("CCY", "operating cash flow, of the newest four periods")
    dividend_ps: Px = col(
        "CCY", "dividend per share", no_source="dividends are published as text, by ex-date"
    )
    items: Json = col(title="statements of the newest four periods: statement -> [{item, value}]")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Four calls a company: some sixty a day."""
    parts = ctx.each(lambda code: company(ctx, code), requested(ctx, scope))
    return stacked(parts, ["code", "report_period"])


def requested(ctx: FetchContext, scope: Scope) -> list[str]:
    """Codes in Hong Kong: those asked for, by themselves or by their code at home; else those whose turn it
    is."""
    pairs = ctx.read("ref_ah_pair", columns=("a_code", "h_code"))
    if scope.codes is not None:
        at_home = pairs[pairs["a_code"].isin(list(scope.codes))]["h_code"].tolist()
        return sorted({*at_home, *(code for code in scope.codes if len(code) == _HK_DIGITS)})
    days = {date.fromisoformat(day).toordinal() % ROUND_DAYS for day in scope.dates}
    return sorted(code for code in pairs["h_code"] if zlib.crc32(code.encode()) % ROUND_DAYS in days)


def company(ctx: FetchContext, code: str) -> pd.DataFrame:
    """Every period of a company, the newest ones with their statements."""
    rows: pd.DataFrame = ctx.eastmoney.hk_indicators(code)
    if rows.empty:
        return rows
    newest = sorted(rows["report_period"], reverse=True)[:_WITH_ITEMS]
    reported = {kind: ctx.eastmoney.hk_statement(code, kind, newest) for kind in _STATEMENTS}
    rows = rows.assign(items=[_items(reported, period) for period in rows["report_period"]])
    for column, (kind, item) in _TOTALS.items():
        found = reported[kind][reported[kind]["item"] == item].drop_duplicates(subset="report_period")
        rows[column] = rows["report_period"].map(found.set_index("report_period")["value"]).astype(float)
    return rows


def _items(reported: dict[str, pd.DataFrame], period: str) -> str | None:
    held = {}
    for kind, rows in reported.items():
        own = rows[rows["report_period"] == period]
        values = own["value"].astype(object).where(own["value"].notna(), None)
        if len(own):
            held[kind] = [
                {"item": item, "value": value} for item, value in zip(own["item"], values, strict=True)
            ]
    return canonical_json(held) if held else None


DATASET = Raw(
    name="hk_finance",
    title="Results of companies in Hong Kong by report period",
    model=HkFinance,
    partition=Partition.CODE,
    sources=(Source("eastmoney", portal),),
    reads=("ref_ah_pair",),
    freshness=calendar_days(200, "report_period"),
    topical=True,
).alone(
    subject="other_securities",
    title="Results of companies in Hong Kong",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock("get_hk_finance", "periods", "HK key figures", ttl=3600).takes(code=REQUIRED, periods=8),
    ),
)
