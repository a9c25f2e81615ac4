"""A sample market, loaded for some dates, and the app in front of it: one for all tests that only read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from platform_assets.pipeline.load import load_raw
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from serving_api.live.admin_reads.service import Live, live_of
from serving_api.live.clients import LiveClients
from simulated_market.world.loader import load_world
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import FAST, Ticks, make_settings

FRIDAYS = ("2026-08-07", "2026-08-14")
RAWS = (
    *("raw_risk_pledge", "raw_risk_goodwill", "raw_risk_comment", "raw_convertible_bond", "raw_reit"),
    *("raw_fund_etf", "raw_earnings_forecast", "raw_earnings_express", "cninfo_periodic_report"),
)


@dataclass
class Topics:
    """What a test looks at."""

    services: Services
    api: Api

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.api.get(path, params=params)

    def reported(self, path: str, **params: Any) -> Any:
        answer = self.get(path, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.services.warehouse.rows(table)


def load(services: Services) -> None:
    """What the topics read: bars of two weeks, and their tables of the newest session."""
    dates = services.run.calendar.last(10, TODAY)
    services.master()
    services.bars(*dates)
    services.raw("raw_risk_pledge", *dates)
    for name in RAWS:
        services.raw(name)
    services.raw("raw_fund_etf", *dates[:-1])
    services.fuse("ah_pair")
    code = services.warehouse.rows("ref_ah_pair")[0]["a_code"]
    load_raw(services.run, services.registry.raws["raw_hk_finance"], services.scope(codes=(code,)))
    services.raw("raw_concept_blocks")
    services.stage("stock_industry")
    services.fuse("stock_industry")
    services.stage("quote_snapshot")
    services.fuse("quote_snapshot")
    services.fuse("stock_wide")


@pytest.fixture(scope="session", params=SQLITE_OFTEN)
def topics(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    folder = tmp_path_factory.mktemp("topics")
    if request.param == "sqlite":
        yield from served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, load)
        return
    for url in mariadb_database("tests.serving_api.areas"):
        yield from served(url, folder, load)


def served(url: str, folder: Path, fill: Callable[[Services], None]) -> Iterator[Topics]:
    """A sample market that `fill` loads, and the app in front of it."""
    with opened_services(url, folder, load_world("synthetic", "S")) as services:
        fill(services)
        with in_front(services, url, folder) as api:
            yield Topics(services, api)


@contextmanager
def in_front(services: Services, url: str, folder: Path) -> Iterator[Api]:
    """The app over the database of a house, its live reads from the house's market."""
    clock: ManualClock = services.clock
    ticks = Ticks()
    tables = builtin_registry().tables
    payloads = folder / "payloads"
    app = create_app(
        make_settings(folder),
        clock=clock,
        calendar=services.run.calendar,
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=Warehouse(url, tables, clock=clock, payload_folder=payloads, read_only=True),
        warehouse_writer=Warehouse(url, tables, clock=clock, payload_folder=payloads),
        passwords=FAST,
    )
    state = app.state.platform
    makers = services.run.ctx._makers
    clients = LiveClients(state.settings, clock, state.calendar, lambda *_: (makers, ()))
    state.parts[live_of] = Live(state, clients)
    with running(app) as api:
        yield api
