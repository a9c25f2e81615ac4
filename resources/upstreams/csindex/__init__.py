"""CSI, the index provider of Shanghai: members, weights, ratios."""

from resources.upstreams.csindex.client import CsindexClient

__all__ = ["CsindexClient"]
