"""SW, the industry classification, and its indices."""

from resources.upstreams.sw.client import SwClient

__all__ = ["SwClient"]
