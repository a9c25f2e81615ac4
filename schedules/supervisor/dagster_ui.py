"""`python -m schedules.supervisor.dagster_ui -h HOST -p PORT -w WORKSPACE`: Dagster's web server behind a
check of where a request comes from.

The UI has no login, and a browser that an operator uses can reach it: without the check any web page could
start runs there. Changes are accepted as JSON by POST only, which a browser sends to a foreign address after
a preflight alone; Host and Origin have to be those of the UI (`core/request_hosts.py`).
"""

import argparse
from collections.abc import Collection
from pathlib import Path

import uvicorn
from dagster import DagsterInstance
from dagster_webserver.app import create_app_from_workspace_process_context
from dagster_webserver.cli import (
    DEFAULT_DB_STATEMENT_TIMEOUT,
    DEFAULT_POOL_MAX_OVERFLOW,
    DEFAULT_POOL_RECYCLE,
)
from dagster_webserver.version import __version__
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from core.request_hosts import is_allowed_host, is_allowed_origin, parse_hosts
from platform_assets.definitions.dagster_internals import WorkspaceFileTarget, WorkspaceProcessContext
from resources.settings import load_settings

_READING = {"GET", "HEAD", "OPTIONS"}
_POLICY_VIOLATION = 1008


class SameSite:
    """Passes on what comes from the UI's own pages and from programs; anything else is refused by name."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        """`hosts`: names under which the UI may be requested, beside addresses in digits and localhost."""
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or connection."""
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(_POLICY_VIOLATION, refusal[1])(scope, receive, send)
        else:
            status, reason = refusal
            await PlainTextResponse(reason, status)(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """(status, reason), None for what is passed on."""
        headers = Headers(scope=scope)
        host = headers.get("host")
        if not is_allowed_host(host, self._hosts):
            return 421, "Host: this name is not listed in DAGSTER_ALLOWED_HOSTS"
        if not is_allowed_origin(headers.get("origin"), host, self._hosts):
            return 403, "Origin: pages of other sites may not use the Dagster UI"
        return _form(scope, headers) if scope["type"] == "http" else None


def _form(scope: Scope, headers: Headers) -> tuple[int, str] | None:
    """What is wrong with the method and the type of a request."""
    if scope["method"] in _READING:
        if scope["path"].endswith("/graphql") and "query" in HTTPConnection(scope).query_params:
            return 405, "send GraphQL as JSON by POST"
    elif headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return 415, "Content-Type: application/json is accepted"
    return None


def main() -> None:
    """Serve until a signal ends the process."""
    parser = argparse.ArgumentParser(
        description="Dagster's web server for requests of its own pages", add_help=False
    )
    parser.add_argument("-h", "--host", default="127.0.0.1")
    parser.add_argument("-p", "--port", type=int, default=3000)
    parser.add_argument("-w", "--workspace", type=Path, required=True)
    options = parser.parse_args()
    settings = load_settings()
    hosts = parse_hosts(f"{settings.dagster_host},{settings.dagster_allowed_hosts}")
    with DagsterInstance.get() as instance:
        instance.optimize_for_webserver(
            DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_RECYCLE, DEFAULT_POOL_MAX_OVERFLOW
        )
        with WorkspaceProcessContext(
            instance, WorkspaceFileTarget([str(options.workspace)]), version=__version__
        ) as context:
            app = create_app_from_workspace_process_context(context)
            uvicorn.run(SameSite(app, hosts), host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
