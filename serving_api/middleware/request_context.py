"""The layer around all work: an id for every request, the world that the data come from, the last resort.

Nothing escapes this layer: an unexpected error is logged with the request's id and answered as 500
'internal error' when no response has begun.
"""

import itertools
import logging
import re
import secrets
import traceback

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.logs import bound
from resources.redact import redact
from serving_api.framework.error_responses import error_response_of

REQUEST_ID = b"x-request-id"
DATA_WORLD = b"x-data-world"
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
logger = logging.getLogger(__name__)


class RequestIds:
    """Ids of this process: a random part of its own, then a count. Nothing is guarded by them, so the
    kernel is not asked for randomness once per request."""

    def __init__(self) -> None:
        self._own = secrets.token_hex(5)
        self._count = itertools.count(1)

    def of(self, scope: Scope) -> str:
        """The caller's own id when it is harmless, else a new one."""
        for name, value in scope["headers"]:
            if name == REQUEST_ID:
                text: str = value.decode("latin-1")
                if _SAFE_ID.fullmatch(text):
                    return text
        return f"{self._own}{next(self._count):06x}"


class RequestLayer:
    """Adds X-Request-ID to every response, and X-Data-World where the data are none of the real market."""

    def __init__(self, app: ASGIApp, world: str | None) -> None:
        self.app = app
        self._ids = RequestIds()
        self._world = [] if world is None else [(DATA_WORLD, world.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = self._ids.of(scope)
        started = False

        async def labelled(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], (REQUEST_ID, request_id.encode()), *self._world]
            await send(message)

        with bound(request_id=request_id):
            try:
                await self.app(scope, receive, labelled)
            except Exception as error:
                # The text may quote a statement or an address: it is logged redacted, never sent.
                trace = redact("".join(traceback.format_exception(error)))
                logger.error("%s %s [%s]\n%s", scope["method"], scope["path"], request_id, trace)  # noqa: TRY400
                if started:
                    raise
                await error_response_of(error).response()(scope, receive, labelled)
