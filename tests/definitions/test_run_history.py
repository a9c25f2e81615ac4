"""The clean-up of Dagster's own history: old runs go, what the UI says about partitions stays."""

import importlib
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.freshness import FreshnessState, FreshnessStateChange

from platform_assets.definitions.cleanup_job import JOB
from platform_assets.definitions.run_history import RUN_DAYS, prune_runs
from schedules.services import Services
from tests.conftest import own_postgres
from tests.definitions.in_process import InProcessRuns

KEY = dg.AssetKey(["dwd", "loaded"])
DATES = ("2026-08-20", "2026-08-21")


@dg.asset(
    key=KEY,
    partitions_def=dg.StaticPartitionsDefinition(list(DATES)),
    check_specs=[dg.AssetCheckSpec("schema", asset=KEY)],
)
def loaded():  # type: ignore[no-untyped-def]
    return dg.MaterializeResult(check_results=[dg.AssetCheckResult(check_name="schema", passed=True)])


@pytest.fixture(params=["sqlite", "postgres"])
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """Each storage that Dagster's history may lie in, with a run of each date."""
    if request.param == "sqlite":
        with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
            yield loaded_once(made)
        return
    with own_postgres("history") as url:
        settings = {"storage": {"postgres": {"postgres_url": url}}}
        with dg.DagsterInstance.local_temp(str(tmp_path), overrides=settings) as made:
            yield loaded_once(made)


def loaded_once(made: dg.DagsterInstance) -> dg.DagsterInstance:
    for day in DATES:
        assert dg.materialize([loaded], instance=made, partition_key=day).success
    return made


def stored(instance: dg.DagsterInstance, query: str) -> list[tuple[object, ...]]:
    with instance.event_log_storage.index_connection() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def later(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def test_runs_of_the_last_days_stay(instance: dg.DagsterInstance) -> None:
    assert prune_runs(instance, now=later(RUN_DAYS - 0.1)) == 0
    assert instance.get_runs_count() == 2


def test_old_runs_go_and_their_partitions_stay_materialized(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    shards = {path for path in tmp_path.rglob("*.db") if len(path.stem) == 36}
    assert len(shards) in (0, 2)  # SQLite has a file per run

    assert prune_runs(instance, now=later(RUN_DAYS + 0.1)) == 2

    assert instance.get_runs_count() == 0
    assert not any(path.exists() for path in shards)
    assert set(instance.get_materialized_partitions(KEY)) == set(DATES)
    newest = instance.event_log_storage.get_latest_asset_check_execution_by_key(
        [dg.AssetCheckKey(KEY, "schema")]
    )
    assert [one.status.value for one in newest.values()] == ["SUCCEEDED"]
    kinds = stored(instance, "SELECT dagster_event_type FROM event_logs")
    assert set(kinds) == {("ASSET_MATERIALIZATION",)}
    assert stored(instance, "SELECT COUNT(*) FROM asset_check_executions") == [(1,)]
    assert prune_runs(instance, now=later(RUN_DAYS + 0.1)) == 0


def test_of_a_partition_that_was_materialized_again_only_the_newest_stays(
    instance: dg.DagsterInstance,
) -> None:
    again = dg.materialize([loaded], instance=instance, partition_key=DATES[0]).run_id

    assert prune_runs(instance, now=later(RUN_DAYS + 0.1)) == 3

    left = stored(instance, "SELECT partition, run_id FROM event_logs ORDER BY id")
    assert [day for day, _ in left] == [DATES[1], DATES[0]]
    assert left[-1] == (DATES[0], again)
    tags = "SELECT COUNT(*) FROM asset_event_tags WHERE event_id NOT IN (SELECT id FROM event_logs)"
    assert stored(instance, tags) == [(0,)]
    newest = instance.get_latest_materialization_event(KEY)
    assert newest is not None
    assert newest.run_id == again


def test_of_the_states_of_freshness_the_newest_stays(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """The daemon notes them outside of any run, so that they go with none."""
    states = (FreshnessState.UNKNOWN, FreshnessState.PASS, FreshnessState.FAIL)
    for before, after in itertools.pairwise(states):
        change = FreshnessStateChange(
            key=KEY, new_state=after, previous_state=before, state_change_timestamp=0.0
        )
        instance._report_runless_asset_event(change)

    count = "SELECT COUNT(*) FROM event_logs WHERE dagster_event_type = 'FRESHNESS_STATE_CHANGE'"
    copies = list(tmp_path.rglob("runs/.db"))  # SQLite stores them twice

    prune_runs(instance, now=later(RUN_DAYS - 0.1))
    assert stored(instance, count) == [(2,)]
    prune_runs(instance, now=later(RUN_DAYS + 0.1))

    assert stored(instance, count) == [(1,)]
    (left,) = instance.get_freshness_state_records([KEY]).values()
    assert left.freshness_state is FreshnessState.FAIL
    for path in copies:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT COUNT(*) FROM event_logs").fetchone() == (0,)


def test_a_run_that_is_open_stays_whatever_its_age(instance: dg.DagsterInstance) -> None:
    job = dg.define_asset_job("one", [loaded]).resolve(
        asset_graph=dg.Definitions([loaded]).resolve_asset_graph()
    )
    run = instance.create_run_for_job(job)

    prune_runs(instance, now=later(RUN_DAYS + 1))

    assert [one.run_id for one in instance.get_runs()] == [run.run_id]


def test_results_of_step_workers_go_with_their_runs(tmp_path: Path) -> None:
    """In the table that Celery itself makes, with the times that it writes."""
    celery = pytest.importorskip("celery", reason="package not there: celery")
    database = importlib.import_module("celery.backends.database")
    with own_postgres("results") as url:
        settings = {"storage": {"postgres": {"postgres_url": url}}}
        with dg.DagsterInstance.local_temp(str(tmp_path), overrides=settings) as instance:
            assert prune_runs(instance) == 0  # no step worker yet: there is no such table
            backend = database.DatabaseBackend(url=url, app=celery.Celery("steps"))
            backend.store_result("a step", {"done": True}, "SUCCESS")

            prune_runs(instance, now=later(RUN_DAYS - 0.1))
            assert backend.get_result("a step") == {"done": True}
            prune_runs(instance, now=later(RUN_DAYS + 0.1))
            assert stored(instance, "SELECT COUNT(*) FROM celery_taskmeta") == [(0,)]


def test_the_clean_up_task_does_it(services: Services, runner: InProcessRuns) -> None:
    old = dg.materialize([loaded], instance=runner.instance, partition_key=DATES[0]).run_id
    with runner.instance.run_storage.connect() as connection:
        connection.exec_driver_sql("UPDATE runs SET create_timestamp='2020-01-01 00:00:00'")

    done = runner.run(JOB, run_id="44444444-4444-4444-4444-444444444444")

    assert (done.success, done.answer["runs_deleted"]) == (True, 1)
    assert runner.instance.get_run_by_id(old) is None
    assert runner.instance.get_run_by_id(done.run_id).is_success
