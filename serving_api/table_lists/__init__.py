"""Lists of many areas: the rows of one table on one date, sorted, by pages."""
