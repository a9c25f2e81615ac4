"""A recorded day, made and replayed from the command line.

    python -m platform_assets.pipeline.recorded_day record 2026-08-21 recordings/2026-08-21
    python -m platform_assets.pipeline.recorded_day load recordings/2026-08-21 \\
        --into sqlite:///new.sqlite3 --date 2026-08-21

`record` copies what the platform received on a calendar day. `load` brings a day's tables up in another
warehouse from the recording alone: the same clients, parsers, checks and writes, without a socket. Begun from
equal stored rows, two replays leave equal tables, in whatever order the tables are loaded.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from core.errors import PlatformError
from platform_assets.pipeline.run import PipelineRun, Trigger
from platform_assets.pipeline.whole_day import Choose, load_day
from resources.composition import market_clock, open_warehouse
from resources.recordings import RecordedResponses, record
from resources.stored_settings import platform_settings
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.replay import replay_clients
from resources.warehouse.warehouse import Warehouse


def replay_run(folder: Path, warehouse_url: str) -> PipelineRun:
    """A run over a recording into a warehouse, at the time of its newest response. Close the warehouse."""
    recording = RecordedResponses(folder)
    registry, calendar, clock = builtin_registry(), shipped_calendar(), FrozenClock(recording.newest)
    warehouse = Warehouse(
        warehouse_url,
        registry.tables,
        clock=clock,
        payload_folder=folder.with_name(f"{folder.name}.payloads"),
    )
    warehouse.migrate()
    ctx = FetchContext(clock=clock, calendar=calendar, makers=replay_clients(recording, clock, calendar))
    return PipelineRun(
        registry=registry,
        warehouse=warehouse,
        ctx=ctx,
        calendar=calendar,
        clock=clock,
        trigger=Trigger("backfill", ref=f"replay {folder.name}"),
        world="replay",
    )


def replay(folder: Path, warehouse_url: str, dates: Sequence[str], choose: Choose = min) -> dict[str, str]:
    """Load every table of `dates` from a recording; what failed, by table."""
    run = replay_run(folder, warehouse_url)
    try:
        return dict(load_day(run, Scope(tuple(dates)), choose=choose))
    finally:
        run.warehouse.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Record a day of upstream responses, or replay it.")
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("record", help="copy what was received on a calendar day into a new folder")
    made.add_argument("day", help="YYYY-MM-DD")
    made.add_argument("folder", type=Path)
    loaded = commands.add_parser("load", help="load a day's tables from a recording")
    loaded.add_argument("folder", type=Path)
    loaded.add_argument("--into", required=True, help="address of the warehouse that is filled")
    loaded.add_argument("--date", action="append", required=True, help="trade date; may be given again")
    asked = parser.parse_args(arguments)
    try:
        return _record(asked.day, asked.folder) if asked.command == "record" else _load(asked)
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1


def _record(day: str, folder: Path) -> int:
    settings = platform_settings()
    clock = market_clock(settings)
    warehouse = open_warehouse(settings, builtin_registry(), clock)
    try:
        made = record(warehouse, day, folder)
    finally:
        warehouse.close()
    reported = f"{made.responses} responses, {made.bodies} bodies; {made.lost} are not kept any more"
    sys.stdout.write(f"{reported}\n")
    return 0


def _load(asked: argparse.Namespace) -> int:
    failures = replay(asked.folder, asked.into, sorted(asked.date))
    for table, why in sorted(failures.items()):
        sys.stderr.write(f"{table}: {why}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
