"""Web search for an answer: texts from outside, marked as such, never evidence."""

import logging
from dataclasses import dataclass, field

from core.errors import PayloadError, Unavailable, UpstreamError
from serving_api.evidence.guard import fenced
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of

log = logging.getLogger(__name__)
TAVILY, DUCKDUCKGO = "tavily", "duckduckgo"
QUERY_CHARS = 200


@dataclass(frozen=True)
class Found:
    """`results`: {title, url, content}."""

    results: list[dict[str, str]] = field(default_factory=list)

    @property
    def shown(self) -> list[dict[str, str]]:
        """{title, url} as an answer lists them."""
        return [{"title": fenced(one["title"]), "url": one["url"]} for one in self.results]


@dataclass(frozen=True)
class Searched:
    """The outcome of a search; `progress`: (provider, status done, empty or failed) in the order of
    requests. `degraded`: another provider than the first one answered, or none."""

    found: Found
    progress: list[tuple[str, str]] = field(default_factory=list)
    degraded: bool = False


def wants(state: State, asked: bool | None) -> bool:
    """Whether to search for a question: as the request says, else as the settings say."""
    return state.settings.model_web_search if asked is None else asked


def providers(state: State) -> tuple[str, ...]:
    """The providers to ask, in their order."""
    chosen = state.settings.web_search_provider
    if chosen != "auto":
        return (chosen,)
    return (TAVILY, DUCKDUCKGO) if state.settings.tavily_api_key else (DUCKDUCKGO,)


async def search(state: State, query: str) -> Searched:
    """Hits of the first provider that has any."""
    clients, most = state.part(live_of).clients, state.settings.web_search_max_results
    text = " ".join(query.split())[:QUERY_CHARS]
    progress: list[tuple[str, str]] = []
    for name in providers(state):
        try:
            answered = await clients.ask({name: lambda one: one.search(text, most)}, order=(name,))
        except (UpstreamError, PayloadError, Unavailable) as error:
            log.warning("search by %s: %s", name, type(error).__name__)
            progress.append((name, "failed"))
            continue
        progress.append((name, "done" if answered.value else "empty"))
        if answered.value:
            return Searched(
                Found([dict(hit) for hit in answered.value]), progress, degraded=len(progress) > 1
            )
    return Searched(Found(), progress, degraded=True)
