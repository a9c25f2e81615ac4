"""Streamed answers: events, timeouts and failures are handled alike for all protocols."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

import httpx2

from resources.models.failures import cut, failure, unreadable
from resources.models.protocol import Part, Reply, ToolCall
from resources.models.providers import Provider

# -- Time limits for an answer.

T = TypeVar("T")
LONGEST = 10
"""The waits for a whole answer may take so many times the limit of one wait."""


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


async def streamed(
    begin: Callable[[], Awaitable[Any]], answer: Answer, *, library: Any, provider: Provider, timeout_s: float
) -> AsyncGenerator[Part, None]:
    """Parts of `answer` as they come, its Reply last. `begin` asks and gives the library's stream. Raises
    CallFailed. Closing it ends the request."""
    provider_name = provider.name
    patience = Patience(timeout_s)
    try:
        stream = await patience.within(begin())
        async with stream, aclosing(patience.each(aiter(stream))) as events:
            async for event in events:
                for part in _taken(answer, event, provider_name):
                    yield part
    except (
        library.APIError, httpx2.HTTPError, TimeoutError, json.JSONDecodeError, UnicodeDecodeError,
    ) as error:  # fmt: skip
        # Not chained: the library's message may repeat the prompt.
        raise failure(error, library, provider_name) from None
    if answer.stop is None:
        raise cut(provider_name)
    yield answer.reply(provider)


def _taken(answer: Answer, event: Any, provider_name: str) -> list[Part]:
    """What an event brings. The libraries check no types, so an event of another form shows here."""
    try:
        return list(answer.take(event))
    except (AttributeError, TypeError, KeyError) as error:
        raise unreadable(provider_name) from error
