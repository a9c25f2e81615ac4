"""A whole platform in miniature: sample world, terminal server on loopback, warehouse, pipeline run."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from platform_assets.declaration.registry import Registry, builtin_registry
from platform_assets.declaration.scope import Scope
from platform_assets.pipeline.load import Loaded, load_fused, load_raw, load_stage
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.calendar import shipped_calendar
from resources.clock import ManualClock
from resources.fetch import FetchLog
from resources.simulated_market.faults import FaultPlan
from resources.simulated_market.tdx import TdxServer
from resources.simulated_market.world.model import World
from resources.transport.gate import OpenGate
from resources.upstreams.desk import Desk
from resources.upstreams.tdx.client import TdxClient
from resources.warehouse.warehouse import Warehouse

TODAY = "2026-08-21"


@dataclass
class House:
    """What a pipeline test works with."""

    run: PipelineRun
    clock: ManualClock
    faults: FaultPlan
    world: World

    @property
    def warehouse(self) -> Warehouse:
        return self.run.warehouse

    @property
    def registry(self) -> Registry:
        return self.run.registry

    def scope(self, *dates: str, codes: tuple[str, ...] | None = None) -> Scope:
        return Scope(dates or (TODAY,), codes)

    def fresh(self) -> None:
        """A new run: what was asked once is asked again."""
        self.run.desk = self.run.desk.new_run()

    def raw(self, name: str, *dates: str) -> Loaded:
        return load_raw(self.run, self.registry.raws[name], self.scope(*dates))

    def stage(self, name: str, *dates: str) -> Loaded:
        return load_stage(self.run, self.registry.dataset(name), self.scope(*dates))

    def fuse(self, name: str, *dates: str, codes: tuple[str, ...] | None = None) -> Loaded:
        return load_fused(self.run, self.registry.dataset(name), self.scope(*dates, codes=codes))

    def master(self, *dates: str) -> None:
        """Security list, names and calendar of a date."""
        self.raw("raw_quote", *dates)
        self.stage("stock_master", *dates)
        self.fuse("stock_master", *dates)
        self.fuse("name_history", *dates)


@pytest.fixture(scope="session")
def sample_world() -> World:
    from resources.simulated_market.world.loader import load_world

    return load_world("synthetic", "S")


@pytest.fixture
def house(warehouse_url: str, tmp_path: Path, sample_world: World) -> Iterator[House]:
    clock = ManualClock(datetime.fromisoformat(f"{TODAY}T15:45"))
    faults = FaultPlan()
    server = TdxServer(sample_world, clock, faults)
    server.start()
    client = TdxClient(
        [server.address],
        gate=OpenGate(),
        clock=clock,
        fetches=FetchLog(),
        sleeper=lambda _seconds: None,
        calendar=shipped_calendar(),
    )
    registry = builtin_registry()
    warehouse = Warehouse(warehouse_url, registry.tables, clock=clock, payload_folder=tmp_path / "payloads")
    warehouse.migrate()
    desk = Desk(clock=clock, calendar=shipped_calendar(), makers={"tdx": client.with_fetches})
    run = PipelineRun(
        registry=registry,
        warehouse=warehouse,
        desk=desk,
        calendar=shipped_calendar(),
        clock=clock,
        trigger=Trigger("manual"),
        world="sample",
    )
    yield House(run, clock, faults, sample_world)
    client.close()
    server.stop()
    warehouse.close()
