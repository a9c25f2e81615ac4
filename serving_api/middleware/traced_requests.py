"""A span per request to /api/v1 or /mcp, which commands carry on. Added only where traces are configured:
health checks and scrapes, which come every few seconds, have none.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources import tracing
from serving_api.middleware.request_context import REQUEST_ID

_TRACED = ("/api/v1/", "/mcp")
_TRACEPARENT = b"traceparent"


class TraceLayer:
    """Continues the caller's `traceparent`, or begins a trace. The span has method, route and status; neither
    path, query nor body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(_TRACED):
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        parent = next((value for name, value in scope["headers"] if name == _TRACEPARENT), None)
        with tracing.span(
            method,
            "server",
            {"http.request.method": method},
            parent=None if parent is None else parent.decode("latin-1"),
        ) as step:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    request_id = dict(message["headers"]).get(REQUEST_ID, b"").decode("latin-1")
                    step.set({"http.response.status_code": status, "ashare.request_id": request_id})
                    if status >= 500:
                        step.fail(f"HTTP {status}")
                await send(message)

            try:
                await self.app(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path", None)
                if route is not None:
                    step.rename(f"{method} {route}")
                    step.set({"http.route": route})
