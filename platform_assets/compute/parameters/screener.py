"""Limits of the condition language and of the formulas. Those marked `ours` are; the rest are the guide's."""

MAX_CHARS = 2_000
MAX_DEPTH = 32
"""Nesting of parentheses, functions, `not` and signs."""
MAX_NODES = 200
MAX_LIST = 500
"""Values of an `in` list."""
MAX_PERIOD = 500
"""Bars of one window."""
MAX_LIMIT = 500
"""Rows of `limit`."""

MAX_DIGITS = 20
"""ours: digits of a number."""
MAX_BARS = 1000
"""ours: bars of history behind one value, windows within windows added up."""
MAX_WORK = 400_000
"""ours: passes over the values of one bar of all stocks, some 3 s of one core for 5,500 of them."""
MEMORY_BARS = 250
"""ours: bars that a function looks back for a condition that once held."""
RECURSION_BARS = 60
"""ours: bars that a recursive average runs before its value, at least."""
RECURSION_PERIODS = 10
"""ours: periods that a recursive average runs before its value: what lay before them weighs 2e-9."""
RECURSION_MOST = 750
"""ours: bars that a recursive average runs before its value, at most."""
SUGGESTION_CUTOFF = 0.6
"""ours: how like (0..1) a known name has to be to be suggested."""
BLOCKS = (80, 320, 640, 1000)
"""ours: bars of history that are held at once; the smallest block that is enough is read."""
SPARE_SESSIONS = 30
"""ours: sessions read beyond a block, for stocks that rested on some of them."""
