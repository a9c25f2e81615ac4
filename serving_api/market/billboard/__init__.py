"""Trades of brokerage branches on the exchanges' billboard."""
