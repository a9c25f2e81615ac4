"""The window in which the reports of a quarter end come out."""
