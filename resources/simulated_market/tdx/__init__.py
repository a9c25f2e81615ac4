"""A server of the terminal (`tdx`) that answers from a world."""

from resources.simulated_market.tdx.server import TdxServer

__all__ = ["TdxServer"]
