"""A whole platform, all its processes real, on a market clock that the test moves (SAMPLE_CLOCK)."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.simulated_clock import SimulatedClock
from resources.orchestrator import Orchestrator
from schedules.supervisor.folders import read_run_facts, run_file
from tests.soak.installation import FIRST_LOAD_S, ROOT, Installation, environment, outside

QUIET = {"SCHEDULER_WARMUP_MARKET": "false", "SCHEDULER_BASEINFO_REFRESH": "false"}
"""Sensors whose runs have no scheduled run of their own."""
STOP_S = 90.0
LOADED = "SOAK_LOADED"
"""Name in the environment of a data folder that is copied in the place of a first load; it was loaded with
the same settings, up to the same day."""


@dataclass
class SimulatedPlatform:
    """The platform below `folder`; it may be stopped and started again like a machine."""

    folder: Path
    clock: SimulatedClock
    more: dict[str, str]
    said: list[str] = field(default_factory=list)
    process: "subprocess.Popen[str] | None" = None
    port: int = 0

    def environment(self) -> dict[str, str]:
        return environment(
            self.folder, SAMPLE_CLOCK=str(self.clock.path), LOG_FORMAT="text",
            DAGSTER_PORT=str(self.port), **self.more,
        )  # fmt: skip

    def start(self, limit_s: float = FIRST_LOAD_S) -> None:
        """Returns when every process is ready and the first load has ended."""
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        before = len(self.said)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "schedules.supervisor"],
            env=self.environment(), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        lines = self.process.stdout
        threading.Thread(
            target=lambda: self.said.extend(line.rstrip() for line in lines or ()), daemon=True
        ).start()
        end = time.monotonic() + limit_s
        while not any("Ctrl-C stops" in line for line in self.said[before:]):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the platform did not start:\n" + "\n".join(self.said[-20:]))
            time.sleep(0.2)

    def stop(self) -> None:
        """In order, as Ctrl-C does."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    @property
    def orchestrator(self) -> Orchestrator:
        return Orchestrator(self.port)

    def pids(self) -> dict[str, int]:
        """Process id by name, as the supervisor writes them down."""
        role = self.more.get("APP_ROLE", "all")
        facts: dict[str, Any] = read_run_facts(run_file(self.folder, role))
        return {name: int(pid) for name, pid in facts.get("pids", {}).items()}

    def ports(self) -> dict[str, int]:
        facts: dict[str, Any] = read_run_facts(run_file(self.folder, self.more.get("APP_ROLE", "all")))
        return {name: port for name, port in facts.get("ports", {}).items() if isinstance(port, int)}

    def kill(self, name: str) -> int:
        """As the operating system does it when memory is short; the id of what was killed."""
        pid = self.pids()[name]
        os.kill(pid, signal.SIGKILL)
        return pid


@contextmanager
def simulated_platform(
    folder: Path, at: datetime, **more: str
) -> Iterator[tuple[SimulatedPlatform, Installation]]:
    """A platform of the role `worker` (or APP_ROLE) after its first load, its clock at `at` and as fast as
    the system's. `folder` must not exist where SOAK_LOADED is copied."""
    if LOADED in os.environ:
        shutil.copytree(os.environ[LOADED], folder)
    folder.mkdir(parents=True, exist_ok=True)
    clock = SimulatedClock(folder.parent / f"{folder.name}-clock.json")
    clock.begin(at)
    platform = SimulatedPlatform(folder, clock, {"APP_ROLE": "worker", **more})
    try:
        platform.start()
        made = outside(folder, platform.environment(), platform.said)
        yield platform, made
        made.instance.dispose()
        made.services.engine.dispose()
    finally:
        platform.stop()
