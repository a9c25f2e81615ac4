"""Live reads of single securities: intraday bars."""
