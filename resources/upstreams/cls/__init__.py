"""The telegraph: flash news around the clock."""

from resources.upstreams.cls.client import ClsClient

__all__ = ["ClsClient"]
