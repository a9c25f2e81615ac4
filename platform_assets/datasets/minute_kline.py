"""raw_minute_kline: bars of 5, 15, 30 and 60 minutes of single codes, loaded on demand
alone, and not fused."""

from collections.abc import Callable

import pandas as pd

from core.declaration.columns import S4, Amt, Big, Code, Dt, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, timeseries
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.errors import NotServed
from platform_assets.datasets._price_checks import OrderedPrices
from platform_assets.datasets.kline import of_named_codes
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.hosts import PORTAL_HISTORY

PERIODS = {"5m": 5, "15m": 15, "30m": 30, "60m": 60}
BARS_PER_CALL = 800
"""Bars of one length that are asked for: what the terminal gives in one page, 16 trade dates of 5 minutes."""
_SITE_BARS = 320
_KEY = ["code", "period", "datetime"]


class RawMinuteKline(OrderedPrices):
    """One bar of one code; `datetime` is its end."""

    code: Code = key("security code")
    period: S4 = key("length of the bar", isin=list(PERIODS))
    datetime: Dt = key("end of the bar")
    open: Px = col("CNY", "first price", nullable=False, gt=0)
    high: Px = col("CNY", "highest price", nullable=False, gt=0)
    low: Px = col("CNY", "lowest price", nullable=False, gt=0)
    close: Px = col("CNY", "last price", nullable=False, gt=0)
    volume: Big = col("sh", "shares traded", nullable=False, ge=0)
    amount: Amt = col("CNY", "turnover; both quote sites tell none", ge=0)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for each length and code: the newest 800 bars."""
    return _of_codes(ctx, scope, lambda symbol, period: ctx.tdx.bars(symbol, period, BARS_PER_CALL))


def quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for each length and code: the newest 320 bars."""
    return _of_codes(
        ctx, scope, lambda symbol, period: ctx.tencent.minute_bars(symbol, PERIODS[period], _SITE_BARS)
    )


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for each length and code: one to two months of 5 minutes."""
    return _of_codes(
        ctx,
        scope,
        lambda symbol, period: ctx.eastmoney.kline(symbol, klt=PERIODS[period], limit=BARS_PER_CALL),
        site=PORTAL_HISTORY,
    )


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call for each length and code: the newest 800 bars, without amounts."""
    return _of_codes(
        ctx, scope, lambda symbol, period: ctx.sina.minute_bars(symbol, PERIODS[period], BARS_PER_CALL)
    )


def _of_codes(
    ctx: FetchContext, scope: Scope, ask: Callable[[str, str], pd.DataFrame], *, site: str = ""
) -> pd.DataFrame:
    """Bars of the four lengths that have ended by now, up to the scope's last date."""
    now = f"{ctx.clock.now():%Y-%m-%d %H:%M:%S}"
    last = min(now, f"{scope.until} 23:59:59")

    def one(symbol: str) -> pd.DataFrame:
        parts = [ask(symbol, period).assign(code=symbol[2:], period=period) for period in PERIODS]
        if not any(map(len, parts)):
            raise NotServed(f"{symbol}: no series of bars")
        return pd.concat(parts, ignore_index=True)

    frames = ctx.each(one, ctx.symbols(scope.codes), site=site, calls=len(PERIODS))
    rows = stacked(frames, _KEY)
    return rows[rows["datetime"] <= last]


DATASET = Raw(
    name="minute_kline",
    title="Bars of 5, 15, 30 and 60 minutes of single codes as the upstreams show them",
    model=RawMinuteKline,
    partition=Partition.CODE,
    sources=(
        Source("tdx", terminal, only_when=of_named_codes),
        Source("tencent", quote_site, only_when=of_named_codes),
        Source("eastmoney", portal, only_when=of_named_codes),
        Source("sina", second_quote_site, only_when=of_named_codes),
    ),
    per_code=True,
).alone(
    subject="prices",
    title="Minute bars of single codes, on demand",
    interfaces=(
        timeseries("get_minute_kline", "minute_bars", "stored minute bars", ttl=60).takes(
            code=REQUIRED, period=5, days=1
        ),
    ),
)
