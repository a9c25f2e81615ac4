"""The interbank market's site."""
