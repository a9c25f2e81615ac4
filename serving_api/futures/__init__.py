"""Futures: contracts of a day, bars of a contract, and what index futures cost against their index."""
