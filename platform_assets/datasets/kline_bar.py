"""fusion_kline_bar: week and month bars, quarter and year derived from months.

The periods of a date are resampled every day from the stored daily bars with trade (the row of a suspended
day is none); the per-code sync asks the terminal, else the portal, else the quote site, for 240 bars of each
period. `date` is the last trade date inside the period by the calendar, so an open period keeps one row while
it grows; `last_date` is the newest day that the bar holds, `is_closed` says whether the period has ended
(routes say it of the time of the read).
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.days import is_closed
from core.declaration import columns as t
from core.declaration.columns import col, key, model_columns
from core.declaration.dataset import DERIVED, Dataset, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, timeseries
from core.declaration.rules import Partition, Soft, close_of, trading
from core.declaration.scope import Calendar, Context, Scope
from core.errors import NotServed, PayloadError
from platform_assets.compute.periods import PERIODS, growth_of, period_ends, period_starts, resample
from platform_assets.datasets._price_checks import OrderedPrices
from platform_assets.datasets.kline import of_named_codes
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.hosts import PORTAL_HISTORY

BARS_PER_SYNC = 240
_KLT = {"week": 102, "month": 103}
_LOT = 100
_PARTS = {"week": 1, "month": 1, "quarter": 3, "year": 12}
"""Bars of an upstream, each with a rounding of its own, in one bar of ours."""
_REPORTED = ["open", "high", "low", "close", "volume", "amount"]
_RATES = ("change_pct", "turnover_pct")
_DAILY = ("code", "date", "open", "high", "low", "close", "last_close", "volume", "amount", "turnover_pct")


class KlineBar(OrderedPrices):
    """One bar of one period; unadjusted, as daily bars are."""

    code: t.Code = key("security code")
    period: t.S8 = key("week, month, quarter, year", isin=list(PERIODS))
    date: t.Date = key("last trade date of the period; of an open one it lies ahead")
    last_date: t.Date = col(title="newest date inside on which it traded")
    open: t.Px = col("CNY", "first open", nullable=False, gt=0)
    close: t.Px = col("CNY", "last close", nullable=False, gt=0)
    high: t.Px = col("CNY", "highest price", nullable=False, gt=0)
    low: t.Px = col("CNY", "lowest price", nullable=False, gt=0)
    volume: t.Big = col("sh", "shares traded", ge=0)
    amount: t.Amt = col("CNY", "turnover", ge=0)
    bar_count: t.Int = col("", "traded days inside", nullable=False, ge=1)
    change_pct: t.Pct = col("pct", "change over the period, through ex-dates")
    turnover_pct: t.Pct = col("pct", "sum of the daily rates")
    is_closed: t.Bool = col(title="the period has ended", computed=True)


def resampled(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The periods that the scope's dates lie in, from stored daily bars; quarter and year from months."""
    calendar = ctx.calendar
    last = f"{int(scope.until[:4]) + 1}-01-31"
    grid = calendar.between(f"{int(scope.since[:4]) - 1}-12-01", last)
    starts = {period: period_starts([scope.since], grid, period)[0] for period in PERIODS}
    first = min(starts["week"], starts["month"])
    # Up to the end of the periods, not of the scope: a past date asked again must not cut its own month. Each
    # has its own end: the last day of a month may lie within a week, that of a week within a month.
    ends = {period: period_ends([scope.until], grid, period)[0] for period in ("week", "month")}
    until = min(max(ends.values()), ctx.today)
    daily = ctx.read("fusion_kline_daily", columns=_DAILY, codes=scope.codes, since=first, until=until)
    if daily.empty:
        return pd.DataFrame(columns=["code", "date", "period"])
    known_from = daily["date"].min()
    held = set(daily["date"]) if scope.codes is None else set(grid)
    missing = [day for day in calendar.between(known_from, daily["date"].max()) if day not in held]
    daily = traded(daily)
    daily = daily.assign(growth=growth_of(daily), bar_count=1)
    weeks, fresh = (
        _bars(daily[daily["date"].between(starts[period], ends[period])], grid, period, known_from, missing)
        for period in ("week", "month")
    )
    months = _months(ctx, scope, starts["year"], fresh)
    parts = [weeks, fresh]
    if len(months):
        known_from = period_starts([months["date"].min()], grid, "month")[0]
        parts += [
            _bars(months[months["date"] >= starts[p]], grid, p, known_from, missing)
            for p in ("quarter", "year")
        ]
    return pd.concat(parts, ignore_index=True)


def traded(daily: pd.DataFrame) -> pd.DataFrame:
    """The bars with trade: the row of a suspended day holds the reference price, at which nobody traded."""
    return daily[daily["volume"].fillna(0) > 0]


def _bars(
    rows: pd.DataFrame, grid: list[str], period: str, known_from: str, missing: list[str]
) -> pd.DataFrame:
    """Bars of the periods that are known from their first trade date on, without one whose date is `missing`:
    a part of a period is no bar."""
    if rows.empty:
        return pd.DataFrame(columns=["code", "date", "period"])
    dates = rows["date"].tolist()
    torn = set(period_ends(missing, grid, period))
    ends = period_ends(dates, grid, period)
    begins = period_starts(dates, grid, period)
    whole = [start >= known_from and end not in torn for start, end in zip(begins, ends, strict=True)]
    ends = [end for end, keep in zip(ends, whole, strict=True) if keep]
    return resample(rows[whole], ends).assign(period=period)


def _months(ctx: FetchContext, scope: Scope, start: str, fresh: pd.DataFrame) -> pd.DataFrame:
    """Month bars since `start`: stored ones, and those just resampled in their place, with the decimals that
    storing leaves of them: whichever month is asked again, its quarter and year come out the same."""
    decimals = {spec.name: spec.scale for spec in model_columns(KlineBar) if spec.scale is not None}
    fresh = fresh.round(decimals)
    columns = ("code", "period", "date", "open", "high", "low", "close", "volume", "amount", "change_pct")
    names = (*columns, "turnover_pct", "bar_count", "last_date")
    stored = ctx.read("fusion_kline_bar", columns=names, codes=scope.codes, since=start)
    stored = stored[stored["period"] == "month"]
    both = pd.concat([fresh, stored], ignore_index=True).drop_duplicates(["code", "date"], keep="first")
    return both.assign(growth=1 + both["change_pct"] / 100)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """240 week and month bars of single codes from the terminal, two calls a code."""
    return _of_codes(
        ctx, scope, lambda symbol, period: pd.DataFrame(ctx.tdx.bars(symbol, period, BARS_PER_SYNC))
    )


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same from the portal."""
    return _of_codes(
        ctx,
        scope,
        lambda symbol, period: ctx.eastmoney.kline(symbol, klt=_KLT[period], limit=BARS_PER_SYNC),
        site=PORTAL_HISTORY,
    )


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same from the quote site."""
    return _of_codes(
        ctx, scope, lambda symbol, period: ctx.tencent.bars(symbol, period=period, count=BARS_PER_SYNC)
    )


def _of_codes(
    ctx: FetchContext, scope: Scope, ask: Callable[[str, str], pd.DataFrame], *, site: str = ""
) -> pd.DataFrame:
    """Week and month bars of each code; quarter and year from months. Rates of an upstream are left out:
    none of them says what an ex-date does to its change. Raises PayloadError when no code has a bar."""
    horizon = f"{int(ctx.today[:4]) + 1}-01-31"
    days = _Days.of(ctx, scope)
    finished = ctx.is_current_session(ctx.newest_finished())

    def one(symbol: str) -> pd.DataFrame:
        parts = []
        for period in ("week", "month"):
            bars = ask(symbol, period)
            bars = bars[bars["volume"] > 0] if len(bars) else bars  # a period without trade is no bar
            if bars.empty:
                continue
            bars = bars[["date", *_REPORTED]]
            grid = ctx.calendar.between(f"{int(bars['date'].iloc[0][:4]) - 1}-12-01", horizon)
            starts = period_starts(bars["date"].tolist(), grid, period)
            ends = period_ends(bars["date"].tolist(), grid, period)
            # A period in which nothing was traded may be no bar, so the bar before does not show where it
            # begins.
            inside = [
                days.traded(symbol[2:], start, min(end, ctx.today))
                for start, end in zip(starts, ends, strict=True)
            ]
            # Its own date, which sites set to the newest day that it holds.
            held = [
                max((one for one in known if one <= day), default=min(day, end))
                for day, end, known in zip(bars["date"], ends, inside, strict=True)
            ]
            counts = [max(1, len(known)) for known in inside]
            found = bars.assign(date=ends, last_date=held, bar_count=counts, period=period)
            # While the session goes on the period that it lies in holds a part of a day.
            parts.append(found if finished else found[found["date"] < ctx.today])
        if not parts:
            raise NotServed(f"{symbol}: no series of bars")
        return stacked(parts, ["date"]).assign(code=symbol[2:])

    symbols = ctx.symbols(scope.codes)
    bars = stacked(ctx.each(one, symbols, site=site, calls=2), ["code", "date", "period"])
    if bars.empty and symbols:
        raise PayloadError(f"no bar of any of {len(symbols)} codes")
    if bars.empty:
        return bars
    months = bars[bars["period"] == "month"].assign(growth=1.0, turnover_pct=None)
    parts = [bars]
    for period in ("quarter", "year"):
        grid = ctx.calendar.between(months["date"].min()[:4] + "-01-01", horizon)
        derived = resample(months, period_ends(months["date"].tolist(), grid, period))
        derived = derived if finished else derived[derived["date"] < ctx.today]
        parts.append(derived.drop(columns=["change_pct"]).assign(period=period))
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class _Days:
    """On which days some codes could have traded, as far as it is stored."""

    calendar: Calendar
    listed: Mapping[str, str]
    rested: Mapping[str, Set[str]]

    @classmethod
    def of(cls, ctx: FetchContext, scope: Scope) -> "_Days":
        master = ctx.read("fusion_stock_master", columns=("code", "list_date"), codes=scope.codes)
        master = master.dropna(subset=["list_date"])
        daily = ctx.read("fusion_kline_daily", columns=("code", "date", "volume"), codes=scope.codes)
        rested = daily[daily["volume"].fillna(0) == 0].groupby("code")["date"].agg(set)
        return cls(
            ctx.calendar, dict(zip(master["code"], master["list_date"], strict=True)), rested.to_dict()
        )

    def traded(self, code: str, start: str, end: str) -> list[str]:
        """Trade dates since the listing without those on which it is known not to have traded."""
        rested = self.rested.get(code, frozenset())
        since = max(start, self.listed.get(code, start))
        return [day for day in self.calendar.between(since, end) if day not in rested] if since <= end else []


def mark_closed(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Closed at the time of the batch: the session of the last trade date of the period is over."""
    rows["is_closed"] = rows["date"].map(lambda last: is_closed(str(last), context.now)).astype(bool)
    return rows


def keep_known_rates(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Keeps on an upstream's bar the rates that were resampled for the same bar before."""
    reported = rows["src"] != DERIVED
    codes = context.scope.codes
    if codes is None or not reported.any():
        return rows
    key = ["code", "period", "date"]
    columns = (*key, "open", "close", *_RATES)
    stored = context.read("fusion_kline_bar", columns=columns, codes=codes)
    before = rows[key].merge(stored, on=key, how="left").set_axis(rows.index)
    same = reported & (before["open"] == rows["open"]) & (before["close"] == rows["close"])
    for name in _RATES:
        rows[name] = rows[name].where(~same | rows[name].notna(), before[name])
    return rows


def volume_rounding(rows: pd.DataFrame) -> pd.Series:
    """A lot, which one wire cuts and another rounds, or half a step of the terminal's float32 of lots; null
    of what was resampled."""
    lots = (rows["volume"].to_numpy(dtype=float, na_value=np.nan) / _LOT).astype(np.float32)
    step = np.maximum(np.spacing(lots).astype(float) / 2, 1.0) * _LOT
    return (rows["period"].map(_PARTS).astype(float) * step).mask(rows["src"] == DERIVED)


def amount_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half of 100 CNY of the quote site and of the terminal's float32, since one may be compared with the
    other; null of what was resampled."""
    step = np.spacing(rows["amount"].to_numpy(dtype=np.float32, na_value=np.nan)).astype(float)
    return (rows["period"].map(_PARTS).astype(float) * (step + 100.0) / 2).mask(rows["src"] == DERIVED)


def not_more_bars_than_days(rows: pd.DataFrame, context: Context) -> pd.Series:
    limit = rows["period"].map({"week": 6, "month": 23, "quarter": 67, "year": 262}).astype(float)
    return rows["bar_count"] <= limit


DATASET = Dataset(
    name="kline_bar",
    importable=True,
    subject="prices",
    title="Week, month, quarter and year bars",
    model=KlineBar,
    domain="kline",
    partition=Partition.CODE,
    may_be_empty=True,  # the first days of a warehouse complete no period
    sources=(
        Source("tdx", terminal, only_when=of_named_codes),
        Source("eastmoney", portal, only_when=of_named_codes),
        Source("tencent", quote_site, only_when=of_named_codes),
        Source(DERIVED, resampled),
    ),
    unchanged_within={"amount": amount_rounding, "volume": volume_rounding},
    derive=(keep_known_rates, mark_closed),
    soft=(Soft(not_more_bars_than_days, "more daily bars than the period has trade dates"),),
    reads=("fusion_kline_daily", "fusion_stock_master"),
    undated={"fusion_stock_master": ("code", "list_date")},
    reads_own_past=True,
    owners={"close": ("fusion_kline_daily", "close")},
    public_at=close_of("date"),
    freshness=trading(6, "last_date"),
    tasks=("fusion_kline_sync", "eod_core"),
    interfaces=(
        timeseries("get_kline_bar", "periods", "period bars of a code", ttl=600).takes(
            code=REQUIRED, period="week", periods=240, ascending=True
        ),
    ),
)
