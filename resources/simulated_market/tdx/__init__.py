"""A terminal server (TDX, TCP) that answers from a world."""

from resources.simulated_market.tdx.server import TdxServer

__all__ = ["TdxServer"]
