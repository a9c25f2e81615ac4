"""/index and index series: constituents, valuation, indicators, calendar."""
