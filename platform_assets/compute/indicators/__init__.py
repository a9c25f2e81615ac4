"""Indicators of daily bars, all in one pass over each code. Importing this imports numba."""

from platform_assets.compute.indicators.layout import COLUMNS, PRICE_SCALE
from platform_assets.compute.indicators.run import indicator_columns

__all__ = ["COLUMNS", "PRICE_SCALE", "indicator_columns"]
