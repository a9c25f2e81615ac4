"""Terminal-style formulas: a subset of the language that users know from their terminals."""
