"""The industry classification (Shenwan) and its indices."""

from resources.upstreams.sw.client import SwClient

__all__ = ["SwClient"]
