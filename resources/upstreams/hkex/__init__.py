"""The Hong Kong exchange's site: daily statistics of the stock connect."""

from resources.upstreams.hkex.client import HkexClient

__all__ = ["HkexClient"]
