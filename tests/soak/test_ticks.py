"""24 hours of ticks every 30 seconds, by real processes on an accelerated market clock, without trade:
memory, descriptors and rows stay where they are, but for what the few runs of the day leave.

The figures of every hour are printed as a table (CSV) behind `soak: ticks`.
"""

import os
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from statistics import mean

import pytest

from resources.orchestrator import Orchestrator
from schedules.tasks.native_schedules import TICK_S
from tests.soak.figures import KINDS, MIB, Figures, measure
from tests.soak.installation import Installation
from tests.soak.simulated import QUIET, SimulatedPlatform, simulated_platform

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc"),
]
BEGIN = datetime(2026, 9, 27, 5, 0)
"""A Sunday; the reload of midnight and the clean-up of Monday 04:30 are within the day."""
RELOADS = 4
"""Before the first figure: the definitions of a load or two stay in memory, and the day brings a reload."""
RELOAD_S = 20.0
HISTORY = "30"
HOURS = int(os.environ.get("SOAK_TICK_HOURS", "24"))
RATE = float(os.environ.get("SOAK_TICK_RATE", "40"))
"""Market seconds a second at most: a tick every three quarters of a second. It is less while the machine is
too busy for that."""
SLOWEST = 2.0
LATE = 1.2
"""Times the interval of the sensor that is still in time: the daemon waits for the end of a tick, and nine of
ten in `LOOK` are the rule."""
LOOK = timedelta(minutes=5)
LOAD_S = 1500.0
QUARTER = max(1, HOURS // 4)
RUNS = {"user_recall", "news_sync", "freshness_snapshot", "lake_publish", "data_cleanup"}
"""What runs on a Sunday and before dawn on Monday, by the task table."""
GROWN = 1.10
"""Memory of the last quarter against the second one."""
ALLOWED_MIB = 24
MORE_DESCRIPTORS = 6
ROWS_A_RUN = 400
"""Dagster's rows of one run: of the largest of these, with all its events."""
FRESHNESS_ROWS = 3
"""Changes of state that Dagster notes of an asset in a day."""
LEDGER_ROWS_A_RUN = 60


def settled(place: Installation, limit_s: float) -> None:
    """Returns when the work that the start asked for has ended."""
    end = time.monotonic() + limit_s
    queue = place.services.commands
    while any(queue.recent(status=status)[1] for status in ("queued", "running")):
        assert time.monotonic() < end, "the first load did not end"
        time.sleep(1)


def line(hour: float, ticks: int, found: Figures) -> str:
    parts: list[object] = [f"{hour:g}", ticks]
    for kind in KINDS:
        parts += [round(found.rss.get(kind, 0) / MIB), found.descriptors.get(kind, 0)]
    return ",".join(map(str, [*parts, found.rows_of("dagster."), found.rows_of("sys_")]))


HEAD = ",".join(["hour", "ticks", *(f"{kind}_{what}" for kind in KINDS for what in ("mib", "fds"))])


def day_of_ticks(platform: SimulatedPlatform, place: Installation) -> list[tuple[int, Figures]]:
    """(ticks of the task table's sensor so far, figures) of every hour, the first at the beginning."""
    begin = platform.clock.change(rate=RATE)
    found, looked = [], begin
    sys.stdout.write(f"soak: ticks,{HEAD},dagster_rows,sys_rows\n")
    for hour in range(HOURS + 1):
        while platform.clock.now() < begin + timedelta(hours=hour):
            time.sleep(0.2)
            looked = paced(platform, place, looked)
        figures = measure(place)
        ticks = sensor_ticks(place, begin)
        found.append((ticks, figures))
        sys.stdout.write(f"soak: ticks,{line(hour, ticks, figures)}\n")
        sys.stdout.flush()
    platform.clock.change(rate=1.0)
    return found


def paced(platform: SimulatedPlatform, place: Installation, looked: datetime) -> datetime:
    """Slow the clock down where ticks came late since `looked`, else let it run faster again; returns the
    time of the newest look."""
    now = platform.clock.now()
    if now - looked < LOOK:
        return looked
    late = sensor_ticks(place, looked) * TICK_S * LATE < (now - looked).total_seconds()
    rate = platform.clock.pace.rate
    platform.clock.change(rate=max(SLOWEST, 0.7 * rate) if late else min(RATE, 1.15 * rate))
    return now


def sensor_ticks(place: Installation, since: datetime) -> int:
    """Ticks of the sensor `task_table` since a market time, as Dagster's storage has them."""
    states = [state for state in place.instance.all_instigator_state() if state.name == "task_table"]
    after = (since - timedelta(hours=8) - datetime(1970, 1, 1)).total_seconds()
    return sum(
        len(place.instance.get_ticks(state.instigator_origin_id, state.selector_id, after=after))
        for state in states
    )


def warm_up(platform: SimulatedPlatform) -> None:
    """Reloads as on the first days; each process gets the time to follow it."""
    orchestrator = Orchestrator(platform.port, timeout_s=120.0)
    for _ in range(RELOADS):
        orchestrator.reload()
        time.sleep(RELOAD_S)


def told(found: list[tuple[int, Figures]]) -> str:
    """Memory (MiB) of each quarter of the day, by process."""
    parts = [found[start : start + QUARTER] for start in range(1, len(found), QUARTER)]
    by_kind = {
        kind: [round(mean(one.rss.get(kind, 0) for _, one in part) / MIB) for part in parts] for kind in KINDS
    }
    return f"MiB by quarter: {by_kind}"


def test_a_day_of_ticks_leaves_memory_descriptors_and_rows_flat(tmp_path: Path) -> None:
    with simulated_platform(
        tmp_path / "data", BEGIN - timedelta(minutes=30), SAMPLE_HISTORY_DATES=HISTORY, **QUIET
    ) as (platform, place):
        settled(place, LOAD_S)
        platform.clock.change(at=BEGIN)
        warm_up(platform)
        before = set(place.instance.get_run_ids())
        found = day_of_ticks(platform, place)
        ran = len(set(place.instance.get_run_ids()) - before)
        rows = place.services.scheduled_runs.since(BEGIN)
        assets = place.instance.get_asset_keys()

    # Beside them the sensor `gaps` loads what the short history lacks.
    assert {row.task_key for row in rows.values() if row.status in {"success", "partial"}} >= RUNS
    ticks = found[-1][0]
    assert ticks >= 0.8 * HOURS * 3600 / TICK_S, f"{ticks} ticks"
    sys.stdout.write(f"soak: ticks, {told(found)}\n")
    second, last = found[QUARTER : 2 * QUARTER], found[-QUARTER:]
    for kind in KINDS:
        if kind == "runs":
            continue  # processes of single runs, which come and go
        memory = [mean(one.rss.get(kind, 0) for _, one in part) / MIB for part in (second, last)]
        assert memory[1] <= GROWN * memory[0] + ALLOWED_MIB, (kind, memory)
        held = [max(one.descriptors.get(kind, 0) for _, one in part) for part in (second, last)]
        assert held[1] <= held[0] + MORE_DESCRIPTORS, (kind, held)
    first, end = found[0][1].rows, found[-1][1].rows
    grown = {name: end[name] - first.get(name, 0) for name in end if end[name] > first.get(name, 0)}
    sys.stdout.write(f"soak: ticks, rows that came in the day, by table: {grown}; runs: {ran}\n")
    events = ran * ROWS_A_RUN + FRESHNESS_ROWS * len(assets)
    for name, count in grown.items():
        most = events if name.startswith("dagster.") else ran * LEDGER_ROWS_A_RUN
        # Ticks themselves go after 2 days (sensors, skipped) or 30 (dagster.yaml).
        assert name == "dagster.job_ticks" or count <= most, (name, count)
