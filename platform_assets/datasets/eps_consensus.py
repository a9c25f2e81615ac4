"""aux_worth: earnings per share that brokers expect, by company and year.

The portal has the mean of every company that is followed in one report. The topic portal's page of one
company has more (lowest, highest, profit) and is asked for the codes with a new research report, unless
VALUATION_THS_EPS_ENABLED is off. The rows of both are stored, distinguished by `src`.
"""

import pandas as pd

from core.declaration.columns import K32, Amt, Code, Date, Int, Model, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.errors import PayloadError, Permanent
from resources.upstreams.fetch_context import FetchContext

PAGES, REPORT = "ths", "em_f10"
_MOST_PAGES = 100
_KEY = ("code", "forecast_year", "src")


class AuxWorth(Model):
    """Consensus forecast of one company for one year."""

    code: Code = key("security code")
    forecast_year: Int = key("year", ge=2000, le=2100)
    src: K32 = key("upstream: ths the company's page, em_f10 the report of all companies")
    update_date: Date = col(title="day of the newest forecast; the report tells none")
    org_count: Int = col("", "brokers", ge=0)
    eps_min: Px = col("CNY", "lowest EPS; the report tells none")
    eps_mean: Px = col("CNY", "mean EPS")
    eps_max: Px = col("CNY", "highest EPS; the report tells none")
    net_profit_mean: Amt = col("CNY", "mean net profit; the report tells none")
    industry_mean: Px = col("CNY", "mean EPS of the industry; the report tells none")


def pages(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per code: of the market the codes with a research report in the days of the scope, at most a
    hundred."""
    codes = scope.codes if scope.codes is not None else _researched(ctx, scope)
    listed = [symbol[2:] for symbol in ctx.symbols(codes, "stock")]

    def page(code: str) -> pd.DataFrame:
        try:
            rows: pd.DataFrame = ctx.ths.eps_consensus(code)
        except Permanent as error:  # no page of this company: the others have theirs
            raise PayloadError(f"worth {code}: {error}", source=PAGES) from error
        return rows

    return stacked(ctx.each(page, listed, pages=True), _KEY[:2])


def report(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """About seven calls for the market, one for a hundred codes. A year is expected until its result is
    reported, which is months after it."""
    return stacked(map(ctx.eastmoney.consensus, scope.code_groups()), _KEY[:2])


def pages_are_read(ctx: FetchContext, scope: Scope) -> bool:
    """Unless they are switched off."""
    return bool(ctx.ths_eps)


def _researched(ctx: FetchContext, scope: Scope) -> tuple[str, ...]:
    since, until = scope.event_days(ctx.calendar)
    rows = ctx.read("raw_reports", columns=("code", "pub_date"), since=since, until=until)
    newest = rows.sort_values(["pub_date", "code"], ascending=[False, True])["code"]
    return tuple(dict.fromkeys(newest))[:_MOST_PAGES]


DATASET = Raw(
    name="aux_worth",
    title="Consensus by company and year: the report of all, the pages of some",
    model=AuxWorth,
    partition=Partition.CODE,
    date_column="update_date",
    sources=(
        Source(PAGES, pages, only_when=pages_are_read, parts=("pages of companies",)),
        Source(REPORT, report, parts=("report of all companies",)),
    ),
    combine="all",
    reads=("raw_reports",),
    tasks=("aux_f10_events_sync",),
).alone(
    name="eps_consensus",
    subject="financials",
    title="Earnings per share that brokers expect",
    interfaces=(stock("get_eps_consensus", "by_year", "consensus EPS", ttl=3600).takes(code=REQUIRED),),
)
