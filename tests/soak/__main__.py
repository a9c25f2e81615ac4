"""`python -m tests.soak`: the tests at the size that needs time, within two hours, with a report at the end.

Three parts: what is marked `soak`, the property tests of the upstreams with 10,000 examples each, and the
fuzzing of every route of the API. A part that runs out of the time is ended and counted as failed.
"""

import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUDGET_S = 7200.0
EXAMPLES = os.environ.get("SOAK_EXAMPLES", "10000")
FUZZ = os.environ.get("FUZZ_EXAMPLES", "25")
_SHOWN = re.compile(r"kill -9|soak:|cluster day:|skipped for something|FAILED|ERROR|=+ .*\d+ (passed|failed)")


@dataclass(frozen=True)
class Part:
    name: str
    arguments: tuple[str, ...]


PARTS = (
    Part("marked soak", ("-m", "soak", "tests")),
    Part(f"property tests of the upstreams, {EXAMPLES} examples", ("-m", "not soak", "tests/upstreams")),
    Part(f"fuzzing of the API, {FUZZ} examples a route", ("tests/serving_api/test_fuzz.py",)),
)


def run(part: Part, limit_s: float) -> tuple[bool, list[str], float]:
    """(passed, lines for the report, seconds). What the tests say is shown as they say it."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "load", "-vv", *part.arguments]
    environment = {**os.environ, "SOAK_EXAMPLES": EXAMPLES, "FUZZ_EXAMPLES": FUZZ}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as tests:
        clock = threading.Timer(limit_s, tests.terminate)
        clock.start()
        reported = []
        for line in tests.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            reported.append(line.rstrip("\n"))
        in_time = clock.is_alive()
        clock.cancel()
    seconds = time.monotonic() - began
    if not in_time:
        return False, [f"ended after {limit_s:.0f} s: the two hours were over"], seconds
    return tests.returncode == 0, [line for line in reported if _SHOWN.match(line)], seconds


def main() -> int:
    end = time.monotonic() + BUDGET_S
    fine = True
    report = []
    for part in PARTS:
        passed, lines, seconds = run(part, max(1.0, end - time.monotonic()))
        fine = fine and passed
        report.append(f"{part.name}: {'passed' if passed else 'FAILED'} in {seconds / 60:.1f} min")
        report += [f"  {line}" for line in lines]
    sys.stdout.write("\n".join(["", "soak report", *report, ""]))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
