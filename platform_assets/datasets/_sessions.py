"""Whether a list with prices is of the session and the securities that it is taken for."""

import pandas as pd

from core.declaration.scope import Context
from core.errors import PayloadError
from resources.upstreams.fetch_context import FetchContext

_SAME = 0.95
"""Share of prices that must be those of the stored bars: a single bar may have been corrected since."""
_HALF_FEN = 0.005


def of_session(
    ctx: FetchContext, listed: pd.DataFrame, day: str, what: str, *, dated: bool = True
) -> pd.DataFrame:
    """`listed` (`code`, `price` CNY, `volume`), whose prices are the stored closes of `day`.

    PayloadError where they are another day's, another security's or in another unit. While the bars of the
    day are not stored, a list that states its date (`dated`) is accepted without this check, another one is
    refused.
    """
    closes = ctx.read("fusion_kline_daily", columns=("code", "close"), since=day, until=day)
    both = listed[listed["volume"] > 0].merge(closes.dropna(subset=["close"]), on="code")
    same = (both["price"] - both["close"].astype(float)).abs() < _HALF_FEN
    if (same.mean() < _SAME) if len(both) else not dated:
        raise PayloadError(f"{what}: {int(same.sum())} of {len(both)} prices are those of {day}")
    return listed


def close_is_that_of_the_bar(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The row's `close` (CNY) is that of the stored bar; true where either is not known."""
    bar = context.stored_column(rows, "fusion_kline_daily", "close").astype(float)
    return ~((rows["close"].astype(float) - bar).abs() > 2 * _HALF_FEN)
