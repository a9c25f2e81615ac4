"""The app over a filled warehouse: shared by reading tests of a module, or a test's own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from core.clock import FrozenClock
from core.declaration.tables import Table
from core.errors import Unavailable
from resources.settings import Settings
from resources.warehouse.write_probe import WriteProbe
from serving_api.app import create_app
from serving_api.auth.credentials import Passwords
from serving_api.framework.system_time import SystemTime
from serving_api.health.service import Surroundings, surroundings_of
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.clients import LiveClients
from tests.conftest import mariadb_database
from tests.serving_api import market
from tests.serving_api.client import Api, running

FAST = Passwords(iterations=10)
ADMIN = {"username": "admin", "password": "correct horse"}


@dataclass
class Ticks:
    """Wall and monotonic seconds that a test moves."""

    seconds: float = 1_787_000_000.0  # 2026-08-18

    def wall(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class Bench:
    """What a test may reach behind the API."""

    api: Api
    ticks: Ticks
    url: str
    folder: Path
    extra: dict[str, Any] = field(default_factory=dict)

    def warehouse(self, **how: Any) -> market.Warehouse:
        return market.open_warehouse(self.url, self.folder, **how)

    def lose_database(self) -> None:
        """SQLite only: the file is gone, and every open handle with it."""
        self.api.app.state.platform.reading.close()
        for file in self.folder.glob("warehouse.sqlite3*"):
            file.unlink()

    def login(self, username: str, password: str) -> str:
        answer = self.api.post("/auth/login", json={"username": username, "password": password})
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["access_token"]
        return token

    def admin(self) -> dict[str, str]:
        return bearer(self.login(**ADMIN))

    def member(self, name: str = "reader") -> dict[str, str]:
        self.api.post(
            "/auth/register",
            json={"username": name, "email": f"{name}@example.com", "password": "pass word 1"},
        )
        return bearer(self.login(name, "pass word 1"))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def make_settings(folder: Path, **how: Any) -> Settings:
    values: dict[str, Any] = {
        "data_dir": str(folder),
        "rate_limit_per_min": 0,
        "admin_seed_password": ADMIN["password"],
        "command_wait_sec": 0.2,
        **how,
    }
    return Settings(**values)


def make_app(
    url: str, folder: Path, ticks: Ticks, *, tables: Iterable[Table] = market.TABLES, **settings: Any
) -> FastAPI:
    app = create_app(
        make_settings(folder, **settings),
        clock=FrozenClock(market.NOW),
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=market.open_warehouse(url, folder, tables=tables, read_only=True),
        warehouse_writer=market.open_warehouse(url, folder, tables=tables, pool={"wait_s": 0.2}),
        passwords=FAST,
    )
    without_dagster(app, url)
    return without_upstreams(app)


def without_dagster(app: FastAPI, url: str) -> None:
    """No webserver is asked, whatever listens on its port, and nobody waits long for a write."""
    state = app.state.platform

    def away() -> dict[str, float | None]:
        raise Unavailable("no webserver")

    probe = WriteProbe(url, "api", wait_s=0.1)
    state.parts[surroundings_of] = Surroundings(
        state.settings.data_path, probe.write, away, state.system.monotonic, probe.close
    )


def without_upstreams(app: FastAPI) -> FastAPI:
    """No test asks the real upstreams: every live read finds no client."""
    state = app.state.platform
    clients = LiveClients(state.settings, state.clock, state.calendar, lambda *_: ({}, []))
    state.parts[live_of] = Live(state, clients)
    return app


@pytest.fixture(scope="module", params=["sqlite", "mariadb"])
def shared_warehouse_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """One database per engine for the tests of a module that only read."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('warehouse') / 'warehouse.sqlite3'}"
        return
    yield from mariadb_database(request.module.__package__)


@pytest.fixture(scope="module")
def bench(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The app over the filled market, for a module's reading tests."""
    folder = tmp_path_factory.mktemp("data")
    ticks = Ticks()
    warehouse = market.open_warehouse(shared_warehouse_url, folder)
    warehouse.migrate()
    market.fill(warehouse)
    with running(make_app(shared_warehouse_url, folder, ticks)) as api:
        yield Bench(api, ticks, shared_warehouse_url, folder)
    warehouse.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Bench]:
    """The app over an empty SQLite warehouse of the test's own."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    ticks = Ticks()
    with running(make_app(url, tmp_path, ticks)) as api:
        yield Bench(api, ticks, url, tmp_path)


@pytest.fixture
def own_on_both(warehouse_url: str, tmp_path: Path) -> Iterator[Bench]:
    """The app over an empty warehouse of the test's own, on both engines."""
    warehouse = market.open_warehouse(warehouse_url, tmp_path)
    warehouse.migrate()
    warehouse.close()
    ticks = Ticks()
    with running(make_app(warehouse_url, tmp_path, ticks)) as api:
        yield Bench(api, ticks, warehouse_url, tmp_path)
