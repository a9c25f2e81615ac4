"""fusion_finance_indicator: cumulative key figures of every stock by report period.

Known from the date of its notice on; a correction is a new version. While only an express report is out, its
figures are used (`is_express`); a statement replaces it whole. Single quarters are computed on read.
Columns marked "by code" are on the pages of a single company alone, which a download by codes
(`finstmt`, `fin_indicator`) asks: the reports of the whole market that a day loads do not have them.
"""

import json
from typing import Any

import pandas as pd
import pandera.pandas as pa

from core.declaration import columns as t
from core.declaration.columns import Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, TEXT, batch, latest, market, stock, timeseries
from core.declaration.rules import Contract, Fields, Partition, Soft, on_date, period
from core.declaration.scope import Context
from core.report_periods import possible_notice, report_type
from platform_assets.datasets import _finance_rules as rules
from platform_assets.datasets import _finance_sources as ask
from platform_assets.datasets._dated import SPELLING
from platform_assets.datasets._finance_rules import earnings_follow_shares
from platform_assets.datasets._notices import is_announced

_QUARTER_END = r"^\d{4}-(03-31|06-30|09-30|12-31)$"


def _period_key() -> Any:
    return key("report period", str_matches=_QUARTER_END)


class FinanceIndicator(Model):
    """One report period of one stock. Amounts are cumulative since 1 January, per parent company's share
    where that is the figure in use (net profit)."""

    code: t.Code = key("security code")
    report_period: t.Date = _period_key()
    report_type: t.S4 = col(title="Q1, H1, Q3 or FY", isin=["Q1", "H1", "Q3", "FY"])
    ann_date: t.Date = col(title="date of the notice; never before the period has ended")
    name: t.S64 = col(title="name on the date of the notice", computed=True, varies=SPELLING)
    revenue: t.Amt = col("CNY", "revenue")
    revenue_yoy: t.Pct = col("pct", "revenue, year on year")
    revenue_qoq: t.Pct = col("pct", "revenue of the quarter on the quarter before", computed=True)
    net_profit: t.Amt = col("CNY", "net profit of the parent")
    net_profit_yoy: t.Pct = col("pct", "net profit, year on year")
    net_profit_qoq: t.Pct = col("pct", "net profit of the quarter on the quarter before", computed=True)
    deducted_net_profit: t.Amt = col("CNY", "net profit without one-off items")
    deducted_net_profit_yoy: t.Pct = col("pct", "net profit without one-off items, year on year; by code")
    operating_profit: t.Amt = col("CNY", "operating profit")
    total_profit: t.Amt = col("CNY", "profit before tax")
    operating_cost: t.Amt = col("CNY", "cost of what was sold")
    sell_expense: t.Amt = col("CNY", "selling expense")
    admin_expense: t.Amt = col("CNY", "administration expense")
    finance_expense: t.Amt = col("CNY", "finance expense")
    rd_expense: t.Amt = col("CNY", "research expense; by code")
    gross_margin: t.Pct = col("pct", "(revenue - operating cost) / revenue")
    net_margin: t.Pct = col("pct", "net profit / revenue")
    roe: t.Pct = col("pct", "return on equity, weighted average")
    roe_diluted: t.Pct = col("pct", "net profit / equity of the parent at the end; by code", computed=True)
    roa: t.Pct = col("pct", "net profit / mean of total assets")
    roic: t.Pct = col(
        "pct", "profit before interest, taxed as the profit was / (equity + loans); by code", computed=True
    )
    eps: t.Px = col("CNY", "earnings per share, basic")
    eps_diluted: t.Px = col("CNY", "earnings per share, diluted; by code")
    deducted_eps: t.Px = col("CNY", "earnings per share without one-off items")
    bvps: t.Px = col("CNY", "book value per share")
    ocfps: t.Px = col("CNY", "operating cash flow per share")
    capital_reserve_ps: t.Px = col("CNY", "capital reserve per share; by code")
    undistributed_ps: t.Px = col("CNY", "retained profit per share; by code")
    operating_cash_flow: t.Amt = col("CNY", "operating cash flow")
    investing_cash_flow: t.Amt = col("CNY", "investing cash flow")
    financing_cash_flow: t.Amt = col("CNY", "financing cash flow")
    capex: t.Amt = col("CNY", "paid for fixed and intangible assets; by code")
    free_cash_flow: t.Amt = col("CNY", "operating cash flow - capex; by code", computed=True)
    total_assets: t.Amt = col("CNY", "total assets", ge=0)
    total_liabilities: t.Amt = col("CNY", "total liabilities")
    total_equity: t.Amt = col("CNY", "equity, minorities included")
    parent_equity: t.Amt = col("CNY", "equity of the parent; by code")
    cash: t.Amt = col("CNY", "cash")
    accounts_receivable: t.Amt = col("CNY", "accounts receivable")
    inventory: t.Amt = col("CNY", "inventory")
    fixed_assets: t.Amt = col("CNY", "fixed assets; by code")
    goodwill: t.Amt = col("CNY", "goodwill; by code")
    contract_liabilities: t.Amt = col("CNY", "contract liabilities; by code")
    short_debt: t.Amt = col("CNY", "short loans; by code")
    long_debt: t.Amt = col("CNY", "long loans; by code")
    debt_ratio: t.Pct = col("pct", "total liabilities / total assets")
    current_ratio: t.F = col("", "current assets / current liabilities; by code")
    quick_ratio: t.F = col("", "(current assets - inventory) / current liabilities; by code")
    asset_turnover: t.F = col("", "revenue / mean of total assets; by code")
    inventory_days: t.F = col("", "days that inventory turns over in; by code")
    receivable_days: t.F = col("", "days until receivables are paid; by code")
    audit_opinion: t.S32 = col(
        title="audit opinion", no_source="statements have it as text, and raw_finstmt holds amounts"
    )
    is_express: t.Bool = col(title="figures of an express report")

    @pa.dataframe_check
    def tells_a_result(cls, rows: pd.DataFrame) -> pd.Series:
        """Revenue and net profit are not both missing."""
        return rows["revenue"].notna() | rows["net_profit"].notna()

    @pa.dataframe_check
    def no_express_beside_a_statement(cls, rows: pd.DataFrame) -> pd.Series:
        """An express report is kept only while no source has the statement."""
        is_express = rows["is_express"].fillna(False).astype(bool)
        stated = (~is_express).groupby([rows["code"], rows["report_period"]]).transform("any")
        return ~(is_express & stated)


class RawStatement(Model):
    """One item of a statement: balance, income or cashflow."""

    code: t.Code = key("security code")
    report_period: t.Date = _period_key()
    statement: t.S8 = key("balance, income or cashflow", isin=["balance", "income", "cashflow"])
    item: t.S128 = key("column of fusion_finance_indicator, or the upstream's name in small letters")
    src: t.K32 = key("upstream")
    value: t.Amt = col("CNY", "amount, cumulative")
    ann_date: t.Date = col(title="date of the notice")
    yoy: t.Pct = col("pct", "change on the year before")


@with_columns(
    FinanceIndicator.code, FinanceIndicator.report_period, Received.src, FinanceIndicator.ann_date,
    "indicators", FinanceIndicator.revenue, FinanceIndicator.net_profit, FinanceIndicator.deducted_net_profit,
    FinanceIndicator.roe, FinanceIndicator.roa, FinanceIndicator.gross_margin, FinanceIndicator.net_margin,
    FinanceIndicator.debt_ratio, FinanceIndicator.eps, FinanceIndicator.bvps, FinanceIndicator.ocfps,
    FinanceIndicator.revenue_yoy, FinanceIndicator.net_profit_yoy,
)  # fmt: skip
class RawIndicator(Model):
    """Key figures of one report period as one source reports them."""

    indicators: t.Json = col(title="every number of the report, by column of fusion_finance_indicator")
    roa: t.Pct = col("pct", "return on assets; of the pages of single codes alone")
    gross_margin: t.Pct = col("pct", "gross margin")
    net_margin: t.Pct = col("pct", "net margin; of the pages of single codes alone")
    debt_ratio: t.Pct = col("pct", "debt ratio; of the pages of single codes alone")
    eps: t.Px = col("CNY", "earnings per share")


@with_columns(
    RawIndicator.code, RawIndicator.report_period, RawIndicator.ann_date, RawIndicator.revenue,
    RawIndicator.revenue_yoy, RawIndicator.net_profit, RawIndicator.net_profit_yoy, RawIndicator.eps,
    RawIndicator.bvps, RawIndicator.roe,
)  # fmt: skip
class RawExpress(Model):
    """An express report: unaudited results before the statements."""

    roe: t.Pct = col("pct", "return on equity")


class RawForecast(Model):
    """Forecast of one figure by the company; every notice is a row, the newest is in force."""

    code: t.Code = key("security code")
    report_period: t.Date = _period_key()
    indicator: t.S32 = key("net_profit, deducted_net_profit, eps or revenue")
    ann_date: t.Date = key("date of the notice")
    predict_type: t.S16 = col(title="预增, 略增, 扭亏, 续盈, 预减, 略减, 首亏, 续亏, 减亏, 不确定")
    lower: t.Amt = col("CNY", "lower end")
    upper: t.Amt = col("CNY", "upper end")
    change_lower_pct: t.Pct = col("pct", "lower end, year on year")
    change_upper_pct: t.Pct = col("pct", "upper end, year on year")
    prev_value: t.Amt = col("CNY", "the year before")
    content: t.Text = col(title="text of the notice")
    reason: t.Text = col(title="reason that the company gives")


class AuxChanges(Model):
    """One item of a report with its value of the year before."""

    code: t.Code = key("security code")
    report_period: t.Date = _period_key()
    item: t.S64 = key("column of fusion_finance_indicator, or the upstream's name in small letters")
    value: t.Amt = col("CNY", "amount, cumulative")
    prev_value: t.Amt = col("CNY", "the year before, from value and change of the same answer")
    change_pct: t.Pct = col("pct", "change on the year before")
    explanation: t.Text = col(title="explanation", no_source="no documented report has it")


_STAGED = set(FinanceIndicator.to_schema().columns)


# -- staging ------------------------------------------------------------------------------------------


def _typed(rows: pd.DataFrame, *, is_express: bool = False) -> pd.DataFrame:
    """A notice before the end of the period is none: another source may have the true one."""
    return rows.assign(
        report_type=rows["report_period"].map(report_type),
        is_express=is_express,
        ann_date=possible_notice(rows["ann_date"], rows["report_period"]),
    )


def items_as_columns(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Statement items become columns, the change of an item its `_yoy`."""
    keys = ["code", "report_period", "src"]
    known = rows[rows["item"].isin(list(_STAGED))].drop_duplicates(subset=[*keys, "item"])
    wide = known.pivot(index=keys, columns="item", values="value")
    changes = known[known["yoy"].notna() & (known["item"] + "_yoy").isin(list(_STAGED))]
    growth = changes.assign(item=changes["item"] + "_yoy").pivot(index=keys, columns="item", values="yoy")
    # Statements of one period may have different notices: all of them are known from the last one on.
    out = wide.join(growth).join(rows.groupby(keys)["ann_date"].max()).reset_index()
    return _typed(out)


def indicators_as_columns(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The named columns, and what else `indicators` holds of the fused ones."""
    made = rows.drop(columns="indicators")
    reported = [json.loads(text) if text else {} for text in rows["indicators"]]
    more = sorted({name for one in reported for name in one} & _STAGED)
    for name in more:
        values = pd.Series([one.get(name) for one in reported], index=rows.index, dtype=float)
        made[name] = made[name].fillna(values) if name in made.columns else values
    return _typed(made)


def express_alone(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Express reports of periods that no statement or indicator row is there of."""
    codes = sorted(set(rows["code"]))
    since, until = rows["report_period"].min(), rows["report_period"].max()
    stated = [
        context.read(
            table, columns=("code", "report_period"), codes=rules.few(codes), since=since, until=until
        )
        for table in ("raw_fin_indicator", "raw_finstmt")
    ]
    known = pd.MultiIndex.from_frame(pd.concat(stated, ignore_index=True)[["code", "report_period"]])
    alone = ~pd.MultiIndex.from_frame(rows[["code", "report_period"]]).isin(known)
    return _typed(rows[alone], is_express=True)


def changes_as_columns(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Items become columns, their change `_yoy`; no notice date."""
    return items_as_columns(rows.assign(yoy=rows["change_pct"], ann_date=None, statement="changes"), context)


def _raw(
    name: str,
    title: str,
    model: type[Model],
    *sources: Source,
    per_code: bool = False,
    also_tasks: tuple[str, ...] = (),
) -> Raw:
    """A RAW table by report period; it may be empty before the first reports."""
    return Raw(
        name=name,
        title=title,
        model=model,
        partition=Partition.REPORT_PERIOD,
        sources=sources,
        per_code=per_code,
        also_tasks=also_tasks,
    )


DATASET = Dataset(
    name="finance_indicator",
    importable=True,
    subject="financials",
    title="Key figures by report period",
    model=FinanceIndicator,
    domain="daily",
    partition=Partition.REPORT_PERIOD,
    raw=(
        _raw(
            "finstmt",
            "Items of the three statements",
            RawStatement,
            Source("eastmoney", ask.statements, only_when=ask.by_report),
            Source("em_f10", ask.company_statements, only_when=ask.few_codes),
            Source("sina", ask.second_quote_site, only_when=ask.few_codes),
            Source("tdx", ask.terminal_items, only_when=ask.few_codes),
        ),
        _raw(
            "fin_indicator",
            "Key figures of a report; of single codes all indicators",
            RawIndicator,
            Source("eastmoney", ask.summaries, only_when=ask.by_report),
            Source("em_f10", ask.main_indicators, only_when=ask.few_codes),
            Source("tdx", ask.terminal),
        ),
        _raw("earnings_express", "Express reports", RawExpress, Source("eastmoney", ask.express)),
        _raw(
            "aux_finance_changes",
            "Items of a report with their change on the year before, from answers of the other tables",
            AuxChanges,
            Source("em_f10", ask.summary_changes, only_when=ask.by_report),
            Source("em_f10", ask.statement_changes, only_when=ask.few_codes),
            also_tasks=("aux_f10_events_sync",),
        ),
        _raw(
            "earnings_forecast",
            "Forecasts of results, a row per figure and notice",
            RawForecast,
            Source("eastmoney", ask.forecasts),
            per_code=True,
        ),
    ),
    feeds={
        "raw_finstmt": items_as_columns,
        "raw_fin_indicator": indicators_as_columns,
        "raw_earnings_express": express_alone,
        "aux_finance_changes": changes_as_columns,
    },
    order=("eastmoney", "em_f10", "sina", "tdx"),
    fuse=Fields(tolerance={"revenue": 0.01, "net_profit": 0.01}),
    contract=(
        Contract(rules.has_ended, "a report of a period that has not ended"),
        Contract(is_announced, "a notice of a day to come"),
    ),
    derive=(
        rules.of_known_codes,
        rules.add_first_days,
        rules.add_names,
        rules.fill_ratios,
        rules.add_returns,
        rules.add_from_periods_before,
    ),
    soft=(
        Soft(rules.balances, "assets are not liabilities + equity, by more than 1 %"),
        Soft(rules.debt_ratio_in_range, "debt ratio outside 0..200 %"),
        Soft(rules.roe_in_range, "return on equity beyond 300 %"),
        Soft(rules.margin_follows_profit, "net margin is not net profit / revenue, by more than 1 point"),
        Soft(
            rules.gross_margin_follows_costs,
            "gross margin is not what costs leave of revenue, or above 100 %",
        ),
        Soft(rules.growth_follows_the_year_before, "growth is not that of the amounts of the year before"),
        Soft(earnings_follow_shares, "earnings a share are not profit by the shares of the company"),
        Soft(rules.says_something, "neither revenue nor profit"),
        Soft(rules.per_share_in_range, "more than 1,000 CNY of earnings or 5,000 CNY of equity a share"),
        Soft(rules.announced_after_the_period, "no source has a notice after the end of the period"),
        Soft(rules.figures_are_as_announced, "the latest figures of the period, restated ones among them"),
        Soft(rules.notice_is_stated, "the day of the notice is estimated: after the legal deadline"),
    ),
    undated={"fusion_stock_master": ("code",)},
    reads=("fusion_stock_master", "ref_name_history", "ref_exright"),
    reads_own_past=True,
    public_at=on_date("ann_date"),
    freshness=period(90),
    may_be_empty=True,  # in the first days of a year there is no report
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        latest("get_finance_indicator", "latest finance_indicator row of one code", 3600),
        batch("get_finance_indicator_batch", "latest finance_indicator rows of many codes", 3600),
        timeseries("get_finance_indicator_history", "periods", "finance rows of one code", ttl=3600).takes(
            code=REQUIRED, periods=8, ascending=True
        ),
        market(
            "get_finance_indicator_by_date",
            "by_date",
            "finance_indicator rows of all codes on one date",
            ttl=3600,
        ).takes(report_period=DAY, sort=TEXT, limit=200, offset=0),
        timeseries(
            "get_finance_growth", "single_quarters", "single-quarter figures, yoy and qoq", ttl=3600
        ).takes(code=REQUIRED, periods=8),
        stock(
            "get_earnings_forecast", "newest", "earnings forecasts", ttl=3600, table="raw_earnings_forecast"
        ).takes(code=REQUIRED, limit=8),
        market(
            "get_earnings_forecast_by_period",
            "by_date",
            "forecasts of one period",
            ttl=3600,
            table="raw_earnings_forecast",
        ).takes(report_period=DAY, sort=TEXT, limit=200, offset=0),
        stock(
            "get_earnings_express", "newest", "express reports", ttl=3600, table="raw_earnings_express"
        ).takes(code=REQUIRED, limit=8),
        stock(
            "get_finance_statement", "statement", "statement items by period", ttl=3600, table="raw_finstmt"
        ).takes(code=REQUIRED, statement="income", periods=8),
        stock(
            "get_finance_indicators_full",
            "indicators",
            "78 indicators x 12 periods",
            ttl=3600,
            returns="object",
            table="raw_fin_indicator",
        ).takes(code=REQUIRED, periods=12),
        stock(
            "get_finance_changes",
            "changes",
            "explained statement changes",
            ttl=3600,
            table="aux_finance_changes",
        ).takes(code=REQUIRED, report_period=DAY),
    ),
)
