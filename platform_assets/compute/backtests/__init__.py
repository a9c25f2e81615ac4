"""Backtests of one stock under the rules of the mainland exchanges: pure numpy and integers.

Signals are taken at the close from adjusted prices, orders are filled at the next open at traded prices.
Money is counted in fen, so that cash, shares and fees add up to the cent on every day.
"""
