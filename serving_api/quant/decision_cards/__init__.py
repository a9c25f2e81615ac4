"""Decision cards: a direction for a stock on a date, and whether it was right."""
