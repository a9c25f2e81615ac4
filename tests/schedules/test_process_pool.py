"""The pool of run processes, with children that are shell scripts: what a run's caller gets to hear."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from schedules.runs.outcome import RunOutcome
from schedules.runs.process_pool import RunPool

RUN = "11111111-2222-3333-4444-555555555555"
READY = """echo '{"ready": ["a_job"]}' > /dev/fd/$0; read asked; """
SILENT = f"{READY} exec sleep 60"
DIES = f"{READY} exit 1"

Open = Callable[[str, dg.DagsterInstance], RunPool]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def open_pool() -> Iterator[Open]:
    pools: list[RunPool] = []

    def make(script: str, instance: dg.DagsterInstance) -> RunPool:
        pool = RunPool(
            lambda: instance, size=1, on_death=lambda run_id, reason: None, command=("sh", "-c", script)
        )
        pools.append(pool)
        return pool

    yield make
    for pool in pools:
        pool.close()


def test_a_run_whose_pool_is_closed_is_canceled_so_that_its_command_goes_back(
    open_pool: Open, instance: dg.DagsterInstance
) -> None:
    """The thread that waits for a run and the one that closes the pool share its pipe: often, as it is a
    matter of microseconds."""
    for _ in range(20):
        pool = open_pool(SILENT, instance)
        assert pool.has("a_job")
        ends: list[RunOutcome | Exception] = []

        def wait(pool: RunPool = pool, ends: list[RunOutcome | Exception] = ends) -> None:
            try:
                ends.append(pool.run("a_job", run_id=RUN))
            except Exception as error:
                ends.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        while not pool.busy:
            assert waiting.is_alive()
        pool.close()
        waiting.join(10)
        (end,) = ends
        assert isinstance(end, RunOutcome), end
        assert (end.success, end.canceled) == (False, True)


@pytest.mark.parametrize(
    ("status", "success", "canceled"),
    [
        (dg.DagsterRunStatus.SUCCESS, True, False),
        (dg.DagsterRunStatus.CANCELED, False, True),
        (dg.DagsterRunStatus.FAILURE, False, False),
    ],
)
def test_the_end_that_a_run_reached_counts_also_when_its_process_dies_before_it_says_so(
    open_pool: Open, instance: dg.DagsterInstance, status: dg.DagsterRunStatus, success: bool, canceled: bool
) -> None:
    instance.add_run(dg.DagsterRun(job_name="a_job", run_id=RUN, status=status))

    outcome = open_pool(DIES, instance).run("a_job", run_id=RUN)

    assert (outcome.success, outcome.canceled) == (success, canceled)


def test_a_process_that_dies_before_dagster_knows_the_run_has_failed_it(
    open_pool: Open, instance: dg.DagsterInstance
) -> None:
    outcome = open_pool(DIES, instance).run("a_job", run_id=RUN)

    assert (outcome.success, outcome.canceled, outcome.error) == (False, False, "its process died")


def test_a_process_that_dies_while_it_starts_is_replaced(
    open_pool: Open, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    mark = tmp_path / "tried"
    script = f"if [ ! -e {mark} ]; then touch {mark}; exit 1; fi; {READY} exit 1"

    assert open_pool(script, instance).has("a_job")


def test_a_process_in_the_place_of_another_has_the_settings_that_the_pool_began_with(
    open_pool: Open, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool on the sample market whose second process asked the real one."""
    monkeypatch.setenv("DATA_SOURCE", "mock")
    outcome = '{"outcome": {"run_id": "%s", "success": true}}'
    tells = f"{READY} printf '{outcome}\\n' \"$DATA_SOURCE\" > /dev/fd/$0; read asked; exit 1"
    pool = open_pool(tells, instance)
    monkeypatch.delenv("DATA_SOURCE")

    first, died, second = (pool.run("a_job", run_id=RUN) for _ in range(3))

    assert (first.run_id, died.success, second.run_id) == ("mock", False, "mock")
