"""fusion_dividend: plans and payments of dividends, by report period and the notice of the plan.

A row begins as the plan and becomes its implementation in place: the notice that states the ex-date comes
months after the plan, and what was known before it stays in the history. Ratios are per 10 shares.
"""

import json

import pandas as pd
import pandera.pandas as pa

from core.days import moved
from core.declaration import columns as t
from core.declaration.columns import Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, market, timeseries
from core.declaration.rules import Contract, Fields, Partition, Soft, as_received, calendar_days
from core.declaration.scope import Context, Scope
from core.report_periods import public_from
from platform_assets.datasets._notices import AGAIN_DAYS, by_notice, is_announced
from resources.upstreams.fetch_context import FetchContext

KEY = ("code", "report_period", "ann_date")
PLAN, NOTHING = "预案", "不分配"
_RATIOS = ("bonus_rmb", "transfer_ratio", "bonus_ratio")
_MOST_CASH = 300
_SAME = 0.01
_LONGEST_DAYS = 400
"""No plan is carried out later than this after its notice."""
_NO_PAY_DATE = "data-layer issue: the text of the implementation notice is not parsed"


class Dividend(Model):
    """One dividend of one company."""

    code: t.Code = key("security code")
    report_period: t.Date = key("report period that is distributed")
    ann_date: t.Date = key("notice of the plan")
    name: t.S64 = col(title="name")
    ex_date: t.Date = col(title="ex-date, from the notice of the implementation on")
    record_date: t.Date = col(title="record date, from the notice of the implementation on")
    pay_date: t.Date = col(title="date of payment", no_source=_NO_PAY_DATE)
    bonus_rmb: t.Px = col("CNY_per_10sh", "cash before tax", ge=0)
    transfer_ratio: t.F = col("sh_per_10sh", "shares from reserves", ge=0)
    bonus_ratio: t.F = col("sh_per_10sh", "shares from profit", ge=0)
    dividend_yield: t.Pct = col("pct", "cash / price when the newest notice came out", ge=0)
    total_cash: t.Amt = col("CNY", "cash of all shares, before tax", computed=True)
    payout_ratio: t.Pct = col("pct", "cash / earnings of the report period", ge=0)
    progress: t.S32 = col(title="预案, 股东大会通过, 实施方案, 已实施, 不分配")
    plan_text: t.S255 = col(title="the dividend in words")

    @pa.dataframe_check
    def gives_something(cls, rows: pd.DataFrame) -> pd.Series:
        """Cash or shares, unless the company says that it distributes nothing."""
        given = sum(rows[name].astype(float).fillna(0.0) for name in _RATIOS)
        return (given > 0) | (rows["progress"] == NOTHING)


@with_columns(
    Dividend.code, Dividend.name, Dividend.report_period, Dividend.ann_date, Received.src, Dividend.ex_date,
    Dividend.record_date, Dividend.pay_date, Dividend.bonus_rmb, Dividend.transfer_ratio,
    Dividend.bonus_ratio, Dividend.progress, Dividend.plan_text, Dividend.dividend_yield,
)  # fmt: skip
class RawDividend(Model):
    """One dividend as received."""

    ex_date: t.Date = col(title="ex-date")
    record_date: t.Date = col(title="record date")
    progress: t.S32 = col(title="how far it has come")


@with_columns(
    RawDividend.code, RawDividend.report_period, RawDividend.ann_date, RawDividend.src, RawDividend.plan_text,
    RawDividend.ex_date, RawDividend.record_date, RawDividend.bonus_rmb, RawDividend.transfer_ratio,
    RawDividend.bonus_ratio, RawDividend.progress, "payout_ratio",
)  # fmt: skip
class AuxBonus(Model):
    """The same dividend, stored as one of the F10 tables."""

    payout_ratio: t.Pct = col("pct", "cash / earnings of the report period", ge=0)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Dividends by the day of the newest notice: one or two calls a date for both tables of a run. Codes: one
    call for a hundred."""
    return by_notice(ctx, scope, "dividends", lambda portal: portal.dividends, KEY)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The ex-dates of stored plans, from the terminal's ex-right events: one call for each code with a plan
    that has no ex-date yet. It knows nothing of plans, so it adds none."""
    oldest = moved(scope.since, -_LONGEST_DAYS)
    stored = ctx.read(
        "raw_dividend",
        columns=(*KEY, "src", "name", "ex_date", *_RATIOS),
        codes=scope.codes,
        since=oldest,
        until=scope.until,
    )
    plans = stored[(stored["src"] == "eastmoney") & stored["ex_date"].isna()]
    symbols = ctx.symbols(tuple(sorted(set(plans["code"]))), "stock") if len(plans) else []
    if not symbols:
        return pd.DataFrame(columns=[*KEY, "ex_date"])
    first = oldest if scope.codes is not None else moved(scope.event_days(ctx.calendar)[0], -AGAIN_DAYS)
    events = pd.concat(ctx.each(ctx.tdx.xdxr, symbols), ignore_index=True)
    inside = (events["category"] == 1) & (events["date"] >= first) & (events["date"] <= scope.until)
    return carried_out(plans, events[inside])


def of_one_date(ctx: FetchContext, scope: Scope) -> bool:
    """A range without the portal's notices is no range of dividends."""
    return not scope.is_range


def carried_out(plans: pd.DataFrame, events: pd.DataFrame) -> pd.DataFrame:
    """Plans with the date of the first event after their notice that gives the same cash and shares, within
    a fen; without the plans that have none. `events`: code, date, cash_per10, bonus_per10."""
    reported = pd.DataFrame(
        {
            "code": events["code"],
            "event": events["date"],
            "cash": events["cash_per10"].fillna(0.0),
            "shares": events["bonus_per10"].fillna(0.0),
        }
    )
    both = plans.drop(columns=["ex_date", "src"]).merge(reported, on="code")
    cash, transfer, bonus = (both[name].astype(float).fillna(0.0) for name in _RATIOS)
    same = ((both["cash"] - cash).abs() <= _SAME) & ((both["shares"] - transfer - bonus).abs() <= _SAME)
    fits = both[same & (both["event"] > both["ann_date"])].sort_values([*KEY, "event"])
    fits = fits.drop_duplicates(subset=list(KEY)).drop_duplicates(subset=["code", "event"])
    return fits.rename(columns={"event": "ex_date"})[[*KEY, "name", "ex_date", *_RATIOS]]


def _records(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Fields of the portal's record of each row that are no columns: `notice_date` of its newest notice and
    `total_shares`; null where it has none."""
    if "records" not in context.notes:
        codes = tuple(sorted(set(rows["code"])))
        stored = context.read("raw_dividend", columns=(*KEY, "payload"), codes=codes)
        stored = stored[stored["payload"].notna()].reset_index(drop=True)
        reported = [json.loads(text) for text in stored["payload"]]
        stored["notice_date"] = pd.Series([_day(one.get("NOTICE_DATE")) for one in reported], dtype=object)
        stored["total_shares"] = pd.Series([one.get("TOTAL_SHARES") for one in reported], dtype="float64")
        context.notes["records"] = stored.drop(columns="payload")
    found: pd.DataFrame = rows[list(KEY)].merge(context.notes["records"], how="left", on=list(KEY))
    return found.set_axis(rows.index)


def _day(stamp: str | None) -> str | None:
    return stamp[:10] if stamp else None


def add_total_cash(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Cash per 10 shares / 10 x the shares that the record names."""
    rows["total_cash"] = rows["bonus_rmb"] / 10 * _records(rows, context)["total_shares"]
    return rows


def newest_notice(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A plan is public from the day of its notice. A row that is already decided or carried out when it is
    seen first says things that were not known then: it counts from its newest notice. No distribution of a
    period is known before the period has ended."""
    reported = _records(rows, context)["notice_date"]
    days = reported.where(reported.notna(), rows["ann_date"].where(rows["progress"] == PLAN, None)).astype(
        object
    )
    days = public_from(days, rows["report_period"])
    return (days + " 00:00:00.000000").where(days.notna(), None)


def ex_date_follows_plan(rows: pd.DataFrame, context: Context) -> pd.Series:
    known = rows["ex_date"].notna()
    return ~(known & (rows["ex_date"].where(known, rows["ann_date"]) < rows["ann_date"]))


def ex_date_follows_record_date(rows: pd.DataFrame, context: Context) -> pd.Series:
    known = rows["ex_date"].notna() & rows["record_date"].notna()
    return ~(known & (rows["ex_date"].where(known, "") <= rows["record_date"].where(known, "")))


def ex_date_has_event(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The terminal has an ex-right event of that date; of codes whose events are known from then on."""
    codes = tuple(sorted(set(rows["code"])))
    events = context.read("ref_exright", columns=("code", "date", "category", "held_back"), codes=codes)
    events = events[(events["category"] == 1) & events["held_back"].isna()]
    first = rows["code"].map(events.groupby("code")["date"].min())
    due = rows["ex_date"].notna() & first.notna()
    ex_date = rows["ex_date"].where(due, "")
    due &= (ex_date >= first.where(due, "")) & (ex_date <= context.today)
    known = set(zip(events["code"], events["date"], strict=True))
    met = [pair in known for pair in zip(rows["code"], rows["ex_date"], strict=True)]
    return ~due | pd.Series(met, index=rows.index, dtype=bool)


def cash_is_believable(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["bonus_rmb"] > _MOST_CASH)


DATASET = Dataset(
    name="dividend",
    importable=True,
    subject="financials",
    title="Dividends, from the plan to the payment",
    model=Dividend,
    domain="daily",
    partition=Partition.CODE,
    date_column="ann_date",
    raw=(
        Raw(
            name="dividend",
            title="Dividends as the portal reports them; ex-dates of the terminal where it is away",
            model=RawDividend,
            partition=Partition.CODE,
            date_column="ann_date",
            sources=(Source("eastmoney", portal), Source("tdx", terminal, only_when=of_one_date)),
            payload=True,
        ),
        Raw(
            name="aux_bonus",
            also_tasks=("aux_f10_events_sync",),
            title="Dividends beside the F10 tables: the portal's report once more, no further call",
            model=AuxBonus,
            partition=Partition.CODE,
            date_column="ann_date",
            sources=(Source("em_f10", portal),),
        ),
    ),
    feeds={"raw_dividend": as_received, "aux_bonus": as_received},
    order=("eastmoney", "em_f10", "tdx"),
    fuse=Fields(),
    contract=(Contract(is_announced, "a notice of a day to come"),),
    derive=(add_total_cash,),
    soft=(
        Soft(ex_date_follows_record_date, "the ex-date is not after the record date"),
        Soft(ex_date_follows_plan, "the ex-date is before the plan"),
        Soft(ex_date_has_event, "the terminal has no ex-right event on the ex-date"),
        Soft(cash_is_believable, "more than 300 CNY per 10 shares"),
    ),
    reads=("ref_exright",),
    public_at=newest_notice,
    freshness=calendar_days(30, "ann_date"),
    may_be_empty=True,  # there are days without a notice
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        timeseries(
            "get_dividend_history", "newest", "dividends of a code, newest plan first", ttl=3600
        ).takes(code=REQUIRED, limit=50),
        market(
            "get_dividend_calendar",
            "ex_dates",
            "dividends whose ex-date lies in a window (default: from today on), earliest first",
            ttl=3600,
        ).takes(start_date=DAY, end_date=DAY, limit=200),
        market(
            "get_dividend_yield_rank",
            "yield_rank",
            "highest trailing yields: the yields of all ex-dates of the last 365 days, added up",
            ttl=3600,
        ).takes(limit=50),
    ),
)
