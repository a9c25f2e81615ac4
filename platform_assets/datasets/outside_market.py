"""ref_outside_market: markets outside the mainland that its own market looks at, one quote a day each.

Both sites tell the newest quote alone: a load brings that of now, under its day by Shanghai's clock (New York
closes on the morning after). A day's last load stands.
"""

from typing import Any

import pandas as pd
import pandera.pandas as pa

from platform_assets.declaration.columns import K32, S16, S64, Date, Dt, Model, Pct, Px, col, key
from platform_assets.declaration.dataset import Dataset, Source
from platform_assets.declaration.rules import Partition, Soft, Whole
from platform_assets.declaration.scope import Context, Scope
from platform_assets.declaration.tables import Layer
from resources.upstreams.outside import SERIES

_MOST_MOVED = 12.0


class OutsideMarket(Model):
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

    @pa.dataframe_check
    def high_not_below_low(cls, rows: pd.DataFrame) -> pd.Series:
        return ~(rows["high"] < rows["low"])


def portal(desk: Any, scope: Scope) -> pd.DataFrame:
    """All series in one call."""
    rows: pd.DataFrame = desk.eastmoney.outside()
    return rows.assign(src="eastmoney")


def second_site(desk: Any, scope: Scope) -> pd.DataFrame:
    """The same of the second quote site, one call."""
    rows: pd.DataFrame = desk.sina.outside()
    return rows.assign(src="sina")


def add_change(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["change_pct"] = (rows["price"] / rows["last_close"] - 1) * 100
    return rows


def change_is_plausible(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["change_pct"].isna() | (rows["change_pct"].abs() <= _MOST_MOVED)


def every_series_is_told(rows: pd.DataFrame, context: Context) -> str | None:
    """Every series has a row in a load."""
    missing = sorted(set(SERIES) - set(rows["series"]))
    return f"no row of {', '.join(missing)}" if missing else None


DATASET = Dataset(
    name="outside_market",
    title="Markets outside the mainland",
    model=OutsideMarket,
    key=("series", "date"),
    layer=Layer.REF,
    partition=Partition.SNAPSHOT,
    date_column="date",
    sources=(Source("eastmoney", portal), Source("sina", second_site)),
    derive=(add_change,),
    soft=(Soft(change_is_plausible, "moved by more than 12 %"),),
    whole=(Whole(every_series_is_told),),
    of_stocks=False,
    # Past days, which nobody tells any more, and a world without an outside.
    may_be_empty=True,
    monitored=False,
    tasks=("fusion_daily_sync", "eod_core"),
)
