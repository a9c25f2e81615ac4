"""The app over what the pipeline really loaded, and over empty tables of the declarations."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from core.clock import Clock, ManualClock
from core.declaration.registry import builtin_registry
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import ADMIN, FAST, Ticks, bearer, make_settings

DATES = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")
UI_PORT = 3999


@dataclass
class FetchContext:
    """An administrator in front of the API, and the warehouse behind it."""

    api: Api
    warehouse: Warehouse
    clock: ManualClock
    folder: Path
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, **how: Any) -> httpx.Response:
        return self.api.request(method, path, headers=self.headers, **how)

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.send("GET", path, params=params)

    def results(self, path: str, **params: Any) -> Any:
        """`results` of a read that must succeed."""
        answer = self.get(path, **params)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert (body["ok"], body["schema_version"]) == (True, 1)
        return body["results"]

    def execute(self, statement: str, *values: Any) -> None:
        with self.warehouse.engine.begin() as connection:
            connection.exec_driver_sql(self.warehouse.sql.text(statement), values)

    def scalar(self, statement: str, *values: Any) -> Any:
        return self.warehouse.query(statement, values)[0][0]


@contextmanager
def opened_context(
    warehouse: Warehouse, folder: Path, clock: Clock, **settings: Any
) -> Iterator[FetchContext]:
    """The app over `warehouse`, with the seed administrator logged in."""
    ticks = Ticks()
    reader = Warehouse(
        warehouse.url,
        builtin_registry().tables,
        clock=clock,
        payload_folder=folder / "payloads",
        read_only=True,
    )
    app = create_app(
        make_settings(folder, **{"dagster_port": UI_PORT, "command_wait_sec": 0.0, **settings}),
        clock=clock,
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=reader,
        warehouse_writer=warehouse,
        passwords=FAST,
    )
    with running(app) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        assert isinstance(clock, ManualClock)
        yield FetchContext(api, warehouse, clock, folder, bearer(token))


@pytest.fixture(scope="session")
def world() -> World:
    return load_world("synthetic", "S")


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def module_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One database per engine for the tests of a module that only read."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('loaded') / 'warehouse.sqlite3'}"
        return
    yield from mariadb_database("builtin")


@pytest.fixture(scope="module")
def services_folder(tmp_path_factory: pytest.TempPathFactory, module_url: str) -> Path:
    return tmp_path_factory.mktemp("services")


@pytest.fixture(scope="module")
def loaded(module_url: str, services_folder: Path, world: World) -> Iterator[Services]:
    """Five trade dates of bars, and the quotes of the last one, through the real clients."""
    with opened_services(module_url, services_folder, world) as services:
        services.master()
        services.stage("quote_snapshot")
        services.fuse("quote_snapshot")
        services.fuse("exright", *DATES)
        services.fuse("kline_daily", *DATES)
        yield services


@pytest.fixture(scope="module")
def ctx(loaded: Services, services_folder: Path) -> Iterator[FetchContext]:
    """The app over the loaded days, for reading tests."""
    with opened_context(loaded.warehouse, services_folder, loaded.clock) as opened:
        yield opened


@pytest.fixture(scope="session")
def declared_mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """All declared tables in a MariaDB database; making them takes longer than a test should."""
    clock = ManualClock(datetime.fromisoformat(f"{TODAY}T15:45"))
    for url in mariadb_database("builtin"):
        made = declared(url, tmp_path_factory.mktemp("made"), clock)
        yield made
        made.close()


def declared(url: str, folder: Path, clock: Clock) -> Warehouse:
    """A warehouse with every table of the declarations, empty."""
    warehouse = Warehouse(url, builtin_registry().tables, clock=clock, payload_folder=folder / "payloads")
    if not warehouse.sqlite and set(sa.inspect(warehouse.engine).get_table_names()) >= set(
        warehouse.metadata.tables
    ):
        return warehouse  # Made by an earlier test; looking at every column again takes a second.
    warehouse.migrate()
    return warehouse


def empty_tables(warehouse: Warehouse) -> None:
    """Take the rows out, as if the tables had just been made."""
    kept = {"sys_domain_lock", "table_version"}
    with warehouse.engine.begin() as connection:
        for name in warehouse.metadata.tables.keys() - kept:
            if connection.exec_driver_sql(f"SELECT 1 FROM {warehouse.sql.name(name)} LIMIT 1").first():
                connection.exec_driver_sql(f"DELETE FROM {warehouse.sql.name(name)}")
        connection.exec_driver_sql(
            "UPDATE table_version SET version=0, row_count=0, updated_at=NULL, confirmed_at=NULL, "
            "latest_date=NULL, last_batch_id=NULL"
        )


@pytest.fixture(params=SQLITE_OFTEN)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FetchContext]:
    """The app over empty tables of the test's own, on both engines."""
    clock = ManualClock(datetime.fromisoformat(f"{TODAY}T15:45"))
    if request.param == "mariadb":
        shared: Warehouse = request.getfixturevalue("declared_mariadb")
        warehouse = declared(shared.url, tmp_path, clock)
        empty_tables(warehouse)
    else:
        warehouse = declared(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, clock)
    with opened_context(warehouse, tmp_path, clock) as opened:
        yield opened
    warehouse.close()


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[FetchContext]:
    """The same on SQLite alone, for what no engine does differently."""
    clock = ManualClock(datetime.fromisoformat(f"{TODAY}T15:45"))
    warehouse = declared(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, clock)
    with opened_context(warehouse, tmp_path, clock) as opened:
        yield opened
    warehouse.close()
