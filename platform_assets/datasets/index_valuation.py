"""raw_index_valuation: PE, yield and percentile of the broad indices by trade date. A RAW table alone.

CSI has the indices of Shanghai and of both exchanges, the portal the markets that are used for Shenzhen's.
The percentile of a date follows from the ten years before it, which the same answer holds.
"""

from datetime import date

import numpy as np
import pandas as pd

from core.declaration.columns import S16, S64, Date, F, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from core.errors import NotServed, PayloadError, Permanent
from platform_assets.compute.percentiles import trailing_percentile
from platform_assets.datasets.index_daily import INDICES
from resources.upstreams.fetch_context import FetchContext

YEARS = 10
_NO_BOOK = "no documented source has the book value of an index"
_OTHERS = "of the other provider"
_MARKETS = {"sz399001": "399001", "sz399006": "399006"}


class IndexValuation(Model):
    """One index on one trade date; ratios as published."""

    index_code: S16 = key("index: sh000300")
    date: Date = key("trade date")
    index_name: S64 = col(title="name of the index")
    pe: F = col("", "price / earnings by total shares; the newest twenty dates or so")
    pe_ttm: F = col("", "price / earnings, rolling")
    pb: F = col("", "price / book", no_source=_NO_BOOK)
    dividend_yield: Pct = col("pct", "dividend yield by total shares; the newest twenty dates or so", ge=0)
    pe_pct_10y: Pct = col("pct", "share of the last ten years in which pe_ttm was not higher", ge=0, le=100)
    pb_pct_10y: Pct = col("pct", "the same of pb", no_source=_NO_BOOK)
    member_count: Int = col("", "members", ge=0)


def csi(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls an index. An index that the provider does not publish is left out."""

    def of(symbol: str) -> pd.DataFrame:
        try:
            ratios = ctx.csindex.ratios(symbol[2:])
            past = ctx.csindex.history(symbol[2:], _years_before(scope.since), scope.until)
            rows = _with_percentile(past, scope).merge(ratios, on="date", how="left")
            return rows.assign(index_code=symbol, index_name=INDICES[symbol])
        except Permanent as error:
            raise NotServed(f"{symbol}: not published by the provider") from error

    parts = ctx.each(of, [one for one in INDICES if one.startswith("sh")], code_of=str)
    if not parts:
        raise PayloadError("the provider publishes none of the indices", source="csindex")
    rows = pd.concat(parts, ignore_index=True)
    ctx.note_not_served(INDICES, {*rows["index_code"], *ctx.not_served}, _OTHERS)
    return rows


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The markets behind Shenzhen's two indices: about ten calls."""
    since = _years_before(scope.since)
    past = ctx.eastmoney.market_ratios(list(_MARKETS.values()), since, scope.until)
    parts = [
        _with_percentile(rows.reset_index(drop=True), scope).assign(index_name=INDICES[str(index)])
        for index, rows in past.groupby("index_code")
    ]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["index_code", "date"])
    ctx.note_not_served(_MARKETS, rows["index_code"], "no ratio of its market")
    return rows


def _with_percentile(past: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """The rows of the scope's dates; `past` holds the ten years before them, oldest first."""
    days, values = past["date"].tolist(), past["pe_ttm"].to_numpy(dtype=float)
    requested = [at for at, day in enumerate(days) if day in set(scope.dates)]
    firsts = np.searchsorted(days, [_years_before(days[at]) for at in requested])
    rows = past.iloc[requested].reset_index(drop=True)
    shares = [
        trailing_percentile(values, at, int(first)) for at, first in zip(requested, firsts, strict=True)
    ]
    return rows.assign(pe_pct_10y=shares)


def _years_before(day: str) -> str:
    then = date.fromisoformat(day)
    return then.replace(year=then.year - YEARS, day=min(then.day, 28)).isoformat()


DATASET = Raw(
    name="index_valuation",
    title="PE, yield and percentile of the broad indices by trade date",
    model=IndexValuation,
    sources=(
        Source("csindex", csi, parts=("indices of CSI",)),
        Source("eastmoney", portal, parts=("indices of Shenzhen",)),
    ),
    combine="all",
    late=1,
    freshness=trading(2),
    topical=True,
).alone(
    subject="indices_and_industries",
    title="Valuation of the broad indices",
    tasks=("industry_index_sync",),
    interfaces=(
        timeseries(
            "get_index_valuation", "history", "PE, yield and percentile of one index, oldest first", ttl=3600
        ).takes(index_code=REQUIRED, start_date=DAY, end_date=DAY, limit=750),
    ),
)
