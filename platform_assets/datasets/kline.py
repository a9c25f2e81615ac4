"""raw_kline: unadjusted daily bars of single codes, loaded on demand alone.

The first time 2,000 bars, later those since the newest stored one of a source that has so many. A download
is followed by the fusion of the code's week, month, quarter and year bars.
"""

from collections.abc import Callable

import pandas as pd

from core.declaration.columns import S4, Amt, Big, Code, Date, Pct, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.errors import NotServed
from platform_assets.datasets._float_shares import float_shares
from platform_assets.datasets._price_checks import OrderedPrices
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.hosts import PORTAL_HISTORY

FIRST_BARS = 2000
_TOPIC_BARS, _SECOND_BARS = 1800, 1023
_SHORT = ("ths", "sina")
_KNOWN_WITHIN = 250
"""Trade dates in which a stored bar is looked for; a code without one is asked for from the begin."""
_COLUMNS = ["code", "date", "open", "high", "low", "close", "volume", "amount", "turnover_pct"]

Bars = Callable[[str, str | None, int], pd.DataFrame]
"""(symbol, newest stored date or None, bars that are missing) -> bars, more than asked for included."""


class RawKline(OrderedPrices):
    """One bar of one code as one upstream shows it; a suspended day may be a bar without volume."""

    code: Code = key("security code")
    date: Date = key("trade date")
    open: Px = col("CNY", "opening price", nullable=False, gt=0)
    high: Px = col("CNY", "highest price", nullable=False, gt=0)
    low: Px = col("CNY", "lowest price", nullable=False, gt=0)
    close: Px = col("CNY", "closing price", nullable=False, gt=0)
    volume: Big = col("sh", "shares traded", nullable=False, ge=0)
    amount: Amt = col("CNY", "turnover", ge=0)
    turnover_pct: Pct = col("pct", "volume / float shares of the day", ge=0)
    adj: S4 = col(title="none: never adjusted", isin=["none"])


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A call per 800 bars and code. Its bars have no turnover rate: it is computed from the stored float
    shares of their days."""
    rows = _of_codes(ctx, scope, lambda symbol, _, count: ctx.terminal_bars(symbol, count))
    if rows.empty:
        return rows
    shares, _ = float_shares(ctx.read, rows, codes=scope.codes)
    return rows.assign(turnover_pct=rows["volume"].to_numpy(dtype=float) / shares * 100)


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A call per code."""

    def bars(symbol: str, since: str | None, count: int) -> pd.DataFrame:
        return ctx.accept_bars(symbol, ctx.tencent.daily_bars(symbol, start=since or "", count=count))

    return _of_codes(ctx, scope, bars)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A call per code."""

    def bars(symbol: str, since: str | None, count: int) -> pd.DataFrame:
        first = since or ctx.calendar.last(count, ctx.today)[0]
        return ctx.accept_bars(symbol, ctx.eastmoney.daily_bars(symbol, beg=first))

    return _of_codes(ctx, scope, bars, site=PORTAL_HISTORY)


def topic_portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A call per code of Shanghai or Shenzhen: the newest 140 bars, or 1,800."""

    def bars(symbol: str, since: str | None, count: int) -> pd.DataFrame:
        if symbol.startswith("bj"):
            raise NotServed(f"{symbol}: the site has no bars of Beijing")
        return ctx.accept_bars(symbol, ctx.ths.daily_bars(symbol, min(count, _TOPIC_BARS)))

    return _of_codes(ctx, scope, bars)


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A call per code: the newest 1,023 bars, without amounts."""

    def bars(symbol: str, since: str | None, count: int) -> pd.DataFrame:
        return ctx.accept_bars(symbol, ctx.sina.daily_bars(symbol, min(count, _SECOND_BARS)))

    return _of_codes(ctx, scope, bars)


def of_named_codes(ctx: FetchContext, scope: Scope) -> bool:
    """True for a scope that names codes: it is never loaded for the whole market."""
    return scope.codes is not None


def _of_codes(ctx: FetchContext, scope: Scope, ask: Bars, *, site: str = "") -> pd.DataFrame:
    """Bars of every code of the scope, up to its last date and to the last session that has ended."""
    until = scope.until
    if until == ctx.today and not ctx.is_current_session(until):
        until = ctx.calendar.offset(until, -1)
    known = _newest_stored(ctx, scope, until)

    def one(symbol: str) -> pd.DataFrame:
        since = known.get(symbol[2:])
        requested = FIRST_BARS if since is None else len(ctx.calendar.between(since, ctx.today))
        bars = ask(symbol, since, min(requested, FIRST_BARS)).assign(code=symbol[2:])
        if bars.empty:
            raise NotServed(f"{symbol}: no series of bars")
        inside = (bars["date"] <= until) & (bars["date"] >= (since or ""))
        return bars[inside].reindex(columns=_COLUMNS).tail(FIRST_BARS)

    return stacked(ctx.each(one, ctx.symbols(scope.codes), site=site), _COLUMNS).assign(adj="none")


def _newest_stored(ctx: FetchContext, scope: Scope, until: str) -> dict[str, str]:
    """Newest stored date by code, of codes that have a bar of the last year. Bars of sources that do not go
    back as far, or have no amounts, do not count: the next source that does fills the code again."""
    since = ctx.calendar.last(_KNOWN_WITHIN, until)[0]
    columns = ("code", "date", "src")
    stored = ctx.read("raw_kline", columns=columns, codes=scope.codes, since=since, until=until)
    stored = stored[~stored["src"].isin(_SHORT)]
    return {str(code): str(day) for code, day in stored.groupby("code")["date"].max().items()}


DATASET = Raw(
    name="kline",
    title="Unadjusted daily bars of single codes as the upstreams show them",
    model=RawKline,
    partition=Partition.CODE,
    sources=(
        Source("tdx", terminal, only_when=of_named_codes),
        Source("tencent", quote_site, only_when=of_named_codes),
        Source("eastmoney", portal, only_when=of_named_codes),
        Source("ths", topic_portal, only_when=of_named_codes),
        Source("sina", second_quote_site, only_when=of_named_codes),
    ),
    reads=("ref_exright", "ref_exright_item"),
    fuses=("kline_bar",),
    gaps=True,
).alone(subject="prices", title="Daily bars of single codes, on demand")
