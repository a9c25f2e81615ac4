"""Web search: untrusted texts for a query, never stored as market data."""

from resources.upstreams.websearch.duckduckgo import DuckduckgoClient
from resources.upstreams.websearch.tavily import TavilyClient

__all__ = ["DuckduckgoClient", "TavilyClient"]
