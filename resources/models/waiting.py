"""Time limits for an answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from typing import TypeVar

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
