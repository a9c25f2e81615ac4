"""A whole platform in miniature: sample world, terminal server on loopback, warehouse, pipeline run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import Registry, builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.load import load_fused, load_raw, load_stage
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.settings import Settings
from resources.transport.gates import MemoryGate
from resources.transport.settings import transport_settings
from resources.upstreams.factory import make_clients
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, engine_url

if TYPE_CHECKING:
    from tests.pipeline.corrupted_market import CorrectDay

TODAY = "2026-08-21"


@dataclass
class Services:
    """What a pipeline test works with."""

    run: PipelineRun
    clock: ManualClock
    faults: FaultPlan
    world: World
    settings: Settings
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def warehouse(self) -> Warehouse:
        return self.run.warehouse

    @property
    def registry(self) -> Registry:
        return self.run.registry

    def scope(self, *dates: str, codes: tuple[str, ...] | None = None) -> Scope:
        return Scope(dates or (TODAY,), codes)

    def at(self, day: str) -> None:
        """A new run after the close of `day`."""
        self.clock.at = datetime.fromisoformat(f"{day}T15:45")
        self.fresh()

    def fresh(self) -> None:
        """A new run: what was asked once is asked again."""
        self.run.ctx = self.run.ctx.new_run()

    def raw(self, name: str, *dates: str) -> Loaded:
        return load_raw(self.run, self.registry.raws[name], self.scope(*dates))

    def stage(self, name: str, *dates: str) -> Loaded:
        return load_stage(self.run, self.registry.dataset(name), self.scope(*dates))

    def fuse(self, name: str, *dates: str, codes: tuple[str, ...] | None = None) -> Loaded:
        return load_fused(self.run, self.registry.dataset(name), self.scope(*dates, codes=codes))

    def day(self, *dates: str, money_flow: bool = True) -> None:
        """Everything of one trade date, in the order of the asset graph. No source has the money flow of the
        market of more than 50 trade dates ago."""
        self.master(*dates)
        self.raw("raw_concept_blocks", *dates)
        self.raw("raw_block_member", *dates)
        self.fuse("exright", *dates)
        self.fuse("exright_item", *dates)
        self.fuse("kline_daily", *dates)
        self.fuse("index_daily", *dates)
        flows = ("fund_flow",) if money_flow else ()
        for name in (*flows, "valuation"):
            self.raw(f"raw_{name}", *dates)
        for name in ("quote_snapshot", "valuation", *flows, "stock_industry"):
            self.stage(name, *dates)
            self.fuse(name, *dates)
        self.fuse("kline_bar", *dates)
        self.fuse("stock_wide", *dates)

    def bars(self, *dates: str) -> None:
        """Names, events and daily bars of some dates."""
        self.fuse("name_history", *dates)
        self.fuse("exright", *dates)
        self.fuse("exright_item", *dates)
        self.fuse("kline_daily", *dates)

    def master(self, *dates: str) -> None:
        """Security list, names and calendar of a date."""
        self.raw("raw_quote", *dates)
        self.stage("stock_master", *dates)
        self.fuse("stock_master", *dates)
        self.fuse("name_history", *dates)


@pytest.fixture(scope="session")
def sample_world() -> World:
    from simulated_market.world.loader import load_world

    return load_world("synthetic", "S")


@pytest.fixture(params=SQLITE_OFTEN)
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """MariaDB in the soak only: what an engine does its own way is tested below `tests/warehouse`, and whole
    days of all tables run on both (`test_whole_day`)."""
    yield from engine_url(request.param, tmp_path)


@pytest.fixture
def services(warehouse_url: str, tmp_path: Path, sample_world: World) -> Iterator[Services]:
    with opened_services(warehouse_url, tmp_path, sample_world) as opened:
        yield opened


@pytest.fixture
def alone(tmp_path: Path, sample_world: World) -> Iterator[Services]:
    """Services on SQLite only, for what does not depend on the engine."""
    with opened_services(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, sample_world) as opened:
        yield opened


def context_of(settings: Settings, clock: ManualClock) -> FetchContext:
    """Clients without pacing, whose breakers have seen nothing yet."""
    calendar = shipped_calendar()
    gate = MemoryGate(transport_settings(settings), sleeper=lambda _seconds: None)
    makers, closers = make_clients(settings, clock, calendar, gate=gate, sleeper=lambda _seconds: None)
    return FetchContext(clock=clock, calendar=calendar, makers=makers, closers=closers)


@contextmanager
def opened_services(url: str, folder: Path, world: World, today: str = TODAY) -> Iterator[Services]:
    """Services over the database at `url`, with files below `folder`; closed at the end."""
    clock = ManualClock(datetime.fromisoformat(f"{today}T15:45"))
    faults = FaultPlan()
    with SimulatedMarket(world, clock, faults) as market:
        settings = Settings(
            data_source="mock",
            sample_state=getattr(world, "state", "calm"),
            data_dir=str(folder),
            simulator_url=market.http_url,
            simulator_tdx=market.terminals,
        )
        registry = builtin_registry()
        warehouse = Warehouse(url, registry.tables, clock=clock, payload_folder=folder / "payloads")
        warehouse.migrate()
        ctx = context_of(settings, clock)
        run = PipelineRun(
            registry=registry,
            warehouse=warehouse,
            ctx=ctx,
            calendar=ctx.calendar,
            clock=clock,
            trigger=Trigger("manual"),
            world="sample",
        )
        yield Services(run, clock, faults, world, settings)
        ctx.close()
        warehouse.close()


@pytest.fixture(scope="module")
def few(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator["CorrectDay"]:
    """A correct day of the datasets that the module names in FEW."""
    from tests.pipeline.corrupted_market import correct_day  # which works with the services of this module

    with correct_day(tmp_path_factory.mktemp("few"), sample_world, request.module.FEW) as day:
        yield day


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator["CorrectDay"]:
    """A correct day of every dataset."""
    from tests.pipeline.corrupted_market import correct_day

    with correct_day(tmp_path_factory.mktemp("whole"), sample_world) as day:
        yield day
