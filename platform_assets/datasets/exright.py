"""ref_exright: ex-right events and capital changes, with our own factor.

A full load asks the terminal for every code (history, new installation). The daily run asks for the codes
whose quoted previous close differs from the stored one, for codes without a stored bar, for those with an
open item (`ref_exright_item`) and for those that go ex by the portal's report. The portal's report of the
ex-dates and the quote site's bars know dividends as well: their row counts until the terminal's is there.

A factor needs the close before its event. An event that is reported for the first time is followed as far
back as bars are loaded at all; one that is stored keeps its factor when the newest page of bars no longer
reaches it, since the cumulative factors of stored bars count it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.calendar import FIRST_PARTITION
from core.declaration.calls import Calls, pages_of
from core.declaration.columns import K16, K32, S32, Big, Code, Date, F, Int, Model, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, stock
from core.declaration.rules import Partition, Soft
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.securities import is_a_share, tick_of_code
from platform_assets.compute.bar_checks import crowded_dates
from platform_assets.compute.exright import PRICE_EVENTS, gaps, moves_price
from platform_assets.datasets._exright_sources import ORDER, VALUES, as_events, only_the_best_source
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.tdx.bars import PAGE
from resources.upstreams.tdx.corporate import CATEGORIES
from resources.upstreams.tencent.bars import MOST_BARS

_HISTORY_BARS = 800
_JUDGED_DATES = 120
_AGAIN_DATES = 20
"""Trade dates in which an event may still come late, from one source or another."""
_AWAY = (UpstreamError, PayloadError, Unavailable)
Stored = Mapping[tuple[str, str, str], float]
"""(code, date, hash of the values) -> factor; NaN for one that has none."""


class ExRight(Model):
    """One event of one security."""

    code: Code = key("security code")
    date: Date = key("ex-date or date of the change")
    category: Int = key(
        "1 ex-right/dividend, 2..10 capital changes, 11 split or consolidation, 12..15 others", ge=1, le=15
    )
    row_key: K16 = key("hash of the values: two events of one kind on one day; of other sources their name")
    name: S32 = col(title="category in words")
    cash_per10: Px = col("CNY_per_10sh", "cash dividend")
    bonus_per10: F = col(
        "sh_per_10sh", "bonus and transfer shares; of a split the shares that 10 become, less 10"
    )
    rights_per10: F = col("sh_per_10sh", "rights issue")
    rights_price: Px = col("CNY", "price of the rights", ge=0)
    float_before: Big = col("sh", "float shares before", ge=0)
    total_before: Big = col("sh", "total shares before", ge=0)
    float_after: Big = col("sh", "float shares after", ge=0)
    total_after: Big = col("sh", "total shares after", ge=0)
    factor: F = col(title="price before / ex-reference price (categories 1, 11); null while held back", gt=0)
    held_back: K32 = col(
        title="the check that this event failed, or better_source: nothing is adjusted by it"
    )
    src: K32 = col(title="upstream")


def terminal_events(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Events of the codes to ask, with the factor where a previous close is known. That there are none is the
    terminal's answer only where its own quotes say so."""
    symbols = _symbols_to_ask(ctx, scope)
    if not symbols:
        ctx.terminal_quotes()
    stored = _stored_factors(ctx)
    since = min(FIRST_PARTITION, scope.since)
    frames = ctx.each(lambda symbol: _events_of(ctx, symbol, stored, since), symbols)
    events = stacked(frames, [*VALUES, "code", "date", "category", "row_key", "name", "factor"])
    return _held_back(ctx, scope, events) if len(events) else events


def _terminal_calls(ctx: FetchContext, scope: Scope, codes: int) -> int:
    """A call for the events of each code, and at most those for the bars that its factors need."""
    back = Scope((min(FIRST_PARTITION, scope.since),))
    return codes + pages_of(PAGE)(ctx, back, codes)


def portal_events(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Dividends of A shares by their ex-date, those of the last days once more: a notice may be late."""
    reported = _ex_dates(ctx, scope)
    amounts = reported.fillna(dict.fromkeys(("bonus_rmb", "bonus_ratio", "transfer_ratio"), 0.0))
    rows = pd.DataFrame(
        {
            "code": amounts["code"],
            "date": amounts["ex_date"],
            "cash_per10": amounts["bonus_rmb"],
            "bonus_per10": amounts["bonus_ratio"] + amounts["transfer_ratio"],
        }
    )
    rows = rows if scope.codes is None else rows[rows["code"].isin(scope.codes)]
    return _of_other_source(ctx, scope, rows, "eastmoney")


def quote_site_events(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Dividends that the quote site's bars are marked with, of codes of which something is open or that went
    ex: it takes a call each."""
    since = ctx.calendar.last(_AGAIN_DATES + 1, scope.until)[0]
    due = _unsettled(ctx, scope) | _gone_ex(ctx, scope, first_bars=False)
    codes = {code for code in due if scope.covers(code)}
    symbols = ctx.symbols(tuple(sorted(codes))) if codes else []
    frames = ctx.each(lambda symbol: ctx.tencent.exrights(symbol, since, scope.until), symbols)
    return _of_other_source(
        ctx, scope, stacked(frames, ["code", "date", "cash_per10", "bonus_per10"]), "tencent"
    )


def of_the_session(ctx: FetchContext, scope: Scope) -> bool:
    """Other sources than the terminal are asked about the newest session: what was missed before is open."""
    return not scope.is_range and ctx.is_current_session(scope.until)


def _of_other_source(ctx: FetchContext, scope: Scope, rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row per code and ex-date: what goes ex on one date is one reference price."""
    rows = rows.groupby(["code", "date"], as_index=False)[["cash_per10", "bonus_per10"]].sum()
    rows = rows[(rows["cash_per10"] > 0) | (rows["bonus_per10"] > 0)]
    rows = rows.assign(category=1, row_key=name, name=CATEGORIES[1], factor=np.nan)
    rows = rows.reindex(columns=[*VALUES, "code", "date", "category", "row_key", "name", "factor"])
    return _held_back(ctx, scope, rows) if len(rows) else rows


def _ex_dates(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The portal's dividends with an ex-date in the days up to the scope's last date, asked once per run."""
    since = ctx.calendar.last(_AGAIN_DATES, scope.until)[0]
    rows = ctx.once(
        ("ex_dates", since, scope.until),
        lambda view: view.eastmoney.dividends_ex(since, scope.until),
    )
    return rows[rows["ex_date"].notna() & rows["code"].map(is_a_share).astype(bool)]


def _held_back(ctx: FetchContext, scope: Scope, events: pd.DataFrame) -> pd.DataFrame:
    """The events without the factors of those that cannot be, with the names of the checks that they fail."""
    moving = events["category"].isin(PRICE_EVENTS)
    reported = events.loc[moving, ["code", "date"]]
    crowded = crowded_dates(
        pd.concat([reported, _stored_dividends(ctx, scope, reported)]), len(ctx.symbols())
    )
    crowd = moving & events["date"].isin(crowded)
    negative = moving & (events["cash_per10"] < 0)
    names = np.where(negative, cash_is_not_negative.__name__, few_are_ex_at_once.__name__)
    events["held_back"] = pd.Series(names, index=events.index, dtype=object).where(crowd | negative, None)
    events["factor"] = events["factor"].mask(crowd | negative)
    return events


def _stored_dividends(ctx: FetchContext, scope: Scope, reported: pd.DataFrame) -> pd.DataFrame:
    """Stored events, on the dates of the reported ones, of the codes that were not asked."""
    if reported.empty or (scope.codes is None and scope.is_range):
        return reported.iloc[:0]
    # Older events were checked when they were first reported, with those of all codes at once.
    since = ctx.calendar.last(_JUDGED_DATES, scope.until)[0]
    try:
        stored = ctx.read("ref_exright", columns=("code", "date", "category"), since=since)
    except Unavailable:
        return reported.iloc[:0]
    asked = set(reported["code"]) | set(scope.codes or ())
    stored = stored[stored["category"].isin(PRICE_EVENTS) & ~stored["code"].isin(asked)]
    return stored.loc[stored["date"].isin(reported["date"]), ["code", "date"]]


def cash_is_not_negative(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["held_back"] != cash_is_not_negative.__name__


def few_are_ex_at_once(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Not more than a fifth of the market is ex on one date: else the previous closes were wrong."""
    return rows["held_back"] != few_are_ex_at_once.__name__


def factors_from_stored_bars(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Factors of the newest events from the stored bars, which more than one source agreed on; where the bar
    of the trade date before is not stored, the factor stays as it was fetched."""
    since = context.calendar.last(_AGAIN_DATES * 2, context.scope.until)[0]
    recent = rows[moves_price(rows) & (rows["date"] >= since)]
    if recent.empty:
        return rows
    codes = tuple(sorted(set(recent["code"])))
    first = context.calendar.offset(since, -1)
    bars = context.read(
        "fusion_kline_daily", columns=("code", "date", "market", "close"), codes=codes, since=first
    ).sort_values(["code", "date"])
    of_code = dict(iter(bars.groupby("code")))
    factor = rows["factor"].astype(float)
    for code, events in recent.groupby("code"):
        own = of_code.get(code)
        if own is None:
            continue
        dates = own["date"].to_numpy(dtype=str)
        made = gaps(
            str(code), own["market"].iloc[0], dates, own["close"].to_numpy(dtype=float), events
        ).factors
        before = np.searchsorted(dates, events["date"].to_numpy(dtype=str)) - 1
        session_before = [context.calendar.offset(day, -1) for day in events["date"]]
        near = (before >= 0) & (dates[np.maximum(before, 0)] >= np.array(session_before))
        factor.loc[events.index] = np.where(near & ~np.isnan(made), made, factor.loc[events.index])
    rows["factor"] = factor
    return rows


def _symbols_to_ask(ctx: FetchContext, scope: Scope) -> list[str]:
    if scope.is_range or scope.codes is not None or not ctx.is_current_session(scope.until):
        return ctx.symbols(scope.codes)
    return ctx.once(("ex-right symbols", scope.until), lambda view: _open_symbols(view, scope))


def _open_symbols(ctx: FetchContext, scope: Scope) -> list[str]:
    """Symbols whose quotes say that they went ex, whose events are due by the portal's report, or that have
    an open item or an event without a factor."""
    codes = _unsettled(ctx, scope)
    known = []
    for due in (_gone_ex, _reported_ex):
        try:
            known.append(due(ctx, scope))
        except _AWAY as error:
            ctx.problems.append((due.__name__, str(error)))
            last = error
    if not known:
        raise last
    return ctx.symbols(tuple(sorted(codes.union(*known))))


def _gone_ex(ctx: FetchContext, scope: Scope, *, first_bars: bool = True) -> set[str]:
    """Codes whose quoted previous close is not the stored one, or, with `first_bars`, that have no stored
    one."""
    quotes = _quoted(ctx)
    previous = ctx.calendar.offset(scope.until, -1)
    stored = ctx.read("fusion_kline_daily", columns=("code", "close"), since=previous, until=previous)
    joined = quotes.merge(stored.rename(columns={"close": "stored_close"}), on="code", how="left")
    ticks = [tick_of_code(str(symbol)[2:], str(symbol)[:2]) for symbol in joined["symbol"]]
    moved = ~((joined["last_close"] - joined["stored_close"]).abs() < np.array(ticks) / 2)
    if not first_bars:
        moved &= joined["stored_close"].notna()
    return {str(code) for code in joined.loc[moved & ~joined["unknown"], "code"]}


def _reported_ex(ctx: FetchContext, scope: Scope) -> set[str]:
    rows = _ex_dates(ctx, scope)
    return {str(code) for code in rows.loc[rows["ex_date"] == scope.until, "code"]}


def _unsettled(ctx: FetchContext, scope: Scope) -> set[str]:
    """Codes with an open item, or an event of the last days that is not the terminal's or has no factor."""
    since = ctx.calendar.last(_AGAIN_DATES, scope.until)[0]
    try:
        items = ctx.read("ref_exright_item", columns=("code", "status"))
        events = ctx.read(
            "ref_exright", columns=("code", "date", "category", "held_back", "factor", "src"), since=since
        )
    except Unavailable:
        return set()
    events = events[moves_price(events) & (events["factor"].isna() | (events["src"] != ORDER[0]))]
    return {*map(str, items.loc[items["status"] == "open", "code"]), *map(str, events["code"])}


def _quoted(ctx: FetchContext) -> pd.DataFrame:
    """Previous closes of the universe (code, symbol, last_close, unknown); the quote site's when the
    terminal's batch cannot be had or is refused."""
    try:
        return pd.DataFrame(ctx.terminal_quotes())
    except _AWAY:
        if ctx.direct:
            raise
        rows = ctx.site_quotes()
        return pd.DataFrame(rows.assign(unknown=False))


def _stored_factors(ctx: FetchContext) -> Stored:
    """Stored factors by (code, date, row_key); empty where the table cannot be read."""
    try:
        rows = ctx.read("ref_exright", columns=("code", "date", "category", "row_key", "factor"))
    except Unavailable:
        return {}
    rows = rows[rows["category"].isin(PRICE_EVENTS)]
    keys = zip(rows["code"], rows["date"], rows["row_key"], strict=True)
    return dict(zip(keys, rows["factor"].astype(float), strict=True))


def _events_of(ctx: FetchContext, symbol: str, stored: Stored, since: str) -> pd.DataFrame:
    events = ctx.tdx.xdxr(symbol)
    if events.empty:
        return pd.DataFrame(events)
    out = as_events(events)
    out["factor"] = _factors(ctx, symbol, out, stored, since)
    return out


def _factors(
    ctx: FetchContext, symbol: str, events: pd.DataFrame, stored: Stored, since: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Price before / ex-reference price of what moves it; NaN where no earlier bar is known.

    Where the bars do not reach, it is the stored one; more pages reach events from `since` on that are not
    stored yet, or only by a load that did not go back as far.
    """
    factors = np.full(len(events), np.nan)
    moving = events["category"].isin(PRICE_EVENTS) & ~(events["cash_per10"] < 0)
    places = np.flatnonzero(moving.to_numpy())
    if not len(places):
        return factors
    own = events.iloc[places]
    keys = list(zip(own["code"], own["date"], own["row_key"], strict=True))
    bars = _bars(ctx, symbol, _HISTORY_BARS)
    first = str(bars["date"].iloc[0]) if len(bars) >= _HISTORY_BARS else ""
    unknown = [key[1] for key in keys if key not in stored or _was_too_old(key, stored)]
    unreached = [day for day in unknown if since <= day <= first]
    if unreached and len(bars):
        dates_back = len(ctx.calendar.between(min(unreached), str(bars["date"].iloc[-1])))
        bars = _bars(ctx, symbol, dates_back + 1)
    dates, closes = bars["date"].to_numpy(dtype=str), bars["close"].to_numpy(dtype=float)
    made = gaps(symbol[2:], symbol[:2], dates, closes, own).factors
    kept = np.asarray([stored.get(key, np.nan) for key in keys], dtype=float)
    factors[places] = np.where(np.isnan(made), kept, made)
    return factors


def _was_too_old(key: tuple[str, str, str], stored: Stored) -> bool:
    """Whether the event lies before what all loads go back to, and has no factor for that."""
    return key[1] < FIRST_PARTITION and bool(np.isnan(stored[key]))


def _bars(ctx: FetchContext, symbol: str, count: int) -> pd.DataFrame:
    """Closes of a code: a server that has events need not serve bars, so the quote site's where none does; no
    rows where both are away, since an event without its factor is more than no event."""
    try:
        return ctx.terminal_bars(symbol, count)
    except (UpstreamError, Unavailable):
        if ctx.direct:
            raise
    try:
        return ctx.accept_bars(symbol, ctx.tencent.daily_bars(symbol, count=MOST_BARS))
    except _AWAY as error:
        ctx.problems.append((symbol, f"no closes before its events: {error}"))
        return pd.DataFrame({"date": pd.Series(dtype=str), "close": pd.Series(dtype=float)})


DATASET = Dataset(
    name="exright",
    subject="securities",
    title="Ex-right events and capital changes",
    layer=Layer.REF,
    model=ExRight,
    importable=True,
    partition=Partition.CODE,
    may_be_empty=True,
    sources=(
        Source("tdx", terminal_events, calls=Calls(_terminal_calls)),
        Source("eastmoney", portal_events, only_when=of_the_session),
        Source("tencent", quote_site_events, only_when=of_the_session),
    ),
    combine="all",
    derive=(only_the_best_source, factors_from_stored_bars),
    soft=(
        Soft(cash_is_not_negative, "an ex-right with cash below zero", holds=True),
        Soft(few_are_ex_at_once, "ex-rights of too much of the market on one date", holds=True),
    ),
    tasks=("fusion_kline_sync", "eod_core"),
    interfaces=(
        stock("get_xdxr", "live_exrights", "ex-rights records of the terminal source", ttl=3600).takes(
            code=REQUIRED
        ),
    ),
)
