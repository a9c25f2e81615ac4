"""One API process of the tests."""

import socket
from multiprocessing.connection import Connection
from pathlib import Path

import uvicorn

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from serving_api.app import create_app
from serving_api.framework.application import Application
from serving_api.framework.system_time import SystemTime
from tests.serving_api import market
from tests.serving_api.conftest import FAST, Ticks, make_settings, without_upstreams


def make(url: str, folder: Path) -> Application:
    """The app over all tables of the project."""
    tables, ticks = builtin_registry().tables, Ticks()
    app = create_app(
        make_settings(folder, mcp_allowed_hosts="research.example.com"),
        clock=FrozenClock(market.NOW),
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=market.open_warehouse(url, folder, tables=tables, read_only=True),
        warehouse_writer=market.open_warehouse(url, folder, tables=tables),
        passwords=FAST,
    )
    without_upstreams(app)
    return app


def serve(url: str, folder: str, reported: Connection) -> None:
    """Tell the port, then answer until a signal ends it."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    reported.send(sock.getsockname()[1])
    config = uvicorn.Config(make(url, Path(folder)), log_level="warning", loop="uvloop")
    uvicorn.Server(config).run(sockets=[sock])
