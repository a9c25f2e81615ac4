"""Thresholds of forward returns, boards and scorecards. `spec` and `guide` say where one is fixed; the others
are ours."""

HOLD_DAYS = 5
"""Trade dates that a pick is held, the day of the purchase included (spec)."""
WAIT_DAYS = 20
"""Trade dates after which a pick that never traded, or whose prices never came, is settled without a return
(guide)."""
REVISITED_DAYS = 25
"""Trade dates before a run whose unsettled picks it looks at again (ours): the wait and a week for runs that
were missed."""
BENCHMARK = "sh000300"
"""Index that a return is compared with (guide)."""
BOARD_SIZE = 20
"""Picks of a board or preset on a date (spec)."""

TACTIC_WEIGHTS = {"rtsi": 0.35, "vpa": 0.25, "pattern": 0.25, "signal": 0.15}
"""Parts of the tactic score (guide). What is missing is left out and the rest weighs more."""
TACTIC_MIN_WEIGHT = 0.5
"""Smallest weight of the parts that are there: below it a stock has no tactic score (ours)."""
PATTERN_BARS = 5
"""Bars whose pattern directions count in the tactic score (guide)."""
TACTIC_DATES = 10
"""Trade dates in which the newest bars of the tactic score lie; older ones are not looked at (ours)."""
HEALTH_BARS = 120
"""Bars that the health of price and volume is judged by: those of `/quant/vpa` by default (ours)."""
PATTERN_SPAN = 2.0
"""Sum of directions at which the pattern score is 0 or 100 (guide)."""

NEW_STOCK_DAYS = 5
"""First trade dates of a new listing, in which a stock is on no board of leaders (guide)."""

CARD_HORIZON = 10
"""Trade dates after which a decision card is judged (spec)."""
CARD_DAYS_PER_TRADE_DATE = 1.7
"""Calendar days that the review counts for one trade date (spec)."""
CARD_FLAT_PCT = 1.0
"""Changes up to so many percent, either way, are sideways (spec)."""
CARDS_AT_ONCE = 300
"""Cards that one review judges at most (spec)."""
