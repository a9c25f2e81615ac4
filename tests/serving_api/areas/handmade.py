"""A market of a few rows that tests write by hand, calculated by the real loads, with the app in front."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import FAST, Ticks, make_settings, without_upstreams


@dataclass
class Handmade:
    """What a test writes to, calculates with, and asks."""

    run: PipelineRun
    clock: ManualClock
    api: Api

    def put(self, table: str, rows: list[dict[str, Any]]) -> None:
        """Bring rows into a table; none is removed."""
        frame = pd.DataFrame([{"src": "test", **row} for row in rows])
        writer = self.run.warehouse.writer
        writer.write(self.run.warehouse.table(table), frame, where=Slice(), batch=Batch(partition_key="test"))

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.run.warehouse.rows(table)

    def at(self, day: str, hour: str = "17:40") -> None:
        self.clock.at = datetime.fromisoformat(f"{day}T{hour}")

    def calculate(self, dataset: str, *dates: str) -> Loaded:
        return load_fused(self.run, self.run.registry.dataset(dataset), Scope(dates))

    def reported(self, path: str, **params: Any) -> Any:
        answer = self.api.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path: str, **params: Any) -> str:
        """What a 422 says."""
        answer = self.api.get(path, params=params)
        assert answer.status_code == 422, answer.text
        return str(answer.json()["detail"])

    def call(self, interface: str, **params: Any) -> Any:
        asked = {"interface": interface, "params": params}
        answer = self.api.post("/datamgr/fusion/call", json=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]


@contextmanager
def handmade(url: str, folder: Path, day: str) -> Iterator[Handmade]:
    """An empty market at 17:40 of `day`."""
    clock = ManualClock(datetime.fromisoformat(f"{day}T17:40"))
    tables, calendar, ticks = builtin_registry().tables, shipped_calendar(), Ticks()

    def opened(**how: Any) -> Warehouse:
        return Warehouse(url, tables, clock=clock, payload_folder=folder / "payloads", **how)

    warehouse = opened()
    warehouse.migrate()
    ctx = FetchContext(clock=clock, calendar=calendar, makers={})
    run = PipelineRun(builtin_registry(), warehouse, ctx, calendar, clock)
    app = create_app(
        make_settings(folder),
        clock=clock,
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=opened(read_only=True),
        warehouse_writer=opened(),
        passwords=FAST,
    )
    with running(without_upstreams(app)) as api:
        yield Handmade(run, clock, api)
    ctx.close()
    warehouse.close()
