"""The index provider of the Shanghai market (CSI): members, weights, ratios."""

from resources.upstreams.csindex.client import CsindexClient

__all__ = ["CsindexClient"]
