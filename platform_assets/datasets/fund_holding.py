"""raw_fund_holding: funds that hold a company at the end of a report period."""

import pandas as pd

from core.declaration.columns import S16, S128, Amt, Big, Code, Date, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.report_periods import latest_ended, period_away, previous_period
from platform_assets.datasets._rotation import REPORTED, codes_to_fetch
from resources.upstreams.fetch_context import FetchContext

_KEY = ["code", "report_period", "fund_code"]
_PERIODS_OF_CODES = 4
_PERIODS_OF_MARKET = 2


class FundHolding(Model):
    """Holding of one fund in one company."""

    code: Code = key("security code")
    report_period: Date = key("end of the report period")
    fund_code: S16 = key("code of the fund")
    fund_name: S128 = col(title="fund")
    hold_shares: Big = col("sh", "shares held", ge=0)
    hold_value: Amt = col("CNY", "value of the shares", ge=0)
    nav_ratio_pct: Pct = col("pct", "value / net assets of the fund", ge=0)
    float_ratio_pct: Pct = col("pct", "shares held / float shares", ge=0, le=100)
    change_shares: Big = col("sh", "change since the period before; of a new holder all shares")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One request per code for the newest periods and the one before them: one call, or a few where more
    than 500 funds hold. Of the market the codes that reported and a hundred in turn."""
    count = _PERIODS_OF_MARKET if scope.codes is None else _PERIODS_OF_CODES
    periods = [period_away(latest_ended(scope.until), -back) for back in range(count + 1)]

    def of(symbol: str) -> pd.DataFrame:
        return with_changes(ctx.eastmoney.fund_positions(symbol, periods), periods)

    symbols = ctx.symbols(codes_to_fetch(ctx, scope), "stock")
    return stacked(ctx.each(of, symbols, pages=True), _KEY)


def with_changes(rows: pd.DataFrame, periods: list[str]) -> pd.DataFrame:
    """Rows of all `periods` (newest first) but the last, with the change since the one before. Where no fund
    is known of the period before, nothing is said."""
    held = {(row.report_period, row.fund_code): row.hold_shares for row in rows.itertuples(index=False)}
    known = set(rows["report_period"])
    before = [previous_period(day) for day in rows["report_period"]]
    pairs = zip(before, rows["fund_code"], rows["hold_shares"], strict=True)
    changes = [shares - held.get((day, fund), 0.0) if day in known else None for day, fund, shares in pairs]
    reported = rows.assign(change_shares=pd.Series(changes, index=rows.index, dtype="float64"))
    return reported[reported["report_period"].isin(periods[:-1])]


DATASET = Raw(
    name="fund_holding",
    title="Funds that hold a company, by report period",
    model=FundHolding,
    partition=Partition.CODE,
    sources=(Source("eastmoney", portal),),
    per_code=True,
    reads=REPORTED,
).alone(
    subject="holders",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock(
            "get_fund_holding", "of_period", "funds holding one code", ttl=3600, order="-hold_shares"
        ).takes(code=REQUIRED, report_period=DAY, limit=100),
    ),
)
