"""Streamed answers: events, timeouts and failures are handled alike for all protocols."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any, Protocol

import httpx2

from resources.models.failures import cut, failure, unreadable
from resources.models.protocol import Part, Reply
from resources.models.providers import Provider
from resources.models.waiting import Patience


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
