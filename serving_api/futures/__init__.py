"""Futures: contracts of a day, bars of a contract, and the basis of index futures."""
