"""Series of indices: their indicators, and the calendar of their daily changes."""
