"""Starlette's compression, past which goes what it would only pass on."""

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

SMALLEST = 1024
"""Bytes of an answer from which on it is compressed."""
ARROW = "application/vnd.apache.arrow.stream"
"""Rows for a program on the same network: large, and of numbers."""


class CompressionLayer(GZipMiddleware):
    """Compresses for clients that accept gzip; the answers of the others would cost it 10 us each."""

    def __init__(self, app: ASGIApp) -> None:
        excluded = (*DEFAULT_EXCLUDED_CONTENT_TYPES, ARROW)
        super().__init__(app, SMALLEST, compresslevel=1, exclude_content_types=excluded)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_accepted = scope["type"] == "http" and any(
            name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"]
        )
        await (super().__call__ if is_accepted else self.app)(scope, receive, send)
