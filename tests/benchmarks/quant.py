"""The daily calculations of a market of 5,500 stocks over 400 dates of bars, read and write included."""

import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from graphlib import TopologicalSorter
from pathlib import Path

from core.calendar import shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse
from tests.benchmarks.measure import MIB, Figure, PeakMemory, seconds
from tests.benchmarks.panel import fill
from tests.benchmarks.panel_data import LAST_DAY
from tests.benchmarks.store import mariadb_database, open_store

TASK = "quant_calc"
DATES = 400
WALL_S = 60.0
ROOM = 1536 * MIB


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from engine_figures("SQLite", f"sqlite:///{folder}/warehouse.sqlite3", Path(folder))
        with mariadb_database() as url:
            if url is not None:
                yield from engine_figures("MariaDB", url, Path(folder))


def engine_figures(engine: str, url: str, folder: Path) -> Iterator[Figure]:
    warehouse = open_store(url, folder)
    fill(warehouse, folder, DATES)
    with PeakMemory() as peak:
        first, parts = calculate(warehouse)
    again, _ = calculate(warehouse)
    warehouse.close()
    note = "kernels read from the cache or compiled; " + ", ".join(parts)
    yield Figure(
        f"{engine}: {TASK} of 5,500 stocks, vs the minute it may take",
        seconds(first),
        seconds(WALL_S),
        first / WALL_S,
        1.0,
        at_most=True,
        note=note,
    )
    yield Figure(
        f"{engine}: {TASK} again, nothing changed, vs the first run",
        seconds(again),
        seconds(first),
        again / first,
        at_most=True,
    )
    yield Figure(
        f"{engine}: {TASK}, memory beyond the start of the run, vs 1.5 GB",
        f"{peak.grown / MIB:.0f} MiB",
        f"{ROOM / MIB:.0f} MiB",
        peak.grown / ROOM,
        1.0,
        at_most=True,
    )


def calculate(warehouse: Warehouse) -> tuple[float, list[str]]:
    """(seconds of every table of the task for the newest date, each of them as text)."""
    registry, calendar = builtin_registry(), shipped_calendar()
    clock = ManualClock(datetime.fromisoformat(f"{LAST_DAY}T17:30"))
    ctx = FetchContext(clock=clock, calendar=calendar, makers={})
    tables = {one.table_name: one for one in registry.datasets.values() if TASK in one.tasks}
    needs = {name: set(one.reads) & tables.keys() for name, one in tables.items()}
    pipeline = PipelineRun(registry, warehouse, ctx, calendar, clock)
    parts = []
    began = time.perf_counter()
    for name in TopologicalSorter(needs).static_order():
        start = time.perf_counter()
        load_fused(pipeline, tables[name], Scope((LAST_DAY,)))
        parts.append(f"{name} {seconds(time.perf_counter() - start)}")
    return time.perf_counter() - began, parts
