"""Answers of open reads that are in memory, before any other layer of ours: what a busy chart costs.

What the layers inside decide is decided here as well: the rate limit (the same one), the version of the
tables, conditions, encoding, request id. A request that needs more goes on to them: a guarded route, a client
at its limit, a first read, a version for which a database on another machine has to be asked.
"""

import logging

from starlette.types import ASGIApp, Receive, Scope, Send

from serving_api.middleware.cached_responses import CachedResponses, Reply, name_route, respond
from serving_api.middleware.rate_limit import RateLimit
from serving_api.middleware.request_context import REQUEST_ID, Labels

_ASKED = {b"accept-encoding", b"if-none-match", REQUEST_ID}
logger = logging.getLogger(__name__)


class KnownAnswerLayer:
    """Answers from the cached responses where nothing has to be waited for, everything else by `app`."""

    def __init__(self, app: ASGIApp, responses: CachedResponses, limit: RateLimit, labels: Labels) -> None:
        self.app = app
        self._responses = responses
        self._limit = limit
        self._labels = labels

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            reply = self._known(scope)
            if reply is not None:
                await respond(reply, send)
                return
        await self.app(scope, receive, send)

    def _known(self, scope: Scope) -> Reply | None:
        try:
            return self._reply(scope)
        except Exception:
            # An error of ours: the layers inside answer, or refuse with the id of the request.
            logger.exception("%s is not answered at once", scope["path"])
            return None

    def _reply(self, scope: Scope) -> Reply | None:
        cached = self._responses.find_at_once(scope)
        if cached is None or self._limit.take(scope, self._limit.address(scope)):
            return None
        name_route(scope, cached.route)
        asked = {name: value for name, value in scope["headers"] if name in _ASKED}
        ids = self._labels.ids
        status, headers, body = self._responses.reply(cached, asked)
        request_id = ids.of(scope) if REQUEST_ID in asked else ids.new()
        return status, [*headers, *self._labels.of(request_id)], body
