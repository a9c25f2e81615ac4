"""Industry rotation. All of it is ours."""

STRENGTH_DAYS = 20
MOMENTUM_DAYS = 5
WEIGHTS = {"momentum": 0.5, "strength": 0.3, "flow": 0.2}
"""Of the rotation score: change over five dates, over twenty, and main net inflow / turnover of the date,
each by its rank within the level."""
LEADING, IMPROVING, WEAKENING, LAGGING = "leading", "improving", "weakening", "lagging"
