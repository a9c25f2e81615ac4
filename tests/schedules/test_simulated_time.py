"""Processes of Dagster on a simulated clock: ticks follow it, heartbeats and everything else do not."""

import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from core.simulated_clock import SimulatedClock
from schedules.supervisor import process_plan
from schedules.supervisor.simulated_time import Waiting
from tests.schedules.test_silence import settings_of

AT = datetime(2026, 9, 28, 15, 0)
LOOK = """
from pathlib import Path
from core.simulated_clock import SimulatedClock
from schedules.supervisor.simulated_time import follow
follow(SimulatedClock(Path({path!r})))
import dagster._daemon.daemon as heartbeats, dagster._daemon.sensor as sensors
import dagster._scheduler.scheduler as schedules, dagster._core.storage.runs.sql_run_storage as runs
for one in (sensors, schedules, heartbeats, runs):
    print(one.get_current_datetime().isoformat())
print(sensors.get_current_timestamp(), schedules.get_current_timestamp())
"""


def test_only_what_decides_about_ticks_follows_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    SimulatedClock(path).begin(AT, rate=0.001)
    code = LOOK.format(path=str(path))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    *moments, seconds = said.splitlines()
    found = [datetime.fromisoformat(moment) for moment in moments]

    # 15:00 at the exchange is 07:00 UTC.
    assert [moment.strftime("%Y-%m-%d %H:%M") for moment in found[:2]] == ["2026-09-28 07:00"] * 2
    assert all(abs((datetime.now(UTC) - moment).total_seconds()) < 60 for moment in found[2:])
    expected = datetime(2026, 9, 28, 7, 0, tzinfo=UTC).timestamp()
    assert all(0 <= float(text) - expected < 1 for text in seconds.split())


def test_a_wait_counts_seconds_of_the_clock_and_ends_with_the_event(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json")
    clock.begin(AT, rate=600)
    event = threading.Event()
    waiting = Waiting(event, clock)
    assert not waiting.wait(30)  # a twentieth of a second
    assert not waiting.is_set()

    clock.change(rate=0.001)
    threading.Timer(0.1, event.set).start()
    assert waiting.wait(3600)


def test_a_clock_that_is_set_back_prolongs_no_wait(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json")
    clock.begin(AT, rate=100)
    back = threading.Timer(0.1, lambda: clock.change(at=datetime(2026, 9, 28, 14, 0)))
    back.start()
    assert not Waiting(threading.Event(), clock).wait(40)
    back.join()
    assert clock.now() < AT


def test_the_processes_that_tick_are_started_on_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    settings = settings_of(tmp_path, DATA_SOURCE="mock", SAMPLE_CLOCK=str(path))
    ports = process_plan.Ports(1, 1, 1, 1, (1,))
    ticking = [process_plan.daemon(settings, tmp_path, ports), process_plan.ui(settings, tmp_path, ports)]
    for spec in ticking:
        assert spec.command[2:4] == (
            "schedules.supervisor.stack_dumps",
            "schedules.supervisor.simulated_time",
        )
    market = process_plan.simulator(settings, ports).command
    assert market[market.index("--clock") + 1] == str(path)
    plain = process_plan.daemon(settings_of(tmp_path), tmp_path, ports).command
    assert "schedules.supervisor.simulated_time" not in plain
