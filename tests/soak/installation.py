"""Installations for the storm: the whole platform as `make run` starts it, or what loads data by hand."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resources.settings import load_settings
from schedules.services import Services, make_services
from schedules.supervisor import checks, process_plan
from schedules.supervisor.app import choose_ports
from schedules.supervisor.child_processes import POLL_S, ChildProcesses
from tests.schedules.dagster_side import start_dagster

ROOT = Path(__file__).parents[2]
NOW = "2026-08-21T15:45"
FIRST_LOAD_S = 900.0
STOP_S = 90.0
PAUSES = (
    "EM_MIN_INTERVAL", "EM_JITTER_MIN", "EM_JITTER_MAX", "TENCENT_MIN_INTERVAL", "XQ_MIN_INTERVAL",
    "EOD_STOCK_THROTTLE_MIN", "EOD_STOCK_THROTTLE_MAX",
)  # fmt: skip
"""A storm is dense: nobody waits for an upstream's sake."""


@dataclass
class Installation:
    """What runs in a folder, and the house that looks at it from outside."""

    folder: Path
    services: Services
    instance: Any
    said: list[str]

    def processes(self, *words: str) -> dict[int, str]:
        """Processes of this installation, all or those with one of `words` in their command line."""
        found = {}
        mark = f"DATA_DIR={self.folder}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if mark not in (entry / "environ").read_bytes().split(b"\0"):
                    continue
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue  # it ended meanwhile
            if line and (not words or any(word in line for word in words)):
                found[int(entry.name)] = line
        return found


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "DATA_DIR": str(folder),
        "DATA_SOURCE": "mock",
        "SAMPLE_STATE": "autumn-2026",
        "ENV_FILE": str(folder / "absent.env"),
        "DAGSTER_HOME": str(folder / "dagster"),
        "PYTHONPATH": str(ROOT),
        **dict.fromkeys(PAUSES, "0"),
        **more,
    }


def outside(folder: Path, env: Mapping[str, str], said: list[str]) -> Installation:
    from dagster import DagsterInstance

    settings = load_settings(env, dotenv=folder / "absent.env")
    return Installation(
        folder, make_services(settings), DagsterInstance.from_config(str(folder / "dagster")), said
    )


@contextmanager
def without_schedules(folder: Path, *, api_port: int = 0, **more: str) -> Iterator[Installation]:
    """Market, worker and what launches its runs, with `api_port` the API as well, kept by the supervisor's
    own child_processes; the market clock stands still, so nothing is scheduled."""
    env = environment(folder, SAMPLE_NOW=NOW, **more)
    settings = load_settings(env, dotenv=folder / "absent.env")
    chosen = choose_ports(settings, {})
    ports = replace(chosen, api=api_port, dagster=checks.free_port(), api_checks=())
    env |= process_plan.child_environment(settings, ports) | {"NUMBA_CACHE_DIR": str(ROOT / ".numba")}
    subprocess.run([sys.executable, "-m", "schedules.supervisor.prepare"], env=env, cwd=ROOT, check=True)
    said: list[str] = []
    child_processes = ChildProcesses(folder / "logs", env, said.append, backoff_s=(0.5, 1.0))
    child_processes.start(process_plan.simulator(settings, ports))
    start_dagster(child_processes, settings, ports)
    child_processes.start(process_plan.worker(settings, ports))
    if api_port:
        child_processes.start(process_plan.api(settings, ports, {}))
    child_processes.listen()

    def watch() -> None:
        while not child_processes.stopping.wait(POLL_S):
            child_processes.watch()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        with seen(folder, env, said) as made:
            yield made
    finally:
        child_processes.stopping.set()
        watching.join()
        child_processes.stop()


@contextmanager
def started(module: str, env: Mapping[str, str], limit_s: float) -> Iterator[list[str]]:
    """What a supervisor says, from the moment at which everything that it starts is up; stopped as by Ctrl-C.
    Raises RuntimeError when that takes longer than `limit_s`, or when it ends before."""
    said: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", module],
        env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as platform:  # fmt: skip
        threading.Thread(
            target=lambda: said.extend(line.rstrip() for line in platform.stdout or ()), daemon=True
        ).start()
        try:
            end = time.monotonic() + limit_s
            while not any("Ctrl-C stops" in line for line in said):
                if platform.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("the platform did not start:\n" + "\n".join(said[-20:]))
                time.sleep(0.2)
            yield said
        finally:
            platform.send_signal(signal.SIGTERM)
            try:
                platform.wait(STOP_S)
            except subprocess.TimeoutExpired:
                platform.kill()


@contextmanager
def seen(folder: Path, env: Mapping[str, str], said: list[str]) -> Iterator[Installation]:
    made = outside(folder, env, said)
    try:
        yield made
    finally:
        made.instance.dispose()
        made.services.engine.dispose()


@contextmanager
def whole_platform(folder: Path, *, history_dates: int) -> Iterator[Installation]:
    """`python -m schedules.supervisor` without the API, after its first load; the clock runs."""
    env = environment(
        folder,
        APP_ROLE="worker",
        DAGSTER_PORT="0",
        SAMPLE_HISTORY_DATES=str(history_dates),
        LOG_FORMAT="text",
    )
    with started("schedules.supervisor", env, FIRST_LOAD_S) as said, seen(folder, env, said) as made:
        yield made
