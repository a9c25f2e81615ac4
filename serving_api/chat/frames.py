"""The stream of a chat on the wire: one frame per event, neither compressed nor buffered.

A frame is one line `data: <json>` and a blank line; the last one is `data: [DONE]`, after an error too.
When the client disconnects, the work behind the stream ends, also while nothing is being sent.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
import orjson
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from core.errors import PlatformError
from resources.redact import redact
from serving_api.chat.limits import SIGN_OF_LIFE_S
from serving_api.framework.cache_headers import NO_STORE

log = logging.getLogger(__name__)
DONE = b"data: [DONE]\n\n"
FAILED = "回答中断，请稍后再试"
_HEADERS = {"Cache-Control": NO_STORE, "X-Accel-Buffering": "no"}


def frame(event: dict[str, Any]) -> bytes:
    """JSON contains no line ends, so a frame is one line."""
    return b"data: " + orjson.dumps(event) + b"\n\n"


async def frames(events: AsyncGenerator[dict[str, Any], None]) -> AsyncGenerator[bytes, None]:
    """Frames of the events and the end marker. An exception becomes an error frame; its text goes to the
    log only."""
    try:
        async with aclosing(events) as open_events:
            async for event in open_events:
                yield frame(event)
    except PlatformError as error:
        log.warning("a stream broke: %s: %s", type(error).__name__, redact(error.message))
        yield frame({"type": "error", "message": FAILED})
    except Exception as error:  # The response has begun: the reader must still see the end.
        log.error("a stream broke: %s: %s", type(error).__name__, redact(str(error)))  # noqa: TRY400
        yield frame({"type": "error", "message": FAILED})
    yield DONE


T = TypeVar("T")


async def with_signs_of_life(parts: AsyncGenerator[T, None], until: float) -> AsyncGenerator[T | None, None]:
    """The parts, None where none came for SIGN_OF_LIFE_S. TimeoutError at `until` (the time of the loop)."""
    loop, waiting = asyncio.get_running_loop(), None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(parts, None))
            left = until - loop.time()
            done, _ = await asyncio.wait({waiting}, timeout=max(0.0, min(SIGN_OF_LIFE_S, left)))
            if done:
                part, waiting = waiting.result(), None
                if part is None:
                    return
                yield part
            elif left <= SIGN_OF_LIFE_S:
                raise TimeoutError
            else:
                yield None
    finally:
        if waiting is not None:
            # The parts can only be closed after it has ended.
            waiting.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({waiting})


class FrameStream(StreamingResponse):
    """`text/event-stream` of events."""

    media_type = "text/event-stream"

    def __init__(self, events: Callable[[], AsyncGenerator[dict[str, Any], None]]) -> None:
        super().__init__(frames(events()), headers=_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The server reports a disconnected client only when asked: it is polled while the stream is open."""
        async with anyio.create_task_group() as group:

            async def listen() -> None:
                await self.listen_for_disconnect(receive)
                group.cancel_scope.cancel()

            group.start_soon(listen)
            try:
                await self.stream_response(send)
            except OSError:
                log.info("the reader of a stream went away")
            group.cancel_scope.cancel()
