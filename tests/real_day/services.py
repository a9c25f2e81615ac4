"""One platform on real bars: the replay world behind its servers, a warehouse, Dagster runs in this process.

Everything between the two ends is the product's own: clients over loopback, jobs of the registry, runs with
run ids on a Dagster instance of their own.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import dagster as dg
from pydantic import PrivateAttr

from core.clock import FrozenClock
from platform_assets.definitions.assets import build_assets
from platform_assets.definitions.jobs import build_jobs
from platform_assets.definitions.resources import (
    CalendarResource,
    ClockResource,
    UpstreamsResource,
    WarehouseResource,
)
from resources.composition import Platform, open_platform
from resources.settings import Settings
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse
from simulated_market.service import SimulatedMarket
from simulated_market.world.replay import ReplayWorld
from simulated_market.world.replay_files import BASIC, LIST
from tests.real_day.window import Window, absent_files

_RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
_OPENED: dict[str, Platform] = {}


class HeldWarehouse(WarehouseResource):
    """The warehouse of the platform that a test opened under the name `held`."""

    held: str

    def settings(self) -> Settings:
        return _OPENED[self.held].settings

    def open(self) -> Warehouse:
        return _OPENED[self.held].warehouse


class HeldUpstreams(UpstreamsResource):
    """The clients of the platform that a test opened under the name `held`."""

    held: str
    _run: FetchContext | None = PrivateAttr(default=None)

    def open(self) -> FetchContext:
        if self._run is None:
            self._run = _OPENED[self.held].ctx.new_run()
        return self._run

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        self._run = None


def held_resources(held: str) -> dict[str, Any]:
    """The resources of a run on the platform that was opened under the name `held`."""
    calendar = CalendarResource()
    clock = ClockResource(frozen_at=_OPENED[held].settings.sample_now)
    return {
        "calendar": calendar,
        "clock": clock,
        "warehouse": HeldWarehouse(held=held, clock=clock),
        "upstreams": HeldUpstreams(held=held, clock=clock, calendar=calendar),
    }


@dataclass(frozen=True)
class Run:
    """One Dagster run. `failed`: asset -> its first line of failure; `without`: those of them that have
    nothing to load, because the set lacks a file that is optional."""

    job: str
    run_id: str
    success: bool
    seconds: float
    failed: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        """Nothing failed but for want of an optional file."""
        return self.success or (bool(self.failed) and set(self.failed) <= set(self.without))


_NEEDS = dict.fromkeys(("stg__stg_stock_industry", "dwd__fusion_stock_industry"), (LIST, BASIC))
"""Assets that have nothing to load when all of these files are absent."""


class RealDay:
    """A platform whose market clock is after the close of the window's last day. `folder` holds its
    data. Dagster's own records are kept there too, or `in_memory`."""

    def __init__(
        self,
        world: ReplayWorld,
        real_data_dir: Path,
        window: Window,
        warehouse_url: str,
        folder: Path,
        *,
        in_memory: bool = False,
    ) -> None:
        self.market = SimulatedMarket(world, FrozenClock(window.now))
        self.window = window
        self.files = real_data_dir
        self._url = warehouse_url
        self._folder = folder
        self._in_memory = in_memory
        self.runs: list[Run] = []

    def __enter__(self) -> "RealDay":
        self.market.start()
        host, port = self.market.tcp_address or ("", 0)
        self.settings = Settings(
            data_source="mock",
            sample_state="calm",
            data_dir=str(self._folder),
            warehouse_url=self._url,
            simulator_url=self.market.http_url,
            simulator_tdx=f"{host}:{port}",
            sample_world="replay",
            sample_now=self.window.now.isoformat(),
            real_data_dir=str(self.files),
            rate_limit_per_min=0,
        )
        self.platform = open_platform(self.settings)
        _OPENED[str(self._folder)] = self.platform
        home = self._folder / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        self.instance = (
            dg.DagsterInstance.ephemeral() if self._in_memory else dg.DagsterInstance.local_temp(str(home))
        )
        jobs = build_jobs(self.platform.registry)
        self._definitions = dg.Definitions(
            assets=build_assets(self.platform.registry),
            jobs=list(jobs.values()),
            resources=held_resources(str(self._folder)),
            executor=dg.in_process_executor,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del _OPENED[str(self._folder)]
        self.platform.close()
        self.instance.dispose()
        self.market.stop()

    @property
    def warehouse(self) -> Warehouse:
        return self.platform.warehouse

    # -- runs -------------------------------------------------------------------------------------

    def run(self, job: str, since: str, until: str | None = None) -> Run:
        """A run of `job` for one trade date, or for a range of them in a single run."""
        begin = time.perf_counter()
        one = until is None
        result = self._definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            partition_key=since if one else None,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={"app/trigger": "backfill" if not one else "manual", **self._range(since, until)},
            raise_on_error=False,
        )
        failed = {
            event.step_key or "": _reason(event)
            for event in result.all_events
            if event.event_type_value == "STEP_FAILURE"
        }
        absent = set(absent_files(self.files))
        without = tuple(asset for asset in failed if asset in _NEEDS and set(_NEEDS[asset]) <= absent)
        seconds = time.perf_counter() - begin
        made = Run(job, result.run_id, result.success, seconds, failed, without)
        self.runs.append(made)
        return made

    @staticmethod
    def _range(since: str, until: str | None) -> dict[str, str]:
        return {} if until is None else dict(zip(_RANGE, (since, until), strict=True))

    def load(self) -> list[Run]:
        """The whole path: security list and calendar, the backfill in one run, the day."""
        return [
            self.run("security_list", self.window.today),
            self.run("history", self.window.since, self.window.until),
            self.run("eod_core", self.window.today),
        ]

    # -- faults -----------------------------------------------------------------------------------

    @contextmanager
    def fault(self, *rules: dict[str, Any]) -> Iterator[None]:
        """Rules in force at the responders for the length of a block. Hosts that cool down from the fault
        before would not be asked, and this one not be heard."""
        self._forget_cooldowns()
        self.market.faults.replace(list(rules))
        try:
            yield
        finally:
            self.market.faults.clear()

    def _forget_cooldowns(self) -> None:
        file = self.settings.data_path / "transport.sqlite3"
        if file.exists():
            with closing(sqlite3.connect(file, timeout=10)) as connection, connection:
                connection.execute("DELETE FROM gate_state WHERE kind IN ('breaker', 'host')")


def _reason(event: Any) -> str:
    error = event.event_specific_data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return "" if error is None else str(error.message).strip().splitlines()[0][:300]
