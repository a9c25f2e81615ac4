"""`make real-day`: the whole path on real bars, into both engines, and a report of what came of it.

    python -m tests.real_day [--data DIR] [--engine sqlite|mariadb] [--without-faults]

Exit code 1 when anything named in the report fails; a MariaDB server that is not there fails as well.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resources.simulated_market.world.replay import ReplayWorld
from tests.conftest import listens, mariadb_database
from tests.databases import MARIADB_URL
from tests.real_day import scenarios
from tests.real_day.adjusted import compare_adjusted
from tests.real_day.compare import compare_all
from tests.real_day.figures import check_window, run_section
from tests.real_day.findings import Section
from tests.real_day.house import SINCE, TODAY, RealDay
from tests.real_day.truth import BARS, Truth, read

SLICE = Path(__file__).parents[1] / "real_data"
ENGINES = ("sqlite", "mariadb")
CUT = 100


@contextmanager
def database(engine: str, folder: Path) -> Iterator[str]:
    """URL of an empty database of the engine."""
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'warehouse.sqlite3'}"
        return
    if not listens(MARIADB_URL):
        raise SystemExit(f"MariaDB does not answer at {MARIADB_URL}; `--engine sqlite` does without it")
    yield from mariadb_database("builtin")


def whole_day(engine: str, files: Path, world: ReplayWorld, truth: Truth, *, faults: bool) -> list[Section]:
    """Everything on one engine."""
    sections: list[Section] = []
    with (
        tempfile.TemporaryDirectory() as name,
        database(engine, Path(name)) as url,
        RealDay(world, files, url, Path(name) / "data") as day,
    ):
        if faults:
            sections.append(scenarios.cut_list(day, CUT))
        runs = day.load()
        sections.append(run_section(day, runs))
        compared = compare_all(day.warehouse, truth, TODAY)
        check_window(truth, compared)
        compare_adjusted(day, truth, compared)
        sections.append(compared)
        sections.append(scenarios.second_run(day))
        if faults:
            sections.append(scenarios.other_unit(day, truth))
            sections.append(scenarios.wrong_instrument(day, truth))
        sections.append(scenarios.correction(day, truth))
    return sections


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real_day", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("REAL_DATA_DIR", "../shared/data")))
    parser.add_argument("--engine", choices=ENGINES, action="append")
    parser.add_argument("--without-faults", action="store_true")
    asked = parser.parse_args(arguments)
    if not (asked.data / BARS).exists():
        print(f"the full set is not there (no {BARS}); set REAL_DATA_DIR", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    world, truth = ReplayWorld(asked.data), read(asked.data, SINCE, TODAY)
    failed = 0
    for engine in asked.engine or ENGINES:
        started = time.perf_counter()
        title = f"real day {SINCE}..{TODAY} on {engine}"
        print(f"{'=' * len(title)}\n{title}\n{'=' * len(title)}\n", flush=True)
        for section in whole_day(engine, asked.data, world, truth, faults=not asked.without_faults):
            print("\n".join(section.lines()), flush=True)
            failed += len(section.failed)
        print(f"{engine}: {time.perf_counter() - started:.0f} s\n", flush=True)
    verdict = "everything holds" if not failed else f"{failed} FAILED"
    print(f"{verdict}; {time.perf_counter() - begin:.0f} s in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
