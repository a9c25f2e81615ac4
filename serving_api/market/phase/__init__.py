"""The emotion cycle of the market and its limit-ups and limit-downs, by trade date."""
