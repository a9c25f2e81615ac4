"""`make real-day`: the whole path on real bars, into both engines, and a report of what came of it.

    python -m tests.real_day [--data DIR] [--until DATE] [--sessions N] [--engine sqlite|mariadb]
                             [--without-faults] [--without-page] [--out DIR]

DIR holds any set of real bars: the day is the newest date of its bars, or the newest up to DATE, and the
window the N sessions that end with it. Only the daily bars are needed. Exit code 1 when anything named in the
report fails; a MariaDB server that is not there fails as well. 2 when no day can be made of the files. The
report is kept in DIR (`build/real-day`), with a page that compares the sample market with the real one
(`tests.real_day.market`), where the set has the files for it.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import NotFound
from simulated_market.world.replay import ReplayWorld
from tests.conftest import listens, mariadb_database
from tests.databases import MARIADB_URL
from tests.real_day import scenarios
from tests.real_day.adjusted import compare_adjusted
from tests.real_day.compare import compare_all
from tests.real_day.figures import run_section, set_section
from tests.real_day.findings import Section
from tests.real_day.market.page import market_section
from tests.real_day.services import RealDay
from tests.real_day.truth import Truth, read
from tests.real_day.window import SESSIONS, NotUsable, Window, window_of

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


def whole_day(
    engine: str, files: Path, window: Window, world: ReplayWorld, truth: Truth, *, faults: bool
) -> list[Section]:
    """Everything on one engine."""
    sections: list[Section] = []
    smallest = min(Counter(symbol[:2] for symbol in truth.symbols).values())
    with (
        tempfile.TemporaryDirectory() as name,
        database(engine, Path(name)) as url,
        RealDay(world, files, window, url, Path(name) / "data") as day,
    ):
        if faults:
            sections.append(scenarios.cut_list(day, min(CUT, max(1, smallest // 2))))
        runs = day.load()
        sections.append(run_section(day, runs))
        compared = compare_all(day.warehouse, truth, window.today)
        compare_adjusted(day, truth, compared)
        sections.append(compared)
        sections.append(scenarios.second_run(day))
        if faults:
            sections.append(scenarios.other_unit(day, truth))
            sections.append(scenarios.wrong_instrument(day, truth))
        sections.append(scenarios.correction(day, truth))
    return sections


class Report:
    """What is said on the console, kept as a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "report.txt"
        self._path.write_text("", encoding="utf-8")

    def say(self, *lines: str) -> None:
        print("\n".join(lines), flush=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real_day", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("REAL_DATA_DIR", "../shared/data")))
    parser.add_argument("--until", help="YYYY-MM-DD: an earlier day of the set")
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--engine", choices=ENGINES, action="append")
    parser.add_argument("--without-faults", action="store_true")
    parser.add_argument("--without-page", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("build/real-day"))
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    try:
        window = window_of(asked.data, asked.sessions, asked.until)
        world = ReplayWorld(asked.data)
    except (NotUsable, NotFound) as error:
        print(f"no day of these files: {error}; set REAL_DATA_DIR or --data", file=sys.stderr)
        return 2
    truth = read(asked.data, window.since, window.today)
    report = Report(asked.out)
    report.say(*set_section(asked.data, window, truth).lines())
    failed = 0
    for engine in asked.engine or ENGINES:
        started = time.perf_counter()
        title = f"real day {window.since}..{window.today} on {engine}"
        report.say("=" * len(title), title, "=" * len(title), "")
        for section in whole_day(engine, asked.data, window, world, truth, faults=not asked.without_faults):
            report.say(*section.lines())
            failed += len(section.failed)
        report.say(f"{engine}: {time.perf_counter() - started:.0f} s", "")
    if not asked.without_page:
        section = market_section(asked.data, asked.out)
        report.say(*section.lines())
        failed += len(section.failed)
    verdict = "everything holds" if not failed else f"{failed} FAILED"
    report.say(f"{verdict}; {time.perf_counter() - begin:.0f} s in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
