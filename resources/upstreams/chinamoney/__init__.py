"""The interbank market's site: closing yield curves, SHIBOR, LPR."""

from resources.upstreams.chinamoney.client import ChinamoneyClient

__all__ = ["ChinamoneyClient"]
