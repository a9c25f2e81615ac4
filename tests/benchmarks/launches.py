"""A run's cost in time and in Dagster's history: from command to first event in a pre-started process beside
a process that starts for it, what a run takes beside its steps, and the bytes that it leaves."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import Command, CommandQueue
from tests.benchmarks.measure import Figure, faster
from tests.benchmarks.panel_data import LAST_DAY
from tests.benchmarks.runs import ROOT, Services, new_services, simulated_market

JOB = "fusion_kline_sync"
NOW = f"{LAST_DAY}T15:45"
SAMPLES = 12
COLD = 4
LIMIT_S = 300.0


@dataclass(frozen=True)
class Launch:
    """Seconds of one run: until Dagster called it started, and beside its steps from asking to the end."""

    started: float
    overhead: float


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with simulated_market("S", NOW, folder) as market:
            services = new_services(folder / "services", market, NOW)
            services.execute("security_list", LAST_DAY)
            home = folder / "services" / "dagster"
            with worker(services) as commands:
                ask(commands, home)  # what is loaded once
                warm = [ask(commands, home) for _ in range(SAMPLES)]
            cold = [start(services, home) for _ in range(COLD)]
            yield from launch_figures(warm, cold)
            yield from history_figures(home, bare_home(folder / "bare", services, JOB))


def launch_figures(warm: Sequence[Launch], cold: Sequence[Launch]) -> Iterator[Figure]:
    base = percentile([one.started for one in cold], 0.5)
    for part, target in ((0.5, 3.0), (0.95, 2.0)):
        yield faster(
            f"command accepted to run started, p{part * 100:.0f}, vs a process of its own (p50)",
            percentile([one.started for one in warm], part),
            base,
            target,
            note=f"{SAMPLES} commands one after the other, {COLD} processes",
        )
    yield faster(
        f"what {JOB} takes beside its steps, p50, vs a process of its own",
        percentile([one.overhead for one in warm], 0.5),
        percentile([one.overhead for one in cold], 0.5),
        2.0,
    )


def history_figures(home: Path, bare: Path) -> Iterator[Figure]:
    (events, size), (bare_events, bare_size) = left_by_run(home), left_by_run(bare)
    yield Figure(
        f"events of a run of {JOB}, vs the same assets and checks without a figure",
        f"{events:.0f}", f"{bare_events:.0f}", events / bare_events, 1.2, at_most=True,
    )  # fmt: skip
    yield Figure(
        f"bytes of events of a run of {JOB}, vs the same",
        f"{size / 1000:.0f} kB", f"{bare_size / 1000:.0f} kB", size / bare_size, 1.5, at_most=True,
        note=f"{size / events:.0f} bytes per event; SQLite stores half of them twice",
    )  # fmt: skip


@contextmanager
def worker(services: Services) -> Iterator[CommandQueue]:
    """A command worker with its run processes, and the queue that it works on."""
    started = subprocess.Popen(
        [sys.executable, "-m", "schedules.commands.worker"], cwd=ROOT, env=services.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    engine = make_engine(f"sqlite:///{services.environment['DATA_DIR']}/warehouse.sqlite3")
    try:
        yield CommandQueue(engine)
    finally:
        engine.dispose()
        started.send_signal(signal.SIGTERM)
        started.wait(60)


def ask(commands: CommandQueue, home: Path) -> Launch:
    accepted = time.time()
    asked = commands.enqueue("run_job", {"job": JOB, "partition_key": LAST_DAY}, requested_by="bench")
    ended: Command = commands.wait(asked.id, LIMIT_S)
    if ended.status != "success" or ended.run_id is None:
        raise RuntimeError(f"command {ended.id}: {ended.status} {ended.error}")
    return launch_of(home, ended.run_id, accepted)


def start(services: Services, home: Path) -> Launch:
    accepted = time.time()
    services.execute(JOB, LAST_DAY)
    return launch_of(home, newest_run(home), accepted)


def launch_of(home: Path, run_id: str, accepted: float) -> Launch:
    first, last, steps = times(home, run_id)
    return Launch(first - accepted, last - accepted - steps)


def times(home: Path, run_id: str) -> tuple[float, float, float]:
    """When a run started and ended (seconds of the epoch), and the seconds of its steps together."""
    marks: dict[str, float] = {}
    steps = 0.0
    for text in rows(home / f"history/runs/{run_id}.db", "SELECT event FROM event_logs"):
        entry = json.loads(str(text[0]))
        event = entry["dagster_event"] or {}
        kind = event.get("event_type_value", "")
        marks[kind] = entry["timestamp"]
        if kind == "STEP_SUCCESS":
            steps += event["event_specific_data"]["duration_ms"] / 1000
    return marks["PIPELINE_START"], marks["PIPELINE_SUCCESS"], steps


def newest_run(home: Path) -> str:
    ((run_id,),) = rows(home / "history/runs.db", "SELECT run_id FROM runs ORDER BY id DESC LIMIT 1")
    return str(run_id)


def left_by_run(home: Path) -> tuple[float, float]:
    """Events, and bytes of them, that the newest run left: in its own file and in the index."""
    run_id = newest_run(home)
    query = "SELECT COUNT(*), COALESCE(SUM(LENGTH(event)), 0) FROM event_logs WHERE run_id=?"
    own = rows(home / f"history/runs/{run_id}.db", query, run_id)[0]
    index = rows(home / "history/runs/index.db", query, run_id)[0]
    return float(own[0]), float(own[1] + index[1])


def rows(path: Path, query: str, *values: str) -> list[tuple[float, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return list(connection.execute(query, values))
    finally:
        connection.close()


def bare_home(folder: Path, services: Services, job: str) -> Path:
    """The history of one run with the job's assets and checks that do nothing and say nothing."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bare_run", job, LAST_DAY],
        cwd=ROOT, env={**os.environ, **services.environment, "DAGSTER_HOME": str(folder)}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"bare run: {done.stderr[-400:]}")
    return folder


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which `part` of them lie, taken from the values themselves."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
