"""fusion_margin: margin trading of every security that may be bought on credit, by trade date.

The figures of a date appear at 09:00 of the next trade date, so a load takes the trade date before with it.
The exchange's own figures win; what one of them does not publish (lending in CNY at Shanghai, repayments at
Shenzhen) comes from the portal, else follows from the balances.
"""

from collections.abc import Callable

import pandas as pd

from core.declaration import columns as t
from core.declaration import rules
from core.declaration.columns import S8, S64, Amt, Big, Code, Date, Model, Pct, Px, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, TEXT, by_date, history, latest, timeseries
from core.declaration.scope import Context, Scope
from platform_assets.datasets._events import EXCHANGES
from resources.upstreams.fetch_context import FetchContext

PUBLISHED = "09:00"
_TOTAL = "TOTAL_"
_COVERAGE = 0.95


class Margin(Model):
    """One security on one trade date."""

    code: Code = key("security code")
    date: Date = key("trade date")
    name: S64 = col(title="name")
    rzye: Amt = col("CNY", "financing balance", nullable=False, ge=0)
    rzmre: Amt = col("CNY", "bought on credit", ge=0)
    rzche: Amt = col("CNY", "credit repaid")
    rzjme: Amt = col("CNY", "net bought on credit", computed=True)
    rqye: Amt = col("CNY", "lending balance", ge=0)
    rqmcl: Big = col("sh", "sold short", ge=0)
    rqchl: Big = col("sh", "short covered", ge=0)
    rqjmg: Big = col("sh", "net sold short", computed=True)
    rzrqye: Amt = col("CNY", "financing + lending balance", ge=0)
    fin_ratio_pct: Pct = col("pct", "financing balance / float market cap", ge=0)
    loan_volume: Big = col("sh", "lending balance in shares", ge=0)
    close: Px = col("CNY", "closing price", computed=True)
    change_pct: Pct = col("pct", "change of the day", computed=True)


@with_columns(
    Margin.code, Margin.date, Margin.rzye, Margin.rzmre, Margin.rzche, Margin.rqye, Margin.rqmcl,
    Margin.rqchl, Margin.loan_volume, Margin.rzrqye, Margin.fin_ratio_pct, Margin.close,
)  # fmt: skip
class RawMargin(Model):
    """One security on one trade date as the portal's report has it."""

    rzche: Amt = col("CNY", "credit repaid", ge=0)
    close: Px = col("CNY", "closing price", ge=0)


@with_columns(
    RawMargin.code, RawMargin.date, t.Received.src, RawMargin.rzye, RawMargin.rzmre, RawMargin.rzche,
    RawMargin.rqye, RawMargin.loan_volume, RawMargin.rzrqye,
)  # fmt: skip
class AuxMargin(Model):
    """The same report, stored as one of the F10 tables."""


@with_columns(
    RawMargin.date, RawMargin.code, "exchange", "name", RawMargin.rzye, RawMargin.rzmre, RawMargin.rzche,
    RawMargin.rqye, RawMargin.rqmcl, RawMargin.rqchl, RawMargin.loan_volume, RawMargin.rzrqye,
)  # fmt: skip
class ExchangeMargin(Model):
    """One security on one trade date as its exchange publishes it; `TOTAL_SH`, `TOTAL_SZ` and `TOTAL_BJ`
    are the sums of the markets."""

    code: Code = key("security code, or TOTAL_SH, TOTAL_SZ, TOTAL_BJ")
    exchange: S8 = col(title="exchange", isin=["SSE", "SZSE", "BSE"])
    name: S64 = col(title="name")


def _by_date(ask: Callable[[str], pd.DataFrame], ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """`ask(day)` for every date of the scope that is out; rows of the scope's codes."""
    days = [day for day in scope.dates if ctx.is_published(day, PUBLISHED)]
    rows = stacked(map(ask, days), ["code", "date"])
    return rows[rows["code"].map(scope.covers).astype(bool)]


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Balances by date, eight calls a market; the tables of one run share them. Codes: a hundred at a time,
    over the whole range of dates at once."""
    if scope.codes is None:
        whole = lambda day: ctx.once(("margin", day), lambda view: view.eastmoney.margin(day))  # noqa: E731
        return _by_date(whole, ctx, scope)

    days = [day for day in scope.dates if ctx.is_published(day, PUBLISHED)]
    if not days:
        return pd.DataFrame(columns=["code", "date"])

    def of(codes: tuple[str, ...]) -> pd.DataFrame:
        return ctx.once(
            ("margin", days[0], days[-1], codes),
            lambda view: view.eastmoney.margin_history(days[0], days[-1], codes),
        )

    rows = pd.concat([of(codes) for codes in scope.named_groups()], ignore_index=True)
    return rows[rows["date"].isin(days)]


def shanghai(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls a date."""
    return _by_date(ctx.sse.margin, ctx, scope)


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls a date."""
    return _by_date(ctx.szse.margin, ctx, scope)


def beijing(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call a date, and one per twenty securities."""
    return _by_date(ctx.bse.margin, ctx, scope)


def without_totals(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The securities; the sums of the markets are read from the RAW table."""
    return rows[~rows["code"].str.startswith(_TOTAL)]


def add_prices(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["close"] = context.stored_column(rows, "fusion_kline_daily", "close")
    rows["change_pct"] = context.stored_column(rows, "fusion_kline_daily", "change_pct")
    return rows


def fill_exchange_gaps(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fills columns that one exchange does not publish and the portal lacks: lending in CNY, the sum,
    repayments (never below 0) and the share of the float cap."""
    rows["rqye"] = rows["rqye"].fillna(rows["loan_volume"].astype(float) * rows["close"])
    rows["rzrqye"] = rows["rzrqye"].fillna(rows["rzye"] + rows["rqye"])
    repaid = (context.on_day_before(rows, "fusion_margin", "rzye") + rows["rzmre"] - rows["rzye"]).clip(
        lower=0
    )
    rows["rzche"] = rows["rzche"].fillna(repaid)
    cap = context.stored_column(rows, "fusion_valuation", "float_market_cap", trusted=True) * 1e4
    rows["fin_ratio_pct"] = rows["fin_ratio_pct"].fillna(rows["rzye"] / cap.where(cap > 0) * 100)
    return rows


def add_nets(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["rzjme"] = rows["rzmre"] - rows["rzche"]
    rows["rqjmg"] = rows["rqmcl"] - rows["rqchl"]
    return rows


def parts_add_up(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["rzrqye"] - rows["rzye"] - rows["rqye"]).abs() > 1)


def rolls_forward(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The balance is that of the trade date before + bought - repaid, within 1 %."""
    expected = context.on_day_before(rows, "fusion_margin", "rzye") + rows["rzmre"] - rows["rzche"]
    return ~((rows["rzye"] - expected).abs() > 0.01 * rows["rzye"].abs())


def covers_the_day_before(rows: pd.DataFrame, context: Context) -> str | None:
    """At least 95 % as many securities as on the trade date before."""
    if rows.empty or context.scope.codes is not None:
        return None
    before = context.calendar.offset(str(rows["date"].iloc[0]), -1)
    stored = context.read("fusion_margin", columns=("code",), since=before, until=before)
    if len(rows) >= _COVERAGE * len(stored):
        return None
    return f"{len(rows)} securities, {len(stored)} on {before}"


DATASET = Dataset(
    name="margin",
    subject="trading",
    title="Margin trading by trade date",
    model=Margin,
    domain="daily",
    late=1,
    raw=(
        Raw(
            name="margin",
            history=120,
            gaps=True,
            title="Margin trading as the portal reports it",
            model=RawMargin,
            sources=(Source("eastmoney", portal, parts=EXCHANGES, every_date=True),),
            late=1,
        ),
        Raw(
            name="aux_rzrq",
            history=120,
            tasks=("fusion_daily_sync", "eod_core"),
            also_tasks=("aux_f10_events_sync",),
            title="Margin trading beside the F10 tables: the portal's report once more, no further call",
            model=AuxMargin,
            sources=(Source("em_f10", portal, parts=EXCHANGES, every_date=True),),
            late=1,
        ),
        Raw(
            name="exchange_margin",
            title="Margin trading as the three exchanges publish it, with the sums of their markets",
            model=ExchangeMargin,
            sources=(
                Source("sse", shanghai, parts=("SSE",), every_date=True),
                Source("szse", shenzhen, parts=("SZSE",), every_date=True),
                Source("bse", beijing, parts=("BSE",)),
            ),
            combine="all",
            late=1,
            freshness=rules.trading(2),
            topical=True,
        ),
    ),
    feeds={"exchange_margin": without_totals, "raw_margin": rules.as_received, "aux_rzrq": rules.as_received},
    order=("sse", "szse", "bse", "eastmoney", "em_f10"),
    # The portal passes on what the exchanges publish: where one figure differs, one of them is another row's.
    fuse=rules.Fields(
        tolerance=dict.fromkeys(("rzye", "rzmre", "rzche", "rqmcl", "rqchl", "loan_volume"), 0.001)
    ),
    derive=(add_prices, fill_exchange_gaps, add_nets),
    soft=(
        rules.Soft(parts_add_up, "the sum is not financing + lending balance"),
        rules.Soft(rolls_forward, "balance differs from the day before + bought - repaid by more than 1 %"),
    ),
    whole=(rules.Whole(covers_the_day_before),),
    reads=("fusion_kline_daily", "fusion_valuation"),
    needs=(rules.Needed("fusion_kline_daily", ("close", "change_pct")),),
    reads_own_past=True,
    public_at=rules.next_trade_date("date", PUBLISHED),
    freshness=rules.trading(2),
    may_be_empty=True,  # no figure is out before the next trade date
    tasks=("fusion_daily_sync", "eod_core", "exchange_sync"),
    interfaces=(
        latest("get_margin", "newest margin row of a code", 600),
        history("get_margin_history", "margin rows of a code by date", 600, 120),
        by_date("get_margin_by_date", "margin rows of all codes on one date", 600),
        timeseries(
            "get_margin_total",
            "market_totals",
            "market margin totals of the exchanges SSE, SZSE, BSE by date",
            ttl=600,
            table="exchange_margin",
        ).takes(exchange=TEXT, start_date=DAY, end_date=DAY, limit=120),
    ),
)
