"""Trade dates that were never loaded, and what loading them would cost."""
