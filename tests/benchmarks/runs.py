"""A platform of the benchmark's own: simulated market, empty warehouse, Dagster home; runs as processes.

`python -m tests.benchmarks.runs <job> <date> [<date> ...]` executes one run per date in one process, or with
`<first>..<last>` one run of the range, and prints one JSON line per run: seconds, success, error, and the
highest memory of the process so far.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import highest_memory
from tests.definitions.in_process import InProcessRuns

ROOT = Path(__file__).parents[2]
START_LIMIT_S = 600.0


@dataclass(frozen=True)
class Services:
    """Environment of the processes that work on one installation."""

    environment: dict[str, str]

    def execute(self, job: str, *dates: str, limit_s: float = 1500.0) -> list[dict[str, Any]]:
        """Run and return the reports; a run that fails raises RuntimeError with what it said."""
        done, reports = self._reports("tests.benchmarks.runs", job, *dates, limit_s=limit_s)
        failed = next((item for item in reports if not item["success"]), None)
        if failed is not None or done.returncode:
            raise RuntimeError(f"{job}: {failed['error'] if failed else done.stderr[-800:]}")
        return reports

    def load_every_table(self, day: str, limit_s: float = 1500.0) -> dict[str, dict[str, Any]]:
        """{part: report} of `tests.benchmarks.day_run`; raises RuntimeError where a table could not be
        loaded."""
        done, reports = self._reports("tests.benchmarks.day_run", day, limit_s=limit_s)
        failed = {item["part"]: item["failures"] for item in reports if item["failures"]}
        if failed or done.returncode:
            raise RuntimeError(f"every table of {day}: {failed or done.stderr[-800:]}")
        return {item["part"]: item for item in reports}

    def _reports(
        self, module: str, *arguments: str, limit_s: float
    ) -> tuple["subprocess.CompletedProcess[str]", list[dict[str, Any]]]:
        """A finished process of this house, and the JSON lines that it printed."""
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT, env=self.environment, timeout=limit_s, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@contextmanager
def simulated_market(profile: str, now: str, folder: Path) -> Iterator[dict[str, str]]:
    """The simulated upstreams in a process of their own; gives the settings that point at them."""
    ports = folder / "ports.json"
    command = [
        sys.executable, "-m", "simulated_market", "--profile", profile, "--now", now,
        "--state", "calm", "--http-port", "0", "--tcp-port", "0", "--ports-file", str(ports),
        "--cache-dir", str(folder / "world"), "--parent-pid", str(os.getpid()),
    ]  # fmt: skip
    started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + START_LIMIT_S
        while not ports.exists():
            if started.poll() is not None or time.monotonic() > limit:
                raise RuntimeError("the simulated market did not start")
            time.sleep(0.1)
        found = json.loads(ports.read_text())
        yield {
            "SIMULATOR_URL": f"http://{found['host']}:{found['http_port']}",
            "SIMULATOR_TDX": f"{found['host']}:{found['tcp_port']}",
        }
    finally:
        started.terminate()
        started.wait(20)


def new_services(folder: Path, market: dict[str, str], now: str) -> Services:
    home = folder / "dagster"
    home.mkdir(parents=True)
    (home / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
    return Services(
        {
            **os.environ,
            **market,
            "DAGSTER_HOME": str(home),
            "DATA_DIR": str(folder),
            "DATA_SOURCE": "mock",
            "SAMPLE_NOW": now,
            "ENV_FILE": str(folder / "absent.env"),
        }
    )


def main(job: str, dates: list[str]) -> int:
    from dagster import DagsterInstance

    from resources.orchestrator import RANGE_END, RANGE_START
    from schedules.code_location import defs

    runner = InProcessRuns(defs, DagsterInstance.get())
    for asked in dates:
        first, _, last = asked.partition("..")
        began, on_thread = time.perf_counter(), time.thread_time()
        outcome = runner.run(
            job,
            partition_key=None if last else first,
            tags={RANGE_START: first, RANGE_END: last} if last else {},
        )
        report = {
            "seconds": time.perf_counter() - began,
            "thread_s": time.thread_time() - on_thread,
            "success": outcome.success,
            "error": outcome.error,
            "peak": highest_memory(),
        }
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
