"""kill -9 of the writing process: no torn partition, the lock frees itself, the rerun converges."""

import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.errors import ConflictError
from resources.warehouse.warehouse import Warehouse
from tests.kill.children import start, write_days, write_on
from tests.kill.evidence import content, problems
from tests.kill.marks import Landing, landing
from tests.kill.scene import REJECTED, TABLE, open_scene, revision_frame, write_range, write_revision

FREE_WITHIN_S = 5.0
SHORT_TTL_S = 0.3
READY_WITHIN_S = 60.0
Report = Callable[[str, object], None]


@dataclass
class Site:
    """One warehouse whose writers get killed, and one where the same work is never disturbed."""

    url: str
    folder: Path
    undisturbed: Warehouse
    hashes: dict[int, str] = field(default_factory=dict)
    revision: int = 0
    """The newest revision that is known to be committed."""
    children: int = 0
    killed_at: float = 0.0

    @property
    def engine(self) -> str:
        return "SQLite" if self.url.startswith("sqlite") else "MariaDB"

    def marks(self) -> Path:
        self.children += 1
        return self.folder / f"marks{self.children}"

    def expected_hash(self, revision: int) -> str:
        """Content hash of a revision after a run that nobody disturbed; revisions come in order."""
        for number in range(len(self.hashes) + 1, revision + 1):
            self.hashes[number] = write_revision(self.undisturbed, number).content_hash
        return self.hashes[revision]


@pytest.fixture
def site(warehouse_url: str, tmp_path: Path) -> Iterator[Site]:
    first = open_scene(warehouse_url, tmp_path)
    first.migrate()
    first.close()
    undisturbed = open_scene(f"sqlite:///{tmp_path / 'undisturbed.sqlite3'}", tmp_path / "undisturbed")
    undisturbed.migrate()
    yield Site(warehouse_url, tmp_path, undisturbed)
    undisturbed.close()


def committed_revision(warehouse: Warehouse) -> int:
    """The revision that data, batch and quality rows all belong to; 0 before the first one. Fails when
    they disagree, whichever of them is ahead."""
    assert problems(warehouse, TABLE) == []
    batches = warehouse.rows("sys_batch", columns=("trigger_ref", "batch_id"), order=["started_at"])
    revision = max((int(str(row["trigger_ref"])) for row in batches), default=0)
    stored = warehouse.frame(TABLE.name, columns=("code", "close", "volume", "quality"))
    if revision == 0:
        assert stored.empty
    else:
        requested = revision_frame(revision)
        merged = requested.merge(stored, on="code", how="outer", suffixes=("", "_stored"), indicator=True)
        assert (merged["_merge"] == "both").all()
        for column, digits in (("close", 4), ("volume", 0)):
            assert (merged[column].round(digits) == merged[f"{column}_stored"].astype(float)).all(), column
        assert (merged["quality"] == merged["quality_stored"]).all()
    records = warehouse.query("SELECT COUNT(*) FROM sys_quality_record")[0][0]
    fetches = warehouse.query("SELECT COUNT(*) FROM sys_fetch")[0][0]
    assert (records, fetches) == (len(batches) * (REJECTED + 1), len(batches) * 2)
    return revision


def seconds_until_free(warehouse: Warehouse, killed_at: float) -> float:
    """How long after the kill another owner gets the domain."""
    while True:
        try:
            lease = warehouse.locks.take(("kline",), "the next one")
        except ConflictError:
            assert time.monotonic() - killed_at < 2 * FREE_WITHIN_S, "the lock of a dead writer stays taken"
            time.sleep(0.05)
            continue
        took = time.monotonic() - killed_at
        warehouse.locks.release(lease)
        return took


def wait_for(path: Path, word: str) -> None:
    limit = time.monotonic() + READY_WITHIN_S
    while word not in (path.read_text() if path.exists() else ""):
        assert time.monotonic() < limit, f"the child did not come to {word!r}"
        time.sleep(0.002)


def kill_at_random(site: Site, chance: random.Random, window_s: float, ttl_s: float | None) -> Landing:
    """Start a writer, kill it within `window_s` of its first write, say where that was."""
    marks = site.marks()
    first = site.revision + 1
    child = start(write_on, site.url, str(site.folder), str(marks), first, first + 10_000, ttl_s, None)
    wait_for(marks, "ready")
    time.sleep(chance.uniform(0.0, window_s))
    site.killed_at = time.monotonic()
    child.kill()
    child.join()
    assert child.exitcode == -9
    return landing(marks)


def converge(site: Site, warehouse: Warehouse, revision: int) -> None:
    """The rerun of a revision gives what an undisturbed run gives, and after it nothing is left to do."""
    rerun = write_revision(warehouse, revision)
    again = write_revision(warehouse, revision)
    assert rerun.content_hash == again.content_hash == site.expected_hash(revision)
    assert (again.rows_written, again.rows_superseded) == (0, 0)
    site.revision = revision


@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.soak)])
def test_a_writer_killed_at_any_moment_leaves_one_whole_state(
    site: Site, kills: int, record_property: Report
) -> None:
    chance = random.Random(20260821)
    wanted_between = max(1, kills // 5)
    between = old = new = 0
    slowest = 0.0
    rounds = 0
    window_s = 0.5
    while rounds < kills or between < wanted_between:
        assert rounds < 4 * kills, f"only {between} of {rounds} kills came between two statements"
        rounds += 1
        # The real lease once, and always in the long run: it takes four seconds to run out.
        real = rounds == 1 or kills >= 50
        before = site.revision

        where = kill_at_random(site, chance, window_s, None if real else SHORT_TTL_S)

        warehouse = open_scene(site.url, site.folder)
        reported = max((int(item) for item in where.done), default=before)
        state = committed_revision(warehouse)
        assert state in (reported, reported + 1), f"{state} is neither the old nor the new state"
        assert state == reported or not where.between, "a write that was under way is there"
        between += where.between
        new += state > reported
        old += state == reported
        slowest = max(slowest, seconds_until_free(warehouse, site.killed_at))
        converge(site, warehouse, max(1, state) if rounds % 2 else state + 1)
        assert problems(warehouse, TABLE) == []
        warehouse.close()
    assert slowest <= FREE_WITHIN_S
    converge_history(site)
    record_property(
        "report",
        f"kill -9 of the writer, {site.engine}: {rounds} kills, {between} between the first and the last "
        f"statement of a write, 0 torn; {old} left the old state, {new} the new one; lock free after at most "
        f"{slowest:.1f} s; {site.revision} revisions equal an undisturbed run, history included",
    )


def converge_history(site: Site) -> None:
    """All versions of all rows, with their validity, are those of the undisturbed run."""
    warehouse = open_scene(site.url, site.folder)
    site.expected_hash(site.revision)
    for history in (False, True):
        assert content(warehouse, TABLE, history=history) == content(site.undisturbed, TABLE, history=history)
    warehouse.close()


def test_a_writer_killed_after_each_of_its_statements(site: Site, record_property: Report) -> None:
    """Not at random: after the first statement, after the second, ... and after the write returned."""
    warehouse = open_scene(site.url, site.folder)
    write_revision(warehouse, 1)
    site.revision = 1
    landings: list[Landing] = []
    for place in range(1, 100):
        marks = site.marks()
        child = start(write_on, site.url, str(site.folder), str(marks), 2, 2, SHORT_TTL_S, place)
        child.join()
        assert child.exitcode == -9
        landings.append(landing(marks))
        state = committed_revision(warehouse)
        assert state == 1 if landings[-1].between else state in (1, 2)
        seconds_until_free(warehouse, time.monotonic())
        if landings[-1].done:
            break
    assert state == 2
    assert sum(item.between for item in landings) >= 8
    record_property(
        "report",
        f"kill -9 after each statement, {site.engine}: {len(landings)} places, 0 torn",
    )
    warehouse.close()


@pytest.mark.soak
def test_a_large_write_killed_at_every_fiftieth_statement(site: Site, record_property: Report) -> None:
    """A range of forty dates in one transaction: all of it is there, or nothing."""
    days = [f"2026-0{month}-{day:02d}" for month in (6, 7) for day in range(1, 21)]
    warehouse = open_scene(site.url, site.folder)
    landings: list[Landing] = []
    while not landings or landings[-1].between:
        marks = site.marks()
        child = start(write_days, site.url, str(site.folder), str(marks), days, 50 * (len(landings) + 1))
        child.join()
        landings.append(landing(marks))
        assert problems(warehouse, TABLE) == []
        stored = warehouse.query(f"SELECT COUNT(*), COUNT(DISTINCT date) FROM {TABLE.name}")[0]
        if landings[-1].between:
            assert tuple(stored) == (0, 0)
        seconds_until_free(warehouse, time.monotonic())
    write_range(warehouse, days)
    count = len(revision_frame(1))
    stored = warehouse.query(f"SELECT COUNT(*), COUNT(DISTINCT date) FROM {TABLE.name}")[0]
    assert tuple(stored) == (count * len(days), len(days))
    assert problems(warehouse, TABLE) == []
    assert sum(item.between for item in landings) >= 3
    record_property(
        "report",
        f"kill -9 at every 50th statement of a large write, {site.engine}: {len(landings)} places, 0 torn",
    )
    warehouse.close()


def test_the_harness_sees_a_torn_partition(tmp_path: Path) -> None:
    """The evidence can fail: each thing that a kill could tear is torn by hand, and found."""
    tears = {
        "row_count": "DELETE FROM fusion_killed WHERE code='600002'",
        "never committed": "UPDATE fusion_killed SET batch_id='x' WHERE code='600002'",
        "history chain": "UPDATE fusion_killed_history SET valid_to='2026-08-20 15:30' WHERE code='600002'",
        "superseded rows": "DELETE FROM fusion_killed_history WHERE code='600002'",
        "without their batch": "UPDATE sys_quality_record SET batch_id='x' WHERE id=1",
        "updated_at": "UPDATE table_version SET updated_at='2026-01-01' WHERE table_name='fusion_killed'",
        "version": "UPDATE table_version SET version=version+1 WHERE table_name='fusion_killed'",
        "pattern": "DELETE FROM sys_provenance",
    }
    for word, tear in tears.items():
        url = f"sqlite:///{tmp_path / f'{os.urandom(4).hex()}.sqlite3'}"
        warehouse = open_scene(url, tmp_path)
        warehouse.migrate()
        for revision in (1, 2, 3):
            write_revision(warehouse, revision)
        assert problems(warehouse, TABLE) == []
        with warehouse.engine.begin() as connection:
            connection.exec_driver_sql(tear)
        found = problems(warehouse, TABLE)
        warehouse.close()
        assert any(word in line for line in found), (word, found)
