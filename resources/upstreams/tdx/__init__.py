"""The terminal (`tdx`) over TCP: bars, quotes, ticks, capital changes, finance and block files."""
