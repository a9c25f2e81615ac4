"""Puts the API together: state, areas, middleware, error handlers."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypedDict, Unpack

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from core.calendar import TradeCalendar
from core.clock import Clock
from core.declaration.registry import builtin_registry
from core.errors import StorageError
from core.network_addresses import parse_networks
from resources import tracing
from resources.composition import market_clock, open_warehouse
from resources.redact import redact
from resources.settings import Settings
from resources.stored_calendar import StoredCalendar, stored_calendar
from resources.warehouse.engine import API_WRITE_WAIT_S
from resources.warehouse.warehouse import Warehouse
from serving_api.auth.credentials import Passwords
from serving_api.auth.service import Accounts
from serving_api.console.pages import add_console
from serving_api.console.session import SessionLayer
from serving_api.db.sessions import Reading
from serving_api.db.table_versions import Versions
from serving_api.framework import error_handlers
from serving_api.framework.application import Application, add_areas, refuse_open
from serving_api.framework.openapi import DESCRIPTION, add_docs_page
from serving_api.framework.state import State
from serving_api.framework.system_time import SystemTime
from serving_api.framework.threads import off_loop
from serving_api.framework.user import User
from serving_api.health.service import package_version
from serving_api.mcp.mounted import Mounted
from serving_api.middleware.compression import CompressionLayer
from serving_api.middleware.forwarded import ForwardedLayer
from serving_api.middleware.rate_limit import RateLimitLayer
from serving_api.middleware.request_context import RequestLayer
from serving_api.middleware.traced_requests import TraceLayer
from serving_api.routers import AREAS, TAGS
from serving_api.settings.mail import Mail

logger = logging.getLogger(__name__)

ALLOWED_HEADERS = ("Authorization", "Content-Type", "If-None-Match", "Last-Event-ID")
"""Headers that pages of CORS_ORIGINS may send. Not `X-Console`: the console's cookie is for its own pages, so
there are no credentials either, other pages send the token of a login."""
EXPOSED_HEADERS = (
    "ETag", "Retry-After", "X-Cache", "X-Cache-TTL", "X-Data-As-Of", "X-Data-Source", "X-Error-Code",
    "X-Factor", "X-Renumbered", "X-Request-ID", "X-Trade-Date",
)  # fmt: skip
PREFLIGHT_S = 600
"""How long a browser may keep the answer to a preflight."""
READ_WAIT_S = 1.0
"""WAL readers wait for no writer; this bounds the rare recovery of a log after a crash."""


class Parts(TypedDict, total=False):
    """Parts that a caller supplies; the others are made from the settings."""

    clock: Clock
    calendar: TradeCalendar
    system: SystemTime
    warehouse_reader: Warehouse
    warehouse_writer: Warehouse
    passwords: Passwords
    on_registered: Callable[[User], Awaitable[None] | None] | None


def build_state(settings: Settings, parts: Parts) -> State:
    """Everything that routes need; opens no connection and touches no file."""
    calendar = parts.get("calendar") or stored_calendar(settings)
    clock = parts.get("clock") or market_clock(settings)
    system = parts.get("system") or SystemTime()
    reader = parts.get("warehouse_reader") or open_warehouse(
        settings, builtin_registry(), clock, read_only=True, wait_s=READ_WAIT_S
    )
    writer = parts.get("warehouse_writer") or open_warehouse(
        settings, builtin_registry(), clock, wait_s=API_WRITE_WAIT_S
    )
    reading = Reading(reader)
    state = State(
        settings=settings,
        clock=clock,
        calendar=calendar,
        system=system,
        reading=reading,
        writer=writer,
        versions=Versions(reading, system.monotonic),
    )
    accounts = Accounts(state, passwords=parts.get("passwords"), on_registered=parts.get("on_registered"))
    state.parts[Accounts] = state.members = accounts
    return state


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    refuse_open(app)
    state: State = app.state.platform
    if isinstance(state.calendar, StoredCalendar):
        await off_loop(state.calendar.look)
    try:
        await state.part(Accounts).prepare()
    except StorageError as error:
        # Reads answer empty structures meanwhile; the first write tries again.
        logger.warning("the warehouse is not ready: %s", redact(str(error)))
    try:
        yield
    finally:
        state.close_parts()
        state.reading.close()


def create_app(settings: Settings, **parts: Unpack[Parts]) -> Application:
    """The application. What is not given is made from `settings`; nothing is opened before the first
    request or the lifespan."""
    state = build_state(settings, parts)
    app = Application(
        title="A-share research platform",
        version=package_version(),
        description=DESCRIPTION,
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        # Relative to the document: right behind a proxy and below a prefix as well.
        servers=[{"url": "./"}],
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        # Its spans would carry exceptions unredacted, and asking for a provider costs a cached read 6 %.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        # `add_middleware` puts its own before these: it sees every request, also the refused and the cached.
        middleware=[
            Middleware(RequestLayer, world=state.settings.world),
            Middleware(ForwardedLayer, proxies=parse_networks(settings.trusted_proxies)),
            Middleware(
                RateLimitLayer,
                per_minute=settings.rate_limit_per_min,
                monotonic=state.system.monotonic,
            ),
            Middleware(SessionLayer),
            Middleware(CompressionLayer),
        ],
    )
    app.state.platform = state
    accounts = state.part(Accounts)
    if accounts.on_registered is None:
        accounts.on_registered = state.part(Mail).welcome
    add_areas(app, AREAS)
    app.router.routes.append(Mounted())
    add_docs_page(app)
    add_console(app)
    error_handlers.install(app)
    if settings.metrics != "off":
        # Its packages are loaded by those who asked for it alone.
        from serving_api.metrics import add_metrics  # noqa: PLC0415

        add_metrics(app, state)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origin_list,
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=ALLOWED_HEADERS,
            expose_headers=EXPOSED_HEADERS,
            max_age=PREFLIGHT_S,
        )
    if tracing.is_on():
        app.add_middleware(TraceLayer)
    return app
