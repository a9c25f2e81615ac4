"""The index provider of the Shenzhen market (CNI): members with their weights."""

from resources.upstreams.cnindex.client import CnindexClient

__all__ = ["CnindexClient"]
