"""The bond depository's site: yield curves of Chinese government bonds."""

from resources.upstreams.chinabond.client import ChinabondClient

__all__ = ["ChinabondClient"]
