"""The storm, small in `make test-all`, at its full size in `make soak`: nothing hangs, and no record lies."""

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.calendar import shipped_calendar
from core.clock import SystemClock
from resources.warehouse.engine import transaction
from tests.soak.installation import Installation, whole_platform, without_schedules
from tests.soak.storm import Storm, differences, newest, settled

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")
Tell = Callable[[str, object], None]


def check(storm: Storm, began: float, tell: Tell, patience_s: float) -> None:
    place = storm.place
    wrong = [] if storm.hung else settled(place, patience_s)
    ended = Counter(command.status for command in place.services.commands.recent(limit=10_000)[0])
    minutes = (time.monotonic() - began) / 60
    tell(
        "report",
        f"soak: storm of {len(storm.asked)} commands ({sum(ended.values())} with gap repairs and loads: "
        f"{', '.join(f'{count} {status}' for status, count in sorted(ended.items()))}), "
        f"{storm.canceled} cancels, {storm.moved} moved tasks, kills {dict(storm.killed)}: "
        f"hangs {len(storm.hung)}, wrong records {len(wrong)}, {minutes:.1f} min",
    )
    assert storm.errors == []
    assert storm.hung == []
    assert wrong == []
    assert len(storm.asked) == storm.size


def wrong_records_are_found(place: Installation) -> None:
    """The comparison itself: it names what is open, and what says something else than Dagster. Of what the
    storm left nothing is sure, so a job runs to its end first."""
    queue = place.services.commands
    requested = {"job": "security_list", "partition_key": newest(place)}
    asked = queue.enqueue("run_job", requested, requested_by="liar")
    job = queue.wait(asked.id, 120)
    assert job.status == "success"
    for corruption, named in (
        (f"UPDATE sys_slot SET status='failed' WHERE run_id='{job.run_id}'", f"its run {job.run_id}"),
        (
            f"UPDATE sys_command SET status='failed', error='a lie' WHERE id={job.id}",
            f"command {job.id} is failed, its run {job.run_id} is SUCCESS",
        ),
        (f"UPDATE sys_command SET status='queued' WHERE id={job.id}", f"sys_command {job.id} is open"),
        ("UPDATE sys_backfill SET status='running'", "sys_backfill"),
        (
            f"UPDATE sys_batch SET run_id='no such run' WHERE run_id='{job.run_id}'",
            "which Dagster has as None",
        ),
    ):
        assert named not in "\n".join(differences(place)), corruption
        with transaction(place.services.engine) as connection:
            changed = connection.exec_driver_sql(corruption).rowcount
        assert changed > 0, corruption
        assert named in "\n".join(differences(place)), corruption


def no_orphans(place: Installation) -> None:
    end = time.monotonic() + 20
    while place.processes() and time.monotonic() < end:
        time.sleep(0.2)
    assert place.processes() == {}


def test_a_small_storm_leaves_nothing_open_and_no_record_that_lies(
    tmp_path: Path, record_property: Tell
) -> None:
    began = time.monotonic()
    with without_schedules(tmp_path) as place:
        storm = Storm(place, size=int(os.environ.get("STORM_SMALL", "20")), kills=2, quick=True)
        storm.run()
        check(storm, began, record_property, patience_s=90)
        assert set(storm.killed) == {"worker", "run"}
        wrong_records_are_found(place)
    no_orphans(place)


@pytest.mark.soak
def test_a_storm_of_the_full_size_over_the_whole_platform(tmp_path: Path, record_property: Tell) -> None:
    if SystemClock().now().date().isoformat() > shipped_calendar().horizon:
        pytest.skip("the shipped trade calendar has ended")
    began = time.monotonic()
    with whole_platform(tmp_path, history_dates=12) as place:
        size = int(os.environ.get("STORM", "300"))
        storm = Storm(place, size=size, kills=max(2, size // 20), tasks=True)
        storm.run()
        check(storm, began, record_property, patience_s=300)
    no_orphans(place)
