"""CNI, the index provider of Shenzhen: members with their weights."""

from resources.upstreams.cnindex.client import CnindexClient

__all__ = ["CnindexClient"]
