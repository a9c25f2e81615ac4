"""Distribution of chips by cost. Importing this imports numba."""

from platform_assets.compute.chips.run import COLUMNS, chip_columns, chip_distribution

__all__ = ["COLUMNS", "chip_columns", "chip_distribution"]
