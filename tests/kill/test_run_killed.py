"""kill -9 of a process in a real Dagster run: the next worker sets it right, the rerun converges."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.kill.evidence import LAYERS, content, problems
from tests.kill.marks import Landing, landing

FIRST_DAY = "2026-08-17"
DAY = "2026-08-21"
NOW = datetime.fromisoformat(f"{DAY}T15:45")
ROOT = Path(__file__).parents[2]
LIMIT_S = 240.0
Report = Callable[[str, object], None]
Contents = dict[str, list[tuple[object, ...]]]


@dataclass
class Installation:
    """A warehouse, a Dagster home and the processes that run on them."""

    market: SimulatedMarket
    folder: Path
    url: str
    runs: int = 0

    def __post_init__(self) -> None:
        home = self.folder / "dagster"
        home.mkdir(parents=True)
        (home / "dagster.yaml").write_text((ROOT / "dagster.yaml").read_text())
        warehouse = self.warehouse()
        warehouse.migrate()
        warehouse.close()

    def warehouse(self) -> Warehouse:
        return Warehouse(
            self.url,
            builtin_registry().tables,
            clock=FrozenClock(NOW),
            payload_folder=self.folder / "payloads",
        )

    def start(self, dead: str = "-", die_after: int = 0) -> tuple[subprocess.Popen[bytes], Path]:
        """A process with one run; returns it and the file of its marks."""
        self.runs += 1
        marks = self.folder / f"marks{self.runs}"
        host, port = self.market.tcp_address or ("", 0)
        environment = {
            **os.environ,
            "DAGSTER_HOME": str(self.folder / "dagster"),
            "DATA_DIR": str(self.folder),
            "DATA_SOURCE": "mock",
            "SIMULATOR_URL": self.market.http_url,
            "SIMULATOR_TDX": f"{host}:{port}",
            "SAMPLE_NOW": NOW.isoformat(),
            "WAREHOUSE_URL": self.url,
            "ENV_FILE": str(self.folder / "absent.env"),
        }
        program = [sys.executable, "-m", "tests.kill.run_child"]
        arguments = [str(marks), f"node{self.runs}", dead, str(die_after), FIRST_DAY, DAY]
        with (self.folder / f"log{self.runs}").open("wb") as log:
            process = subprocess.Popen(
                program + arguments, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        return process, marks

    def finish(self, dead: str = "-") -> tuple[Path, float]:
        """Run to the end; returns the marks and how many seconds the run itself took."""
        process, marks = self.start(dead)
        wait_for_ready(process, marks)
        began = time.monotonic()
        assert process.wait(LIMIT_S) == 0, (self.folder / f"log{self.runs}").read_text()[-3000:]
        return marks, time.monotonic() - began

    def contents(self) -> Contents:
        """Content of every table of the declarations, history included; nothing of it may be torn."""
        warehouse = self.warehouse()
        found: Contents = {}
        for table in warehouse.tables.values():
            if table.layer in LAYERS:
                assert problems(warehouse, table) == []
                found[table.name] = content(warehouse, table)
                if table.has_history:
                    found[table.history_name] = content(warehouse, table, history=True)
        warehouse.close()
        return found


def wait_for_ready(process: "subprocess.Popen[bytes]", marks: Path) -> None:
    limit = time.monotonic() + LIMIT_S
    while not marks.exists() or "ready" not in marks.read_text():
        assert process.poll() is None, "the child ended before its run began"
        assert time.monotonic() < limit
        time.sleep(0.01)


@dataclass(frozen=True)
class Undisturbed:
    """What a run that nobody kills leaves, how long it takes and how many statements of writes it has."""

    contents: Contents
    seconds: float
    statements: int


@pytest.fixture(scope="module")
def market() -> Iterator[SimulatedMarket]:
    with SimulatedMarket(load_world("synthetic", "S"), FrozenClock(NOW)) as served:
        yield served


@pytest.fixture(scope="module")
def undisturbed(market: SimulatedMarket, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    services = Installation(market, folder, f"sqlite:///{folder / 'warehouse.sqlite3'}")
    marks, seconds = services.finish()
    found = services.contents()
    assert len(found["fusion_kline_daily"]) > 50
    return Undisturbed(found, seconds, landing(marks).statements)


@pytest.fixture(params=SQLITE_OFTEN)
def new_url(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], str]]:
    """Makes the address of an empty database of the engine, as many as a test asks for."""
    opened: list[Iterator[str]] = []

    def make(folder: Path) -> str:
        if request.param == "sqlite":
            return f"sqlite:///{folder / 'warehouse.sqlite3'}"
        opened.append(mariadb_database("builtin"))
        return next(opened[-1])

    yield make
    for made in opened:
        next(made, None)


def kill_one(
    services: Installation, chance: random.Random, expected: Undisturbed, *, by_clock: bool
) -> Landing | None:
    """Kill a run: at a random time of its length, or after a random one of its statements. None when it was
    over before its time, since the run that was measured had less of the machine."""
    die_after = 0 if by_clock else chance.randint(1, expected.statements)
    process, marks = services.start(die_after=die_after)
    if by_clock:
        wait_for_ready(process, marks)
        time.sleep(chance.uniform(0.0, expected.seconds * 0.9))
        process.kill()
    ended = process.wait(LIMIT_S)
    if by_clock and ended == 0:
        return None
    assert ended == -9, (services.folder / f"log{services.runs}").read_text()[-3000:]
    return landing(marks)


@pytest.mark.soak
@pytest.mark.parametrize("kills", [1, 10])
def test_a_killed_run_is_set_right_and_its_rerun_gives_what_an_undisturbed_run_gives(
    market: SimulatedMarket,
    undisturbed: Undisturbed,
    new_url: Callable[[Path], str],
    tmp_path: Path,
    kills: int,
    record_property: Report,
) -> None:
    chance = random.Random(kills)
    between = partial = 0
    for number in range(kills):
        where = None
        for attempt in range(5):
            folder = tmp_path / f"{number}-{attempt}"
            folder.mkdir()
            services = Installation(market, folder, new_url(folder))
            where = kill_one(services, chance, undisturbed, by_clock=bool(number % 2))
            if where is not None:
                break
        assert where is not None, "the run was always over before it could be killed"

        after_kill = services.contents()
        services.finish(dead="node1")
        assert open_batches(services) == 0
        assert services.contents() == undisturbed.contents
        assert unfinished_runs(folder) == 0
        between += where.between
        partial += any(after_kill.values()) and after_kill != undisturbed.contents
    record_property(
        "report",
        f"kill -9 of a Dagster run, {'SQLite' if services.url.startswith('sqlite') else 'MariaDB'}: {kills} "
        f"kills, {between} between the first and the last statement of a write, {partial} with a part of "
        f"the tables written; 0 torn, every rerun equals an undisturbed run",
    )


def open_batches(services: Installation) -> int:
    """Batches that claim to be in progress."""
    warehouse = services.warehouse()
    found = warehouse.rows("sys_batch", ANY.status == "running")
    warehouse.close()
    return len(found)


def unfinished_runs(folder: Path) -> int:
    """Runs that Dagster believes to be at work."""
    import dagster as dg

    with dg.DagsterInstance.from_config(str(folder / "dagster")) as instance:
        open_states = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING]
        return len(instance.get_run_records(dg.RunsFilter(statuses=open_states)))
