"""A step whose process is told to stop, because its worker lost the broker: another worker begins it."""

from types import SimpleNamespace
from typing import Any

import pytest
from celery.exceptions import Reject
from dagster import DagsterExecutionInterruptedError

from resources import logs
from schedules.steps import worker


class Interrupted(worker.StepTask):
    """A step that is interrupted by the signal that Dagster turns into this exception."""

    name = "interrupted"

    def run(self, *_: Any) -> Any:
        raise DagsterExecutionInterruptedError


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    run = SimpleNamespace(is_finished=False)
    instance = SimpleNamespace(get_run_by_id=lambda _run_id: run)
    monkeypatch.setattr(worker, "opened_instance", lambda _pid: instance)
    monkeypatch.setattr(worker, "unpack_value", lambda *_, **__: SimpleNamespace(run_id="one"))
    monkeypatch.setattr(logs, "configure", lambda *_: None)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("terminated", "raised"), [(False, Reject), (True, DagsterExecutionInterruptedError)]
)
def test_a_step_goes_back_to_the_broker_unless_its_run_was_ended(
    monkeypatch: pytest.MonkeyPatch, terminated: bool, raised: type[BaseException]
) -> None:
    monkeypatch.setattr(worker, "is_terminated", lambda *_: terminated)

    with pytest.raises(raised) as found:
        Interrupted()({}, {})

    assert getattr(found.value, "requeue", None) is (None if terminated else True)
