"""fusion_index_daily: daily bars of the broad indices."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from core.declaration.calls import Calls, one_each, one_for_all, pages_of
from core.declaration.columns import S8, S64, Amt, Big, Code, Date, Pct, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, TEXTS, market, timeseries
from core.declaration.rules import Soft, close_of, trading
from core.declaration.scope import Context, Scope
from core.errors import NotServed, PayloadError, Permanent
from core.market.symbols import INDEX_NAMES
from platform_assets.datasets._price_checks import HighAndLow, change_is_plausible
from resources.upstreams.fetch_context import FetchContext, current_session, within_last
from resources.upstreams.hosts import PORTAL_HISTORY, SITES
from resources.upstreams.tdx.bars import PAGE
from resources.upstreams.tencent.bars import MOST_BARS

INDICES = INDEX_NAMES
"""Symbol -> name. An index that an upstream does not know is left out of its answer."""
TABLE = "fusion_index_daily"
_SAME_LEVEL = 0.005
_PROVIDER_AMOUNT = 1e6
"""CNY: 0.01 of the 100 million that the provider counts amounts in."""


class IndexDaily(HighAndLow):
    """One bar of one index; `code` carries the exchange prefix, because sz000001 is a stock."""

    code: Code = key("index symbol", str_matches=r"^(sh|sz|bj|hk|us|csi|gz|gl)[A-Za-z0-9.]+$")
    date: Date = key("trade date")
    name: S64 = col(title="index name", computed=True)
    scope: S8 = col(title="cn, hk, us or global", isin=["cn", "hk", "us", "global"], computed=True)
    open: Px = col("point", "open", gt=0)
    close: Px = col("point", "close", nullable=False, gt=0)
    high: Px = col("point", "high", gt=0)
    low: Px = col("point", "low", gt=0)
    last_close: Px = col("point", "close of the previous trade date", gt=0)
    change_pct: Pct = col("pct", "close against last_close", computed=True)
    volume: Big = col("sh", "shares traded by the members", ge=0)
    amount: Amt = col("CNY", "turnover of the members", ge=0)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Index bars of the scope; one more bar than asked gives the previous close."""
    requested = len(ctx.calendar.between(scope.since, ctx.today)) + 1
    return _of_indices(ctx, scope, lambda symbol: pd.DataFrame(ctx.tdx.index_bars(symbol, "day", requested)))


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The quote site: one call for the finished session of today, else the unadjusted history."""
    if current_session(ctx, scope):
        quotes = ctx.tencent.quotes(list(INDICES))
        ctx.note_not_served(INDICES, quotes["code"], "no quote")
        return quotes.assign(close=quotes["price"], date=quotes["trade_date"])
    before = ctx.calendar.offset(scope.since, -1)
    requested = len(ctx.calendar.between(before, scope.until))
    return _of_indices(
        ctx,
        scope,
        lambda symbol: ctx.tencent.daily_bars(symbol, start=before, end=scope.until, count=requested),
    )


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The portal's line of each index, a call each."""
    before = ctx.calendar.offset(scope.since, -1)
    return _of_indices(
        ctx,
        scope,
        lambda symbol: ctx.eastmoney.daily_bars(symbol, beg=before, end=scope.until),
        site=PORTAL_HISTORY,
    )


def provider(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The provider's own past of Shanghai's and its own indices, a call each; those of Shenzhen are another
    provider's. Volumes come in 10,000 lots and amounts in 100 million CNY, with two decimals."""
    before = ctx.calendar.offset(scope.since, -1)

    def bars(symbol: str) -> pd.DataFrame:
        try:
            reported: pd.DataFrame = ctx.csindex.history(symbol[2:], before, scope.until)
        except Permanent as error:
            raise NotServed(f"{symbol}: not published by the provider") from error
        return reported

    return _of_indices(ctx, scope, bars, [symbol for symbol in INDICES if symbol.startswith("sh")])


def _of_indices(
    ctx: FetchContext,
    scope: Scope,
    ask: Callable[[str], pd.DataFrame],
    symbols: list[str] | None = None,
    *,
    site: str = "",
) -> pd.DataFrame:
    """Bars of each index within the scope, with the close of the bar before as `last_close`. Raises
    PayloadError when no index has a bar."""

    def one(symbol: str) -> pd.DataFrame:
        bars = ask(symbol)
        if bars.empty:
            raise NotServed(f"{symbol}: no bar")
        bars["last_close"] = bars["close"].shift()
        bars["code"] = symbol
        return bars[(bars["date"] >= scope.since) & (bars["date"] <= scope.until)]

    asked = [symbol for symbol in symbols or INDICES if scope.covers(symbol)]
    rows = stacked(ctx.each(one, asked, site=site, code_of=str), ["code", "date"])
    if rows.empty:
        raise PayloadError(f"no bar of any index from {scope.since} to {scope.until}")
    return rows


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The second quote site's snapshots of the finished session of today: one call. Its history has no
    amounts and is not asked."""
    quotes = ctx.sina.quotes([symbol for symbol in INDICES if scope.covers(symbol)])
    ctx.note_not_served(filter(scope.covers, INDICES), quotes["code"], "no quote")
    return quotes.assign(close=quotes["price"], date=quotes["trade_date"])


def amount_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half of the largest step that an amount comes in: 100 CNY of the quote site's history, or the
    float32 of the terminal; of the provider its own two decimals of 100 million CNY."""
    step = np.spacing(rows["amount"].to_numpy(dtype=np.float32, na_value=np.nan)).astype(float)
    return pd.Series(np.maximum(step, 100.0) / 2, index=rows.index).mask(
        rows["src"] == "csindex", _PROVIDER_AMOUNT / 2
    )


def volume_rounding(rows: pd.DataFrame) -> pd.Series:
    """Half of the terminal's step of 100 lots, which is the provider's as well, or of its float32, in
    shares; null of another source's row against one of the provider, which it replaces."""
    hundreds = (rows["volume"].to_numpy(dtype=float, na_value=np.nan) / 10_000).astype(np.float32)
    step = np.maximum(np.spacing(hundreds).astype(float), 1.0) * 10_000
    replaces = (rows["stored_src"] == "csindex") & (rows["src"] != "csindex")
    return pd.Series(step / 2, index=rows.index).mask(replaces)


def add_names(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["name"] = rows["code"].map(INDICES)
    rows["scope"] = "cn"
    return rows


def add_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["change_pct"] = (rows["close"] / rows["last_close"] - 1) * 100
    return rows


def goes_on_from_the_close_before(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The reported previous close is the close of the trade date before, here or stored."""
    close = context.on_day_before(rows, TABLE, "close")
    return ~((rows["last_close"].astype(float) - close).abs() > _SAME_LEVEL * close)


def has_volume(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["volume"] > 0


DATASET = Dataset(
    name="index_daily",
    importable=True,
    subject="prices",
    title="Index daily bars",
    model=IndexDaily,
    domain="kline",
    sources=(
        Source("tencent", quote_site, within_last(MOST_BARS - 1), Calls(one_each)),
        Source("eastmoney", portal, calls=Calls(one_each, SITES[PORTAL_HISTORY].family)),
        Source("tdx", terminal, calls=Calls(pages_of(PAGE))),
        Source("sina", second_quote_site, current_session, Calls(one_for_all)),
        Source("csindex", provider, calls=Calls(one_each)),
    ),
    unchanged_within={"amount": amount_rounding, "volume": volume_rounding},
    derive=(add_names, add_change),
    soft=(
        Soft(change_is_plausible, "index moved by more than 12 %"),
        Soft(goes_on_from_the_close_before, "the previous close is not that of the trade date before"),
        Soft(has_volume, "no volume on a trade date"),
    ),
    reads_own_past=True,
    public_at=close_of("date"),
    freshness=trading(2),
    of_stocks=False,
    tasks=("fusion_kline_sync", "eod_core"),
    interfaces=(
        timeseries("get_index_daily", "history", "bars of one index", ttl=300).takes(
            index_code=REQUIRED, start_date=DAY, end_date=DAY, limit=240, ascending=True
        ),
        timeseries(
            "get_index_indicator", "index_indicators", "MA5/10/20/60, MACD, KDJ, BOLL, RSI14", ttl=300
        ).takes(index_code=REQUIRED, limit=120),
        market("get_realtime_index_quote", "live_index_quotes", "live index quotes", ttl=3).takes(
            codes=TEXTS, scope="cn"
        ),
        market("get_index_latest", "newest_of_indices", "newest bar of the main indices", ttl=60).takes(
            codes=TEXTS, scope="cn"
        ),
        market("get_index_list", "stored_indices", "stored indices", ttl=86400).takes(scope="cn"),
    ),
)
