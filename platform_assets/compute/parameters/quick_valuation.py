"""Numbers behind the quick valuation. All are ours."""

INDUSTRY_SPREAD = 0.2
"""A stock without a band of its own is valued at the multiple of its industry, and so much around it."""
PEG_MULTIPLES = (0.8, 1.0, 1.2)
"""PE over growth in percent that is paid: low, mid, high."""
GROWTH_FROM, GROWTH_TO = 5.0, 40.0
"""Percent a year that the PEG method accepts: slower is no case for it, faster does not last."""
DCF_YEARS = 5
DCF_GROWTH_TO = 15.0
"""Percent a year: most growth of the explicit years."""
DCF_GROWTH_FROM = -5.0
TERMINAL_GROWTH = 2.0
"""Percent a year after them."""
PREMIUMS = (7.0, 6.0, 5.0)
"""Percent above the yield of the ten-year government bond: discount of the low, mid and high value."""
FINANCIAL = frozenset({"银行", "非银金融"})
"""SW industries that neither PEG nor free cash flow can value: cash is their business, and their multiples
follow equity, not growth."""
