"""A first load on one machine and on a cluster in which every part is killed once, with what they left."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from resources.warehouse.engine import make_engine, reading
from tests.soak.installation import PAUSES

ROOT = Path(__file__).parents[2]
NOW = "2026-08-21T20:00"
HISTORY = "20"
"""Trade dates of bars before the day: enough for the day's tables, few enough for the length of the test."""
START_S = 3600.0
DAY_JOB = "whole_day"
STEPS_DONE = "SELECT COUNT(*) FROM event_logs WHERE run_id=:run AND dagster_event_type='STEP_SUCCESS'"
_OF_DAY = "SELECT run_id FROM runs WHERE pipeline_name=:job ORDER BY id DESC LIMIT 1"


@dataclass
class Loaded:
    """A platform whose first load is over."""

    folder: Path
    warehouse: str
    said: list[str]
    seconds: float
    facts: dict[str, Any]

    def hashes(self) -> dict[tuple[str, str], str]:
        """(table, partition) -> content hash of its newest successful batch."""
        engine = make_engine(self.warehouse)
        try:
            with reading(engine) as connection:
                rows = connection.exec_driver_sql(
                    "SELECT table_name, partition_key, content_hash FROM sys_batch "
                    "WHERE status='success' AND content_hash IS NOT NULL ORDER BY finished_at, batch_id"
                ).all()
        finally:
            engine.dispose()
        return {(table, str(key)): found for table, key, found in rows}

    def jobs(self) -> dict[str, tuple[str, float]]:
        """Job of the first load -> how its newest run ended, and its seconds."""
        engine = make_engine(self.warehouse)
        try:
            with reading(engine) as connection:
                rows = connection.exec_driver_sql(
                    "SELECT task_key, status, started_at, finished_at FROM sys_slot "
                    "WHERE finished_at IS NOT NULL ORDER BY id"
                ).all()
        finally:
            engine.dispose()
        return {task: (status, _seconds(begun, ended)) for task, status, begun, ended in rows}


def _seconds(begun: object, ended: object) -> float:
    from datetime import datetime

    first, last = (datetime.fromisoformat(str(one)) for one in (begun, ended))
    return (last - first).total_seconds()


def environment(folder: Path, profile: str, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "DATA_DIR": str(folder),
        "DATA_SOURCE": "mock",
        "ENV_FILE": str(folder / "absent.env"),
        "PYTHONPATH": str(ROOT),
        "SAMPLE_NOW": NOW,
        "SAMPLE_PROFILE": profile,
        "SAMPLE_HISTORY_DATES": HISTORY,
        "API_PORT": "0",
        "DAGSTER_PORT": "0",
        "LOG_FORMAT": "text",
        **dict.fromkeys(PAUSES, "0"),
        **more,
    }


@contextmanager
def platform(module: str, env: dict[str, str], meanwhile: Callable[[], None]) -> Iterator[Loaded]:
    """`python -m module`, until its first load is over and the API answers."""
    said: list[str] = []
    began = time.monotonic()
    folder = Path(env["DATA_DIR"])
    with subprocess.Popen(
        [sys.executable, "-m", module], env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as running:  # fmt: skip
        threading.Thread(
            target=lambda: said.extend(line.rstrip() for line in running.stdout or ()), daemon=True
        ).start()
        try:
            while not any(
                line.startswith("loaded up to") or ("first load" in line and ";" in line) for line in said
            ):
                if running.poll() is not None or time.monotonic() - began > START_S:
                    raise RuntimeError("the platform did not start:\n" + "\n".join(said[-20:]))
                meanwhile()
                time.sleep(0.5)
            seconds = time.monotonic() - began
            while not any("Ctrl-C stops" in line for line in said):
                if running.poll() is not None:
                    raise RuntimeError("the platform ended:\n" + "\n".join(said[-20:]))
                time.sleep(0.2)
            warehouse = env.get("WAREHOUSE_URL") or f"sqlite:///{folder / 'warehouse.sqlite3'}"
            facts = json.loads((folder / "run.json").read_text())
            yield Loaded(folder, warehouse, said, seconds, facts)
        finally:
            running.send_signal(signal.SIGTERM)
            try:
                running.wait(60)
            except subprocess.TimeoutExpired:
                running.kill()


@dataclass
class Kills:
    """Kills each part once while the day is loaded: a step worker, then the broker, then the warehouse."""

    history: str
    folder: Path
    parts: list[tuple[str, float, Callable[[], None]]]
    """Name, share of the day's steps after which it is killed, how."""
    steps: int = 0
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._engine = sa.create_engine(self.history, poolclass=sa.pool.NullPool)

    def look(self) -> None:
        """Kill what is due."""
        if not self.parts:
            return
        try:
            with self._engine.connect() as connection:
                run = connection.execute(sa.text(_OF_DAY), {"job": DAY_JOB}).scalar()
                if run is None:
                    return
                done = connection.execute(sa.text(STEPS_DONE), {"run": run}).scalar() or 0
                planned = connection.execute(
                    sa.text(STEPS_DONE.replace("STEP_SUCCESS", "ASSET_MATERIALIZATION_PLANNED")), {"run": run}
                ).scalar()
        except sa.exc.DBAPIError:
            return  # its tables are not there yet
        self.steps = int(planned or 0)
        name, share, kill = self.parts[0]
        if self.steps and done >= share * self.steps:
            self.parts.pop(0)
            began = time.monotonic()
            kill()
            self.done.append(
                f"{name} killed after {done} of {self.steps} steps, back in {time.monotonic() - began:.0f} s"
            )

    def step_worker(self) -> None:
        """The first of the two, with everything that it started."""
        pid = json.loads((self.folder / "run.json").read_text())["pids"]["step_worker_1"]
        os.killpg(pid, signal.SIGKILL)
