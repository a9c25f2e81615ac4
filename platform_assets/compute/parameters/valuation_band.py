"""Valuation bands. All of it is ours."""

WEEKS = {"3y": 156, "5y": 260}
"""Window -> last trade dates of weeks, the date itself included."""
FEWEST_SHARE = 0.5
"""Share of a window's dates that must hold a positive value."""
BAND = "5y"
LOW_PCT, HIGH_PCT = 10.0, 90.0
"""Percentiles that the band lies between."""
