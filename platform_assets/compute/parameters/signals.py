"""Bounds of the daily signals. Those of KDJ and RSI are the usual ones of terminals; the surge is ours."""

KDJ_LOW = 20.0
"""K below it: a golden cross counts."""
KDJ_HIGH = 80.0
RSI_LOW = 20.0
RSI_HIGH = 80.0
SURGE = 2.0
"""Volume over the mean of the five bars before (ours)."""
