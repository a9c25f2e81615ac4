"""ref_outside_market: markets outside the mainland that its own market looks at, one quote a day each.

Both sites have the newest quote alone: a load brings the current one, under its day by Shanghai's clock (New
York closes on the morning after). Of a day its newest quote is kept; a later load does not change it.
"""

import pandas as pd

from core.days import moved
from core.declaration.columns import K32, S16, S64, Date, Dt, Pct, Px, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.rules import Contract, Partition, Soft, Whole
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from platform_assets.datasets._price_checks import HighAndLow
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.parsing.foreign_markets import SERIES

TABLE = "ref_outside_market"
_MOST_MOVED = 12.0
_MOST_TIMES, _LONGEST_BREAK = 1.5, 10
"""No market of the list goes further than so many times its price within so many days."""
_QUOTE = ("name", "price", "open", "high", "low", "last_close", "quote_time", "src")


class OutsideMarket(HighAndLow):
    """One series on one day."""

    series: S16 = key("spx, hsi, dxy, usdcnh, oil, gold", isin=list(SERIES))
    date: Date = key("day of the quote in Shanghai")
    name: S64 = col(title="Chinese name", nullable=False)
    price: Px = col("point", "newest; index points, CNY for a USD, USD a barrel or an ounce", nullable=False,
                    gt=0)  # fmt: skip
    open: Px = col("point", "open", gt=0)
    high: Px = col("point", "high", gt=0)
    low: Px = col("point", "low", gt=0)
    last_close: Px = col("point", "close (of futures: settlement) of the day before", nullable=False, gt=0)
    change_pct: Pct = col("pct", "price against last_close", computed=True)
    quote_time: Dt = col(title="time of the quote in Shanghai", nullable=False)
    src: K32 = col(title="upstream", nullable=False)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """All series in one call."""
    rows: pd.DataFrame = ctx.eastmoney.outside()
    return rows.assign(src="eastmoney")


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same of the second quote site, one call."""
    rows: pd.DataFrame = ctx.sina.outside()
    return rows.assign(src="sina")


def keep_the_newest(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """An older quote than the one that is stored of its day changes nothing."""
    stored = context.read(TABLE, columns=("series", "date", *_QUOTE))
    known = {(row["series"], row["date"]): row for row in stored.to_dict("records")}
    for at, series, day, time in rows[["series", "date", "quote_time"]].itertuples(name=None):
        before = known.get((series, day))
        if before is not None and str(before["quote_time"])[:19] > str(time)[:19]:
            for name in _QUOTE:
                rows.at[at, name] = before[name]
    return rows


def add_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["change_pct"] = (rows["price"] / rows["last_close"] - 1) * 100
    return rows


def change_is_plausible(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["change_pct"].isna() | (rows["change_pct"].abs() <= _MOST_MOVED)


def goes_on_from_its_past(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The close before is near the newest price that is stored of the days before: else the row is of another
    series, or in another unit."""
    stored = context.read(TABLE, columns=("series", "date", "price")).sort_values("date")
    fine = []
    for series, day, close in rows[["series", "date", "last_close"]].itertuples(index=False, name=None):
        near = (stored["date"] < day) & (stored["date"] >= moved(day, -_LONGEST_BREAK))
        own = stored[near & (stored["series"] == series)]["price"]
        times = float(close) / float(own.iloc[-1]) if len(own) else 1.0
        fine.append(1 / _MOST_TIMES <= times <= _MOST_TIMES)
    return pd.Series(fine, index=rows.index, dtype=bool)


def every_series_is_told(rows: pd.DataFrame, context: Context) -> str | None:
    """Every series has a row in a load."""
    missing = sorted(set(SERIES) - set(rows["series"]))
    return f"no row of {', '.join(missing)}" if missing else None


DATASET = Dataset(
    name="outside_market",
    subject="economy",
    title="Markets outside the mainland",
    model=OutsideMarket,
    layer=Layer.REF,
    partition=Partition.SNAPSHOT,
    sources=(Source("eastmoney", portal), Source("sina", second_quote_site)),
    contract=(Contract(goes_on_from_its_past, "another series or unit than on the days before"),),
    derive=(keep_the_newest, add_change),
    soft=(Soft(change_is_plausible, "moved by more than 12 %"),),
    whole=(Whole(every_series_is_told),),
    reads_own_past=True,
    of_stocks=False,
    # Past days, which no site has any more, and a simulated market without foreign ones.
    may_be_empty=True,
    monitored=False,
    tasks=("fusion_daily_sync", "eod_core"),
)
