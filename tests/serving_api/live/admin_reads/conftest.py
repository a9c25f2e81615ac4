"""The app in front of the simulated market: sample world, real wire formats, loopback sockets."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from resources.upstreams.factory import make_clients
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.clients import LiveClients
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.serving_api import market as stored
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import ADMIN, FAST, Ticks, bearer, make_settings

TRADING = datetime(2026, 8, 21, 10, 30)
CLOSED = datetime(2026, 8, 21, 15, 30)


@dataclass
class FetchContext:
    """What a test moves and looks at."""

    api: Api
    app: FastAPI
    clock: ManualClock
    ticks: Ticks
    faults: FaultPlan
    world: World
    market: SimulatedMarket
    warehouse: Warehouse
    headers: dict[str, str]

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.api.get(path, params=params, headers=self.headers)

    def results(self, path: str, **params: Any) -> Any:
        answer = self.get(path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def silence(self, *upstreams: str) -> None:
        """These upstreams answer nothing that can be used."""
        rules = [
            {"upstream": name, "call": "*", "kind": "reset", "args": {}, "count": 0} for name in upstreams
        ]
        self.faults.replace(rules)

    def calls(self, upstream: str) -> int:
        return sum(self.market.calls().get(upstream, {}).values())


@pytest.fixture(scope="session")
def world() -> World:
    return load_world("synthetic", "S")


def master_rows(world: World, now: datetime) -> list[dict[str, Any]]:
    rows = []
    for one in world.securities(now):
        if one.kind == "index":
            continue
        total, floating = world.shares(one, now)
        listed = str(one.list_date)
        rows.append(
            {
                "code": one.code,
                "name": world.name(one, now),
                "market": one.market,
                "sec_type": one.kind,
                "board": one.board or None,
                "list_status": "L",
                "list_date": f"{listed[:4]}-{listed[4:6]}-{listed[6:]}",
                "is_st": "ST" in world.name(one, now),
                "total_shares": total,
                "float_shares": floating,
            }
        )
    return rows


@pytest.fixture(scope="session")
def filled(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and the master of the world, to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    tables = builtin_registry().tables
    warehouse = stored.open_warehouse(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, tables=tables)
    warehouse.migrate()
    stored.put(warehouse, warehouse.table("fusion_stock_master"), master_rows(world, TRADING))
    warehouse.close()  # the last connection takes its log into the file
    return folder / "warehouse.sqlite3"


@pytest.fixture
def ctx(tmp_path: Path, world: World, filled: Path) -> Iterator[FetchContext]:
    clock, ticks, faults = ManualClock(TRADING), Ticks(), FaultPlan()
    with SimulatedMarket(world, clock, faults) as market:
        host, port = market.tcp_address or ("", 0)
        settings = make_settings(
            tmp_path,
            data_source="mock",
            sample_state="calm",
            simulator_url=market.http_url,
            simulator_tdx=f"{host}:{port}",
            http_timeout=3.0,
            http_connect_timeout=3.0,
        )
        url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
        tables = builtin_registry().tables
        shutil.copy(filled, tmp_path / "warehouse.sqlite3")
        warehouse = stored.open_warehouse(url, tmp_path, tables=tables)
        app = create_app(
            settings,
            clock=clock,
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            warehouse_reader=stored.open_warehouse(url, tmp_path, tables=tables, read_only=True),
            warehouse_writer=stored.open_warehouse(url, tmp_path, tables=tables),
            passwords=FAST,
        )
        state = app.state.platform
        opener: Any = partial(make_clients, sleeper=lambda _seconds: None)
        state.parts[live_of] = Live(state, LiveClients(settings, clock, shipped_calendar(), opener))
        with running(app) as api:
            token = api.post("/auth/login", json=ADMIN).json()["access_token"]
            yield FetchContext(api, app, clock, ticks, faults, world, market, warehouse, bearer(token))
        warehouse.close()
