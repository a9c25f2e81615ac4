"""Trade dates that were never loaded, and the cost of loading them."""
