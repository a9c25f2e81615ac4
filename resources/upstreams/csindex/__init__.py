"""CSI, the index provider of Shanghai: members, weights, ratios."""
