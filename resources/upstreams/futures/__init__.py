"""The six futures exchanges' own sites: one client, bound to one of them."""

from resources.upstreams.futures.client import FuturesClient

__all__ = ["FuturesClient"]
