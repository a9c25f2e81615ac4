"""Bases of the models of bars: their prices fit each other."""

import pandas as pd
import pandera.pandas as pa

from core.declaration.columns import Model


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
