"""Parameters of the chip distribution."""

WINDOW = 210
"""Bars that a distribution is made of; given by the definition."""
BUCKETS = 150
"""Price levels of a distribution; given by the definition."""
SMALLEST_STEP = 0.01
"""CNY between two levels at least; given by the definition."""
SETTLED = 1e-15
"""Share of the chips that are still where they were bought below which older bars no longer count."""
SHOWN_PCT = 0.01
"""Levels with a smaller share of the chips are not stored; given by the definition."""
