"""Search of the web: texts of strangers for a question, never data of ours."""

from resources.upstreams.websearch.duckduckgo import DuckduckgoClient
from resources.upstreams.websearch.tavily import TavilyClient

__all__ = ["DuckduckgoClient", "TavilyClient"]
