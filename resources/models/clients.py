"""Clients of the official libraries, one per key. Their own retries are off, since ours take keys and
fallbacks into account."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol

from resources.models.protocol import Part, Prompt
from resources.models.providers import Provider

TIMEOUT_S = 60.0
"""Client timeout (specification, AI limits)."""


class Adapter(Protocol):
    """One model in the wire protocol of its provider."""

    def stream(self, prompt: Prompt, key: str) -> AsyncGenerator[Part, None]:
        """Parts, the Reply last. Raises CallFailed. Closing it ends the request."""
        ...

    async def close(self) -> None: ...


class Clients:
    """Clients by key, made at their first use."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make
        self._made: dict[str, Any] = {}

    def of(self, key: str) -> Any:
        if key not in self._made:
            self._made[key] = self._make(key)
        return self._made[key]

    async def close(self) -> None:
        made, self._made = self._made, {}
        for client in made.values():
            await client.close()


def connections(library: Any, provider: Provider, timeout_s: float) -> Any:
    """The library's HTTP client. It follows no redirect, since a key must not travel on; a proxy of the
    environment cannot reach our own loopback."""
    # Loaded with the first model, as the libraries of the providers are.
    import httpx2  # noqa: PLC0415

    direct = {"transport": httpx2.AsyncHTTPTransport(), "trust_env": False} if provider.local else {}
    return library.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout_s, **direct)
