"""Interfaces over the newest row of every code, and over ex-dates."""
