"""ref_exright_item: differences between quoted reference prices and stored closes that no event explained.

The books are closed every trade date: for every security with a quote the quoted previous close is compared
with the stored close, taken down by the known events. What is left is an open item. It is asked for every day
(`ref_exright`), its quoted ratio is the provisional factor until a source has the event, and it is closed by
the event, by a correction of the stored close (the codes are loaded again, `calc_reconcile`), or by a reason
that a person gives. A quote that differs from the event's own reference price by a
little (treasury shares take no dividend) closes with the event; the rest stays in its factor, so that a close
before an ex-date is the quoted reference price times the factors of the gap.
"""

import numpy as np
import pandas as pd

from core.declaration.columns import K32, S4, S16, S255, Code, Date, F, Model, Px, col, columns_from, key
from core.declaration.dataset import Dataset, Source
from core.declaration.rules import Partition, Soft
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer, Table
from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.securities import STOCK, sec_type_of, tick_of_code
from core.price_identity import HIGHEST, LOWEST
from platform_assets.compute.bar_checks import FEW, MOST_EX
from platform_assets.compute.exright import TERMS, gaps, moves_price
from platform_assets.datasets._float_shares import float_shares
from resources.upstreams.fetch_context import FetchContext

OPEN, CLOSED = "open", "closed"
ITEMS = "ref_exright_item"
REASONS = "note_exright"
_BARS = "fusion_kline_daily"
_LONGEST = 250
"""Trade dates in which the close before a quote is looked for."""
_VERIFIED = 60
"""Trade dates whose stored bars are held against the ledger."""
_EXPLAINED = 0.01
"""Share of the price that an event may leave to the quote: treasury shares, more decimals of the cash."""
_SAME_FACTOR = 1e-6
_COLUMNS = ("code", "date", "market", "before_date", "close_before", "quoted", "expected", "factor", "status",
            "closed_by", "reason", "opened_on", "asked_on", "closed_on")  # fmt: skip
_AWAY = (UpstreamError, PayloadError, Unavailable)


class ExRightItem(Model):
    """One trade date on which a quoted reference price was not the stored close."""

    code: Code = key("security code")
    date: Date = key("trade date of the quote")
    market: S4 = col(title="SH, SZ, BJ", nullable=False)
    before_date: Date = col(title="date of the stored close before", nullable=False)
    close_before: Px = col("CNY", "stored close before", nullable=False, gt=0)
    quoted: Px = col("CNY", "previous close as quoted: the reference price of the date", nullable=False, gt=0)
    expected: Px = col("CNY", "the close before, taken down by the known events", nullable=False, gt=0)
    factor: F = col(title="expected / quoted: what the events leave to the quote", nullable=False, gt=0)
    status: S16 = col(title="open, closed", nullable=False, isin=[OPEN, CLOSED])
    closed_by: K32 = col(title="event; close: the stored close before was corrected; reason")
    reason: S255 = col(title="why it was closed without an event")
    opened_on: Date = col(title="trade date on which it was found", nullable=False)
    asked_on: Date = col(title="newest trade date on which the sources were asked for its event")
    closed_on: Date = col(title="trade date on which it was closed")


def compared(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """New items of the scope's dates, and the stored ones as the events make them now."""
    known = ctx.read(ITEMS, columns=_COLUMNS, codes=scope.codes)
    found = [_found(ctx, scope, day) for day in _days(ctx, scope)]
    items = pd.concat([known, *found], ignore_index=True)[list(_COLUMNS)]
    items = items.drop_duplicates(["code", "date"], keep="first")
    if items.empty:
        return items
    return _settled(ctx, items, scope.until)


def _days(ctx: FetchContext, scope: Scope) -> list[str]:
    """The dates whose quotes are looked at: the one before as well, since a day without any quote is made
    good from the stored quotes. None of a range: its events are those that the sources have."""
    return [] if scope.is_range else [ctx.calendar.offset(scope.until, -1), scope.until]


def _found(ctx: FetchContext, scope: Scope, day: str) -> pd.DataFrame:
    """Items of one date: code, date, before_date, close_before, quoted."""
    quotes = _quotes(ctx, scope, day)
    nothing = pd.DataFrame(columns=list(_COLUMNS))
    if quotes.empty:
        return nothing
    bars = _closes_before(ctx, tuple(sorted(set(quotes["code"]))), day)
    rows = quotes.merge(bars, on="code", how="inner")
    if rows.empty:
        return nothing
    rows["expected"] = _expected(ctx, rows.assign(date=day))
    tick = np.array([tick_of_code(c, m) for c, m in zip(rows["code"], rows["market"], strict=True)])
    rows["differs"] = ~((rows["quoted"] - rows["expected"]).abs() < tick / 2)
    # Where two sites quote, it takes both; one of them alone may have answered for another instrument.
    by_code = rows.groupby("code")
    rows = rows[by_code["differs"].transform("all") & (by_code["quoted"].transform("nunique") == 1)]
    rows = rows.drop_duplicates("code")
    compared = len(set(quotes["code"]))
    if len(rows) >= FEW and len(rows) > MOST_EX * compared:
        raise PayloadError(f"{len(rows)} of {compared} previous closes of {day} are not the stored closes")
    ratio = rows["quoted"] / rows["close_before"]
    stock = np.array(
        [sec_type_of(c, m) == STOCK for c, m in zip(rows["code"], rows["market"], strict=True)], dtype=bool
    )
    rows = rows[~stock | ratio.between(LOWEST, HIGHEST)]
    return rows.assign(
        date=day, factor=np.nan, status=OPEN, closed_by=None, reason=None, opened_on=scope.until,
        asked_on=None, closed_on=None,
    )[list(_COLUMNS)]  # fmt: skip


def _quotes(ctx: FetchContext, scope: Scope, day: str) -> pd.DataFrame:
    """Previous closes of a date as quoted (code, quoted), of each source a row: those of now where they
    belong to it, else the stored ones. Unavailable when no source quotes the newest session."""
    if not ctx.is_current_session(day):
        stored = ctx.read("stg_quote_snapshot", columns=("code", "trade_date", "src", "last_close"),
                          codes=scope.codes, since=day, until=day)  # fmt: skip
        return _positive(stored)
    parts, reasons = [], []
    for ask in (_terminal, _quote_site):
        try:
            parts.append(ask(ctx, day))
        except _AWAY as error:
            if ctx.direct:
                raise
            reasons.append(str(error))
    if not parts:
        raise Unavailable(f"no source quotes the previous closes of {day}: {'; '.join(reasons)}")
    quotes = _positive(pd.concat(parts, ignore_index=True))
    return quotes if scope.codes is None else quotes[quotes["code"].isin(scope.codes)]


def _terminal(ctx: FetchContext, day: str) -> pd.DataFrame:
    quotes = ctx.terminal_quotes()
    return pd.DataFrame(quotes.loc[~quotes["unknown"], ["code", "last_close"]])


def _quote_site(ctx: FetchContext, day: str) -> pd.DataFrame:
    quotes = ctx.site_quotes()
    of_day = (quotes["trade_date"] == day) | (quotes["volume"].fillna(0) == 0)
    return pd.DataFrame(quotes.loc[of_day, ["code", "last_close"]])


def _positive(quotes: pd.DataFrame) -> pd.DataFrame:
    quotes = quotes[quotes["last_close"] > 0].rename(columns={"last_close": "quoted"})
    return quotes[["code", "quoted"]].astype({"quoted": float})


def _closes_before(ctx: FetchContext, codes: tuple[str, ...], day: str) -> pd.DataFrame:
    """The newest stored bar of each code before a date: code, market, before_date, close_before. None where
    the bars of the trade date before are not stored: an older close is no reference of the date."""
    columns = ("code", "date", "market", "close")
    last = ctx.calendar.offset(day, -1)
    bars = ctx.read(_BARS, columns=columns, since=last, until=last)
    missing = sorted(set(codes) - set(bars["code"]))
    if missing and len(bars):
        first = ctx.calendar.last(_LONGEST, last)[0]
        older = ctx.read(_BARS, columns=columns, codes=tuple(missing), since=first, until=last)
        bars = pd.concat([bars, older], ignore_index=True)
    bars = bars.sort_values("date").drop_duplicates("code", keep="last")
    return bars.rename(columns={"date": "before_date", "close": "close_before"})


def _expected(ctx: FetchContext, rows: pd.DataFrame) -> pd.Series:
    """The close before each row, taken down by the known events up to its date."""
    expected = rows["close_before"].astype(float)
    events = ctx.read(
        "ref_exright",
        columns=("code", "date", "category", *TERMS, "held_back"),
        since=str(rows["before_date"].min()),
        until=str(rows["date"].max()),
    )
    events = dict(iter(events[moves_price(events)].groupby("code")))
    for place, row in zip(rows.index, rows.itertuples(index=False), strict=True):
        own = events.get(row.code)
        if own is None:
            continue
        own = own[(own["date"] > row.before_date) & (own["date"] <= row.date)]
        made = gaps(row.code, row.market, np.array([row.before_date]), np.array([row.close_before]), own)
        expected[place] = made.following
    return expected


def _settled(ctx: FetchContext, items: pd.DataFrame, day: str) -> pd.DataFrame:
    """The items with the factor that the events leave; closed where they explain the quote, where the close
    before does since it was corrected, or where a person said why there is none."""
    items = items.reset_index(drop=True)
    before = items["close_before"].astype(float)
    items["close_before"] = _corrected_closes(ctx, items).fillna(before)
    items["expected"] = _expected(ctx, items)
    items["factor"] = items["expected"] / items["quoted"].astype(float)
    tick = np.array([tick_of_code(c, m) for c, m in zip(items["code"], items["market"], strict=True)])
    same = (items["expected"] - items["quoted"].astype(float)).abs() < tick / 2
    corrected = same & (items["expected"] == items["close_before"])
    explained = (items["expected"] != items["close_before"]) & ((items["factor"] - 1).abs() <= _EXPLAINED)
    reasons = ctx.read(REASONS, columns=("code", "date", "reason", "counts"))
    said = {(one.code, one.date): (one.reason, bool(one.counts)) for one in reasons.itertuples(index=False)}
    answers = [said.get(pair, (None, True)) for pair in zip(items["code"], items["date"], strict=True)]
    reason = pd.Series([text for text, _ in answers], index=items.index, dtype=object)
    counts = pd.Series([counted for _, counted in answers], index=items.index, dtype=bool)
    given = reason.notna() & ~explained & ~corrected
    items["factor"] = items["factor"].where(~given | counts, 1.0)
    items["reason"] = reason.where(given, None)
    done = explained | corrected | given
    items["closed_by"] = pd.Series(None, index=items.index, dtype=object).mask(explained, "event")
    items["closed_by"] = items["closed_by"].mask(corrected, "close").mask(given, "reason")
    first = items["closed_on"].where(items["closed_on"].notna(), day)
    items["closed_on"] = first.where(done, None)
    items["status"] = np.where(done, CLOSED, OPEN)
    items["asked_on"] = items["asked_on"].where(done & items["asked_on"].notna(), day)
    return items


def _corrected_closes(ctx: FetchContext, items: pd.DataFrame) -> pd.Series:
    """The stored close before each item that is open, as it is now; NaN for the others."""
    waiting = items[items["status"] == OPEN]
    if waiting.empty:
        return pd.Series(np.nan, index=items.index)
    bars = ctx.read(
        _BARS, columns=("code", "date", "close"), codes=tuple(sorted(set(waiting["code"]))),
        since=str(waiting["before_date"].min()), until=str(waiting["before_date"].max()),
    )  # fmt: skip
    closes = dict(zip(zip(bars["code"], bars["date"], strict=True), bars["close"].astype(float), strict=True))
    pairs = zip(waiting["code"], waiting["before_date"], strict=True)
    found = pd.Series([closes.get(pair) for pair in pairs], index=waiting.index, dtype=float)
    return found.reindex(items.index)


def is_settled(rows: pd.DataFrame, context: Context) -> pd.Series:
    """An event or a reason explains the quoted reference price."""
    return rows["status"] != OPEN


def wrong_bars(rows: pd.DataFrame, context: Context) -> dict[tuple[str, str], list[str]]:
    """Dates from the first bar that contradicts the ledger to the newest one -> its codes: an event or item
    that came after its bars were stored, or whose record of the shares did."""
    since = context.calendar.last(_VERIFIED, context.scope.until)[0]
    columns = ("code", "date", "category", "factor", "held_back")
    events = context.read("ref_exright", columns=columns, codes=context.scope.codes, since=since)
    events = events[moves_price(events) & events["factor"].notna()]
    items = context.read(ITEMS, columns=("code", "date", "factor"), codes=context.scope.codes,
                         since=since)  # fmt: skip
    steps = pd.concat([events, items], ignore_index=True)[["code", "date", "factor"]]
    if steps.empty:
        return {}
    codes = tuple(sorted(set(steps["code"])))
    bars = context.read(
        _BARS, columns=("code", "date", "volume", "turnover_pct", "adj_factor"), codes=codes,
        since=context.calendar.offset(since, -1),
    ).sort_values(["code", "date"])  # fmt: skip
    shares, _ = float_shares(context.read, bars, codes=codes)
    untold = (bars["volume"] > 0) & bars["turnover_pct"].isna()
    bars_of = dict(iter(bars.assign(late=untold & (shares > 0)).groupby("code")))
    found: dict[tuple[str, str], list[str]] = {}
    for code, own in steps.groupby("code"):
        if code in bars_of:
            dates = bars_of[code]["date"].to_numpy(dtype=str)
            stored = bars_of[code]["adj_factor"].to_numpy(dtype=float)
            grown = np.ones(len(dates))
            places = np.searchsorted(dates, own["date"].to_numpy(dtype=str))
            inside = places < len(dates)
            np.multiply.at(grown, places[inside], own["factor"].to_numpy(dtype=float)[inside])
            wrong = bars_of[code]["late"].to_numpy(dtype=bool)
            wrong[1:] |= np.abs(stored[1:] / stored[:-1] / grown[1:] - 1) > _SAME_FACTOR
            if wrong.any():
                first = str(dates[np.flatnonzero(wrong)[0]])
                found.setdefault((first, str(dates[-1])), []).append(str(code))
    return found


DATASET = Dataset(
    name="exright_item",
    subject="securities",
    title="Quoted reference prices that no event explained, open and closed",
    layer=Layer.REF,
    model=ExRightItem,
    partition=Partition.CODE,
    may_be_empty=True,
    sources=(Source("quotes", compared),),
    soft=(Soft(is_settled, "no source has the event of this reference price: the factor is provisional"),),
    reads=("ref_exright",),
    repairs=("fusion_kline_sync", wrong_bars, "recalculations"),
    tasks=("fusion_kline_sync", "eod_core"),
    records=(
        Table(
            name=REASONS,
            layer=Layer.NOTE,
            columns=columns_from("code:code date:date reason:s255 counts:bool"),
            key=("code", "date"),
            dataset="exright_item",
            description="Why an item is closed without an event, by hand",
            date_column="date",
        ),
    ),
)
