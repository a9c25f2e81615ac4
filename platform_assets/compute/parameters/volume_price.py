"""Parameters of volume-price analysis and of relative strength."""

SPAN = 20
"""Bars of the sums, the slope, the correlation and the highest and lowest close's range; given."""
EVENT_BARS = 5
"""Bars after which a breakout has faded; given."""
SWING_BARS = 5
"""Bars on either side of a swing high or low, which is known so many bars later; given."""
DIVERGENCE_BARS = 20
"""Bars that a divergence stays after its second swing was known; given."""
BREAKOUT_FLOOR, BREAKOUT_FULL = 0.5, 1.5
"""Volume over the mean of the 20 bars before: a break up counts from the first on, and a break of either side
counts in full so much later; given."""
DIVERGENCE_FULL = 0.05
"""Change of price between two swings at which a divergence counts in full; given."""
UP_VOLUME, DOWN_VOLUME = 1.5, 1.0
"""Volume over the mean of the 20 bars before, from which a break up, or down, has volume; given."""
BULLISH, BEARISH = 60.0, 40.0
"""Health from which, and up to which, the observation is bullish, bearish; given."""

RATING_WEIGHTS = {63: 0.4, 126: 0.2, 189: 0.2, 252: 0.2}
"""Bars -> weight of the change over them in the rating; given."""
MANSFIELD_BARS = 50
"""Bars of the mean that the price in units of the index is compared with; given."""
CHANGE_BARS = (20, 60, 120)
"""Windows of the excess over the index; given."""
