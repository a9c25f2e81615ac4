"""The shape that many areas share: the rows of one table on one date, sorted, by pages."""
