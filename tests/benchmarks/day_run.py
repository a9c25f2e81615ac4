"""`python -m tests.benchmarks.day_run <date>`: every table of one date in a process of its own, without
Dagster; then staging, fusion and calculations anew from what RAW tables hold.

Prints one JSON line per part: part, seconds, peak (highest memory of the process so far), failures, and what
the part wrote and asked.
"""

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.scope import Scope
from platform_assets.pipeline.run import PipelineRun, Trigger
from platform_assets.pipeline.whole_day import load_day
from resources.composition import Platform, open_platform
from resources.transport.settings import TransportSettings
from resources.upstreams.fetch_context import FetchContext
from tests.benchmarks.measure import highest_memory


def main(day: str) -> int:
    platform = open_platform()
    _part("day", platform, platform.ctx.new_run(), day)
    tables = [name for dataset in platform.registry.datasets.values() for name in from_stored(dataset)]
    with platform.warehouse.engine.begin() as connection:
        for name in tables:
            connection.exec_driver_sql(f"DELETE FROM {name}")
    # No client: what is loaded now comes from stored rows alone.
    _part(
        "fusion",
        platform,
        FetchContext(clock=platform.clock, calendar=platform.calendar, makers={}),
        day,
        tables,
    )
    platform.close()
    return 0


def from_stored(dataset: Dataset) -> tuple[str, ...]:
    """The tables of a dataset that are made from stored ones alone."""
    if dataset.staged:
        return (dataset.stage_name, dataset.table_name)
    if dataset.calculate is not None or dataset.owners:
        return (dataset.table_name,)
    return ()


def paced_seconds(calls: dict[str, int]) -> float:
    """What the pauses of the real upstreams add to so many calls, one after the other."""
    paces = TransportSettings()
    return sum(paces.seconds(name, number) for name, number in calls.items())


def _part(
    name: str, platform: Platform, ctx: FetchContext, day: str, tables: Sequence[str] | None = None
) -> None:
    run = PipelineRun(
        registry=platform.registry,
        warehouse=platform.warehouse,
        ctx=ctx,
        calendar=platform.calendar,
        clock=platform.clock,
        trigger=Trigger("manual", ref=name, run_id=f"benchmark {name}"),
        world=platform.settings.world,
    )
    began = time.perf_counter()
    failures = load_day(run, Scope((day,)), tables=tables)
    report: dict[str, Any] = {
        "part": name,
        "seconds": time.perf_counter() - began,
        "peak": highest_memory(),
        "failures": dict(failures),
        "tables": len(tables) if tables is not None else None,
        "written": _sum(platform, "SELECT SUM(rows_written) FROM sys_batch WHERE run_id=?", name),
        "calls": dict(
            platform.warehouse.query(
                "SELECT upstream, COUNT(*) FROM sys_fetch WHERE run_id=? GROUP BY upstream",
                (f"benchmark {name}",),
            )
        ),
    }
    sys.stdout.write(json.dumps(report, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _sum(platform: Platform, statement: str, name: str) -> int:
    return int(platform.warehouse.query(statement, (f"benchmark {name}",))[0][0] or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
