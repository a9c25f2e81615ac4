"""The lowest layer: declarations, market rules, symbols, calendar, clock and errors."""
