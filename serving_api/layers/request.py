"""The outermost layer: an id for every request, the world that the data come from, and the last resort.

Nothing escapes this layer: an unexpected error is logged with the request's id and answered as 500
'internal error' when no response has begun.
"""

import logging
import re
import secrets
import traceback

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.logs import bound
from resources.transport.redact import redact
from serving_api.errors import face_of

REQUEST_ID = b"x-request-id"
DATA_WORLD = b"x-data-world"
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
logger = logging.getLogger("serving_api.errors")


def request_id_of(scope: Scope) -> str:
    """The caller's own id when it is harmless, else a new one."""
    for name, value in scope["headers"]:
        if name == REQUEST_ID:
            text: str = value.decode("latin-1")
            if _SAFE_ID.fullmatch(text):
                return text
    return secrets.token_hex(8)


class RequestLayer:
    """Adds X-Request-ID and X-Data-World to every response."""

    def __init__(self, app: ASGIApp, world: str | None) -> None:
        self._app = app
        self._world = [] if world is None else [(DATA_WORLD, world.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        started = False

        async def labelled(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message["headers"], (REQUEST_ID, request_id.encode()), *self._world]
            await send(message)

        with bound(request_id=request_id):
            try:
                await self._app(scope, receive, labelled)
            except Exception as error:
                # The text may quote a statement or an address: it is logged redacted, never sent.
                trace = redact("".join(traceback.format_exception(error)))
                logger.error("%s %s [%s]\n%s", scope["method"], scope["path"], request_id, trace)  # noqa: TRY400
                if started:
                    raise
                await face_of(error).response()(scope, receive, labelled)
