"""The terminal (`tdx`) over TCP: bars, quotes, ticks, capital changes, finance and block files."""

from resources.upstreams.tdx.client import TdxClient

__all__ = ["TdxClient"]
