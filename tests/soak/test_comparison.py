"""What the storm's comparison says of commands whose run Dagster knows by another end."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from core.calendar import shipped_calendar
from core.clock import SystemClock
from resources.settings import load_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import Command
from schedules.services import Services
from tests.schedules.conftest import prepare
from tests.soak.installation import Installation
from tests.soak.storm import differences

WORKER = "worker:here:1"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Installation]:
    """Ledgers and run storage without any process."""
    engine = make_engine(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}")
    prepare(engine)
    settings = load_settings({"DATA_DIR": str(tmp_path)}, dotenv=tmp_path / "none")
    services = Services(settings=settings, clock=SystemClock(), calendar=shipped_calendar(), engine=engine)
    with dg.DagsterInstance.ephemeral() as instance:
        yield Installation(tmp_path, services, instance, [])
    engine.dispose()


def at_work(place: Installation, fate: str | None, *, attempts: int = 2) -> Command:
    """A command in a worker's hands, with a run that Dagster has as `fate` (None: it never saw it)."""
    queue, run_id = place.services.commands, str(uuid.uuid4())
    queue.enqueue("run_job", {"job": "some_job"}, requested_by="test", max_attempts=attempts)
    command = queue.claim(WORKER)
    assert command is not None
    queue.progress(command, {"runs": [run_id]}, run_id=run_id)
    if fate is not None:
        place.instance.add_run(
            dg.DagsterRun(job_name="some_job", run_id=run_id, status=dg.DagsterRunStatus[fate])
        )
    return queue.get(command.id)


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        ("failed", "SUCCESS"),
        ("canceled", "SUCCESS"),
        ("success", "FAILURE"),
        ("success", "CANCELED"),
        ("success", None),
        ("canceled", "FAILURE"),
        ("failed", "CANCELED"),
    ],
)
def test_a_command_that_says_something_else_than_its_run_is_found(
    place: Installation, status: str, fate: str | None
) -> None:
    command = at_work(place, fate)
    place.services.commands.finish(command, status, error="a reason")

    assert differences(place) == [f"command {command.id} is {status}, its run {command.run_id} is {fate}"]


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        ("success", "SUCCESS"),
        ("failed", "FAILURE"),
        ("canceled", "CANCELED"),
        ("failed", None),
        ("canceled", None),
    ],
)
def test_a_command_that_says_what_its_run_says_is_none(
    place: Installation, status: str, fate: str | None
) -> None:
    place.services.commands.finish(at_work(place, fate), status, error="a reason")

    assert differences(place) == []


def test_a_worker_that_died_after_its_run_could_not_tell_of_it(place: Installation) -> None:
    queue = place.services.commands
    last = at_work(place, "SUCCESS", attempts=1)
    queue.reap(owner=WORKER)
    asked_to_end = at_work(place, "SUCCESS")
    queue.cancel(asked_to_end.id)
    queue.reap(owner=WORKER)
    queued_again = at_work(place, "SUCCESS")
    queue.reap(owner=WORKER)
    queue.cancel(queued_again.id)

    ends = [queue.get(command.id).status for command in (last, asked_to_end, queued_again)]
    assert ends == ["failed", "canceled", "canceled"]
    assert differences(place) == []
