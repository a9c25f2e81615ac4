"""Parameters of the indicators that are not in an indicator's name."""

MACD_SIGNAL = 9
KDJ_SMOOTHING = 3
BOLL_DEVIATIONS = 2.0
WARM_UP_BARS = 320
"""Bars that recursive averages need to forget where they began: what is left of it is below 1e-3 then."""

EQUAL = 1e-12
"""Ours. Share of a price below which two averages count as equal (rounding of sums)."""
FLAT = 1e-20
"""Ours. Sum of squared differences of log prices over 20 bars below which the prices have no trend."""

RTSI_WEIGHTS = (0.25, 0.25, 0.20, 0.15, 0.15)
"""Ours. Trend strength: alignment of averages, regression, direction (DMI), momentum (RSI14), place within 60
bars. A part that cannot be computed is left out and the others' weights grow in proportion."""
RTSI_BARS = 60
"""Ours. Fewer bars give no trend strength."""
RTSI_LEVELS = ((70.0, "strong_up"), (55.0, "up"), (45.0, "range"), (30.0, "down"), (0.0, "strong_down"))
"""Ours. Lowest value of each level, highest first."""
