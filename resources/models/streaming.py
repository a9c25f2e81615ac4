"""Models through the official libraries: clients, events, timeouts and failures are handled alike for all
protocols."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

import httpx2

from resources.models.failures import CallFailed, WebPage, cut, failure, refuse_page, unreadable
from resources.models.protocol import Part, Prompt, Reply, ToolCall
from resources.models.providers import TIMEOUT_S, Provider

# -- Time limits for an answer.

T = TypeVar("T")
LONGEST = 10
"""The waits for a whole answer may take so many times the limit of one wait."""
MOST_MENDED = 2
"""So many things about a request may be changed: its address, and one parameter."""


class Patience:
    """The waits of one call: each at most `seconds`, all together LONGEST times that. Unlike a read timeout
    of the transport it is not renewed by keep-alive bytes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds * LONGEST

    async def within(self, work: Awaitable[T]) -> T:
        """Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(max(0.0, min(self._seconds, self._left))):
                return await work
        finally:
            self._left -= loop.time() - begun

    async def each(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """The items; TimeoutError when one is not there in time."""
        while True:
            try:
                item = await self.within(anext(items))
            except StopAsyncIteration:
                return
            yield item


# -- Arguments of tool calls as models write them.


def tool_call(call_id: str, name: str, raw: str, kept: tuple[Mapping[str, Any], ...] = ()) -> ToolCall:
    """`raw`: the JSON as it came; nothing at all means no arguments."""
    try:
        arguments = json.loads(raw) if raw.strip() else {}
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, None, raw, kept)
    return ToolCall(call_id, name, arguments, raw, kept)


class Answer(Protocol):
    """An answer as it grows, in the wire protocol of its provider."""

    stop: str | None
    """Why the model stopped, as the provider calls it; None until it did. Nothing of the answer comes after
    it, so an end of the stream that is lost does no harm."""

    def take(self, event: Any) -> Iterator[Part]:
        """What an event brings. AttributeError, TypeError or KeyError for one of another form."""
        ...

    def reply(self, provider: Provider) -> Reply:
        """The whole answer. Raises CallFailed when the model declined."""
        ...


class Adapter(ABC):
    """One model in the wire protocol of its provider, through the official `library`, with a client per key.
    `timeout_s`: for the connection, and for each event of the stream."""

    library: Any

    def __init__(self, provider: Provider, timeout_s: float = TIMEOUT_S) -> None:
        self.provider = provider
        self._timeout_s = timeout_s
        self._made: dict[str, Any] = {}
        self._retired: list[Any] = []
        # Made with the model, which may be in a thread: the first call on the event loop finds it loaded.
        self.calls(self._client_of((*provider.keys, "")[0]))

    @abstractmethod
    def client(self, **common: Any) -> Any:
        """A client of the library."""

    @abstractmethod
    def calls(self, client: Any) -> Any:
        """The part of a client whose `create` asks the model."""

    def events(self, response: Any) -> Any:
        """What `create` returned, as a context with the events of the answer."""
        return response

    def mend(self, failed: CallFailed) -> bool:
        """Whether the adapter changed what was refused, so that the same prompt may be sent again."""
        return False

    @abstractmethod
    def request(self, prompt: Prompt) -> dict[str, Any]:
        """What `create` is given."""

    @abstractmethod
    def answer(self, prompt: Prompt) -> Answer:
        """An answer that is still empty."""

    def _client_of(self, key: str) -> Any:
        if key not in self._made:
            self._made[key] = self.client(
                api_key=key or "none",
                # Off, since ours take keys and fallbacks into account.
                max_retries=0,
                timeout=self._timeout_s,
                http_client=self._connections(),
            )
        return self._made[key]

    def _connections(self) -> Any:
        """The library's HTTP client. It follows no redirect, since a key must not travel on; a proxy of the
        environment cannot reach our own loopback."""
        local = self.provider.local
        direct = {"transport": httpx2.AsyncHTTPTransport(), "trust_env": False} if local else {}
        return self.library.DefaultAsyncHttpxClient(
            follow_redirects=False, timeout=self._timeout_s, event_hooks={"response": [refuse_page]}, **direct
        )

    def _forget_clients(self) -> None:
        """Make new ones at the next call; answers under way keep theirs."""
        self._retired += self._made.values()
        self._made = {}

    async def stream(self, prompt: Prompt, key: str) -> AsyncGenerator[Part, None]:
        """Parts of the answer as they come, its Reply last. Raises CallFailed. Closing ends the request."""
        for mended in range(MOST_MENDED + 1):
            given = False
            try:
                async with aclosing(self._once(prompt, key)) as parts:
                    async for part in parts:
                        given = True
                        yield part
            except CallFailed as failed:
                if given or mended == MOST_MENDED or not self.mend(failed):
                    raise
            else:
                return

    async def _once(self, prompt: Prompt, key: str) -> AsyncGenerator[Part, None]:
        name, answer, patience = self.provider.name, self.answer(prompt), Patience(self._timeout_s)
        try:
            asked = self.calls(self._client_of(key)).create(**self.request(prompt), stream=True)
            stream = self.events(await patience.within(asked))
            async with stream, aclosing(patience.each(aiter(stream))) as events:
                async for event in events:
                    for part in _taken(answer, event, name):
                        yield part
        except (
            self.library.APIError, httpx2.HTTPError, TimeoutError, json.JSONDecodeError, UnicodeDecodeError,
            WebPage,
        ) as error:  # fmt: skip
            # Not chained: the library's message may repeat the prompt.
            raise failure(error, self.library, name) from None
        if answer.stop is None:
            raise cut(name)
        yield answer.reply(self.provider)

    async def close(self) -> None:
        made, self._made, self._retired = [*self._retired, *self._made.values()], {}, []
        for client in made:
            await client.close()


def _taken(answer: Answer, event: Any, provider_name: str) -> list[Part]:
    """What an event brings. The libraries check no types, so an event of another form shows here."""
    try:
        return list(answer.take(event))
    except (AttributeError, TypeError, KeyError) as error:
        raise unreadable(provider_name) from error
