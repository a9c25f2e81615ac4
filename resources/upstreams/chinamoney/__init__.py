"""The interbank market's site: closing yield curves, SHIBOR, LPR."""
