"""What prices have in common: bases of the models of bars, checks of several datasets."""

import pandas as pd
import pandera.pandas as pa

from core.declaration.columns import Model
from core.declaration.scope import Context


class OrderedPrices(Model):
    """Open and close lie between low and high."""

    @pa.dataframe_check
    def prices_are_ordered(cls, rows: pd.DataFrame) -> pd.Series:
        top = rows[["open", "close", "low"]].max(axis=1)
        bottom = rows[["open", "close", "high"]].min(axis=1)
        return ~((rows["high"] < top) | (rows["low"] > bottom))


class HighAndLow(Model):
    """The high is not below the low."""

    @pa.dataframe_check
    def high_not_below_low(cls, rows: pd.DataFrame) -> pd.Series:
        return ~(rows["high"] < rows["low"])


def float_cap_within_total(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["float_market_cap"] > rows["total_market_cap"] * 1.001)


def change_is_plausible(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Of an index: at most 12 percent."""
    return rows["change_pct"].isna() | (rows["change_pct"].abs() <= 12)
