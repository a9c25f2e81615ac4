"""A publication that is killed at any moment leaves the version before; the next one completes it."""

import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from core.clock import ManualClock
from resources.lake.checking import checked
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.lake.reading import read_published
from resources.warehouse.warehouse import Warehouse
from tests.conftest import SQLITE_OFTEN
from tests.lake.conftest import BARS
from tests.lake.test_publishing import bar, write
from tests.lake.test_reading import CODES as ALL_CODES

CODES = ALL_CODES[:30]
ROOT = Path(__file__).parents[2]
DAYS = [f"2026-0{month}-{day:02d}" for month in range(1, 8) for day in range(1, 27)]


@pytest.fixture(params=SQLITE_OFTEN)
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    from tests.conftest import engine_url

    yield from engine_url(request.param, tmp_path, "tests.lake")


def killed_after(seconds: float, url: str, lake: Lake) -> bool:
    """Whether a process that publishes was killed before it was done."""
    command = [sys.executable, "-m", "tests.lake.publish_child", url, lake.url]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read()
    child.wait(30)
    return "done" not in rest


def prices(lake: Lake) -> set[float]:
    return set(read_published(lake.table(BARS.name), columns=["close"])["close"].to_pylist())


def test_killed_at_any_moment(
    warehouse: Warehouse, warehouse_url: str, lake: Lake, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(warehouse, BARS, [bar(code, day, 1.0) for code in CODES for day in DAYS])
    Publisher(warehouse, lake).publish(BARS)
    chance, kills = random.Random(1), 0
    for attempt in range(4):
        clock.advance(timedelta(hours=1))
        price = 2.0 + attempt
        before = prices(lake)
        write(warehouse, BARS, [bar(code, day, price) for code in CODES for day in DAYS])
        kills += killed_after(chance.choice([0.0, 0.1, 0.2, 0.3]), warehouse_url, lake)

        # The version before or the new one, whole: never a mixture, never unreadable.
        assert prices(lake) in (before, {price})
        statuses = {one.status for one in checked(warehouse, lake, BARS)}
        assert statuses in ({"behind"}, {"same"})
        done = Publisher(warehouse, lake).publish(BARS)
        assert not done.rebuilt
        assert prices(lake) == {price}
    assert kills
    assert {one.status for one in checked(warehouse, lake, BARS)} == {"same"}
