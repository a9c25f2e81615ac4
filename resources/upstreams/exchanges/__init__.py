"""The three exchanges' own sites: one client each, one breaker for all."""

from resources.upstreams.exchanges.bse import BseClient
from resources.upstreams.exchanges.sse import SseClient
from resources.upstreams.exchanges.szse import SzseClient

__all__ = ["BseClient", "SseClient", "SzseClient"]
