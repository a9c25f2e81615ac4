"""The second quote site: snapshots, daily bars and statements of single companies."""

from resources.upstreams.sina.client import SinaClient

__all__ = ["SinaClient"]
