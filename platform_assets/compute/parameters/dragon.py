"""The leader score: points of its parts and their steps. All of it is ours; the specification names the five
dimensions."""

DIMENSIONS = ("height", "seal", "theme", "capital", "structure")
DIMENSION = 20.0
"""Points of each dimension."""
FEWEST_BOARDS = 5
"""A streak counts against the market's highest one, but against no fewer boards than these."""

SEAL_FUND, SEAL_TIME, SEAL_BREAKS = 8.0, 6.0, 6.0
FULL_SEAL = 0.03
"""Money in the queue / float cap that makes the part full."""
SEAL_TIMES = (("09:25:59", 1.0), ("10:00:59", 0.8), ("11:30:59", 0.5), ("14:00:59", 0.3))
"""First seal up to and including this minute -> share; later `SEAL_LATE`."""
SEAL_LATE = 0.1
MOST_BREAKS = 3.0

THEME_SIZE, THEME_HIGHEST, THEME_FIRST = 8.0, 6.0, 6.0
FULL_THEME = 8.0
"""Limit-ups of one theme that make the part full."""
LARGEST_THEME = 300
"""A block with more members is a class of stocks, not a theme."""

CAPITAL_NET, CAPITAL_AMOUNT, CAPITAL_TURNOVER = 8.0, 6.0, 6.0
FULL_NET = 0.10
"""Net purchases of the billboard's seats / turnover that make the part full."""
GOOD_TURNOVER = (5.0, 25.0)
FAIR_TURNOVER = (2.0, 40.0)
"""Percent, both ends included."""

STRUCTURE_CAP, STRUCTURE_GENE, STRUCTURE_HELD = 8.0, 6.0, 6.0
CAP_STEPS = ((20.0, 0.6), (200.0, 1.0), (500.0, 0.5))
"""Float cap in 100 million CNY: below the first step its share, up to each other its own."""
CAP_LARGE = 0.2
"""Beyond the last step."""
FULL_GENE = 5.0
"""Limit-ups in twenty dates that make the part full."""

GRADES = ((80.0, "S"), (65.0, "A"), (50.0, "B"), (35.0, "C"))
LOWEST_GRADE = "D"
REVIEW_STEPS = {"next_change_pct": 1, "d3_change_pct": 3, "d5_change_pct": 5}
"""Column of the review -> trade dates after the score."""
BOARD_SIZE = 20
"""Leaders of a date that the curve of reviews follows."""
