"""The names of the figures, in the order of `calc_chip_daily`. Without numba."""

COLUMNS = tuple(
    "profit_ratio_pct avg_cost cost_50 cost_90_low cost_90_high concentration_90_pct cost_70_low "
    "cost_70_high concentration_70_pct peak_price peak_ratio_pct support_price resistance_price".split()
)
