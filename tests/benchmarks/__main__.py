"""`python -m tests.benchmarks [name ...]`: every benchmark in a process of its own, then one table.

Exit status 0 says that all were measured, not that all targets are met: the table says that.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measure import Figure, table

NAMES = (
    "storage", "panel", "lake_use", "compute", "quant", "serving", "launches",
    "day_parts", "ticks", "backfill", "screening", "live", "evidence", "chat", "console",
    "packages", "growth", "market",
)  # fmt: skip
"""What `make bench` runs, in an hour or more on two cores: the longest one, the whole market's day, last.
`cluster_day` is not among them: it needs MariaDB, PostgreSQL and RabbitMQ and some minutes more;
`make bench ARGS=cluster_day` runs it."""
BUDGET_S = 5400.0
ROOT = Path(__file__).parents[2]


def child(name: str, out: Path) -> None:
    """Run one benchmark, each figure written as soon as it is there."""
    with out.open("w", encoding="utf-8") as file:
        for figure in importlib.import_module(f"tests.benchmarks.{name}").run():
            file.write(json.dumps(figure.plain(), ensure_ascii=False) + "\n")
            file.flush()
            sys.stdout.write(f"  {figure.check}: {figure.figure} / {figure.baseline} = {figure.ratio:.2f}x\n")
            sys.stdout.flush()


def main(requested: list[str]) -> int:
    end = time.monotonic() + BUDGET_S
    figures: list[Figure] = []
    unmeasured = []
    with tempfile.TemporaryDirectory() as folder:
        for name in requested or NAMES:
            out = Path(folder) / name
            began = time.monotonic()
            sys.stdout.write(f"{name} ...\n")
            sys.stdout.flush()
            command = [sys.executable, "-m", "tests.benchmarks", "--child", name, str(out)]
            try:
                code = subprocess.run(
                    command, cwd=ROOT, timeout=max(1.0, end - began), check=False, env={**os.environ}
                ).returncode
                problem = f"exit status {code}" if code else ""
            except subprocess.TimeoutExpired:
                problem = f"the {BUDGET_S / 60:.0f} minutes were over"
            if out.exists():
                lines = out.read_text(encoding="utf-8").splitlines()
                figures += [Figure.parse(json.loads(line)) for line in lines]
            if problem:
                unmeasured.append(f"{name}: {problem}")
            sys.stdout.write(f"  {name}: {time.monotonic() - began:.0f} s {problem}\n")
    load = os.getloadavg()[1]
    sys.stdout.write(f"\n{table(figures)}\n{os.cpu_count()} cores, load {load:.1f}\n")
    for line in unmeasured:
        sys.stdout.write(f"NOT MEASURED {line}\n")
    return 1 if unmeasured else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
