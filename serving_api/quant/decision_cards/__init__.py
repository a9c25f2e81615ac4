"""Decision cards: what was said of a stock on a date, and whether it came so."""
