"""`python -m schedules.supervisor.dagster_ui -h HOST -p PORT -w WORKSPACE`: Dagster's web server behind a
check of where a request comes from.

A browser that an operator uses can reach the UI: without the check any web page could start runs there.
Changes are accepted as JSON by POST only, which a browser sends to a foreign address after a preflight alone;
Host and Origin have to be those of the UI (`core/request_hosts.py`). With DAGSTER_LOGIN an administrator has
to be logged in at the console: its cookie goes to every port of the same host name.
"""

import argparse
import hmac
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
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

from core.errors import StorageError
from core.network_addresses import parse_networks
from core.request_hosts import LOCAL, host_of, is_allowed_host, is_allowed_origin, parse_hosts
from platform_assets.definitions.dagster_internals import WorkspaceFileTarget, WorkspaceProcessContext
from resources.listener import ListenerConfig, listen
from resources.orchestrator import programs_authorization
from resources.settings import Settings, load_settings

_READING = {"GET", "HEAD", "OPTIONS"}
_POLICY_VIOLATION = 1008
RawHeaders = list[tuple[bytes, bytes]]
IsAdmin = Callable[[RawHeaders], Awaitable[bool]]


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


class Login:
    """Passes on the platform's programs, administrators, and the address by which the UI is watched."""

    def __init__(self, app: ASGIApp, program: str, is_admin: IsAdmin, console_port: int) -> None:
        """`program`: the Authorization header of our processes; `is_admin`: whether a request's headers are
        those of an administrator."""
        self._app = app
        self._program = program.encode()
        self._is_admin = is_admin
        self._console_port = console_port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or connection."""
        if scope["type"] not in {"http", "websocket"} or await self._is_allowed(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(_POLICY_VIOLATION, "log in at the console")(scope, receive, send)
        else:
            host = host_of(Headers(scope=scope).get("host", "")) or LOCAL
            page = f"http://{f'[{host}]' if ':' in host else host}:{self._console_port}/console/login"
            text = f"Log in as an administrator at the console, {page}, and open this page again."
            await PlainTextResponse(text, 401)(scope, receive, send)

    async def _is_allowed(self, scope: Scope) -> bool:
        if scope["path"] == "/server_info":
            return True
        authorization = Headers(scope=scope).get("authorization", "").encode()
        return hmac.compare_digest(authorization, self._program) or await self._is_admin(scope["headers"])


@contextmanager
def behind_login(app: ASGIApp, settings: Settings) -> Iterator[ASGIApp]:
    """The app behind the platform's accounts: a token as Authorization header or as the console's cookie."""
    # Most installations have no login here and do without the API's modules.
    from serving_api.app import build_state  # noqa: PLC0415
    from serving_api.console.session import cookie_of  # noqa: PLC0415

    state = build_state(settings, {})

    async def is_admin(headers: RawHeaders) -> bool:
        authorization = Headers(raw=headers).get("authorization") or f"Bearer {cookie_of(headers) or ''}"
        try:
            user = await state.members.user_of(authorization)
        except StorageError:  # nobody is let in while accounts cannot be read
            return False
        return user is not None and user.is_admin

    try:
        yield Login(app, programs_authorization(settings), is_admin, settings.api_port)
    finally:
        state.close_parts()
        state.reading.close()


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
            pages: ASGIApp = create_app_from_workspace_process_context(context)
            with behind_login(pages, settings) if settings.dagster_login else nullcontext(pages) as app:
                config = ListenerConfig(
                    SameSite(app, hosts),
                    max_per_address=settings.max_connections_per_address,
                    proxies=parse_networks(settings.trusted_proxies),
                    log_level="warning",
                )
                uvicorn.Server(config).run([listen(options.host, options.port, "DAGSTER_PORT")])


if __name__ == "__main__":
    main()
