"""When the bars of a date count as loaded. Both are ours."""

LOADED_SHARE = 0.25
"""Least share of the neighbouring dates' count. In July 2015 half of the market rested; codes that were
downloaded alone are a few hundred of five thousand."""
NEIGHBOURS = 20
"""Market dates on either side that a date is compared with: in a month the market hardly grows."""
