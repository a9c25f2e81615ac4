"""The clean-up of Dagster's own history: old runs go, what the UI says about partitions stays."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from platform_assets.cleanup_job import JOB
from platform_assets.run_history import RUN_DAYS, prune_runs
from schedules.house import House
from schedules.runner import DagsterRunner

KEY = dg.AssetKey(["dwd", "loaded"])
DATES = ("2026-08-20", "2026-08-21")


@dg.asset(
    key=KEY,
    partitions_def=dg.StaticPartitionsDefinition(list(DATES)),
    check_specs=[dg.AssetCheckSpec("schema", asset=KEY)],
)
def loaded():  # type: ignore[no-untyped-def]
    return dg.MaterializeResult(check_results=[dg.AssetCheckResult(check_name="schema", passed=True)])


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        for day in DATES:
            assert dg.materialize([loaded], instance=made, partition_key=day).success
        yield made


def later(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def test_runs_of_the_last_days_stay(instance: dg.DagsterInstance) -> None:
    assert prune_runs(instance, now=later(RUN_DAYS - 0.1)) == 0
    assert instance.get_runs_count() == 2


def test_old_runs_go_and_their_partitions_stay_materialized(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    shards = {path for path in tmp_path.rglob("*.db") if len(path.stem) == 36}
    assert len(shards) == 2

    assert prune_runs(instance, now=later(RUN_DAYS + 0.1)) == 2

    assert instance.get_runs_count() == 0
    assert not any(path.exists() for path in shards)
    assert set(instance.get_materialized_partitions(KEY)) == set(DATES)
    newest = instance.event_log_storage.get_latest_asset_check_execution_by_key(
        [dg.AssetCheckKey(KEY, "schema")]
    )
    assert [one.status.value for one in newest.values()] == ["SUCCEEDED"]
    with instance.event_log_storage.index_connection() as connection:
        kinds = connection.exec_driver_sql("SELECT dagster_event_type FROM event_logs").scalars().all()
        checks = connection.exec_driver_sql("SELECT COUNT(*) FROM asset_check_executions").scalar()
    assert set(kinds) == {"ASSET_MATERIALIZATION"}
    assert checks == 1
    assert prune_runs(instance, now=later(RUN_DAYS + 0.1)) == 0


def test_a_run_that_is_open_stays_whatever_its_age(instance: dg.DagsterInstance) -> None:
    job = dg.define_asset_job("one", [loaded]).resolve(
        asset_graph=dg.Definitions([loaded]).resolve_asset_graph()
    )
    run = instance.create_run_for_job(job)

    prune_runs(instance, now=later(RUN_DAYS + 1))

    assert [one.run_id for one in instance.get_runs()] == [run.run_id]


def test_the_clean_up_task_does_it(house: House, runner: DagsterRunner) -> None:
    old = dg.materialize([loaded], instance=runner.instance, partition_key=DATES[0]).run_id
    with runner.instance.run_storage.connect() as connection:
        connection.exec_driver_sql("UPDATE runs SET create_timestamp='2020-01-01 00:00:00'")

    done = runner.run(JOB, run_id="44444444-4444-4444-4444-444444444444")

    assert (done.success, done.answer["runs_deleted"]) == (True, 1)
    assert runner.instance.get_run_by_id(old) is None
    assert runner.instance.get_run_by_id(done.run_id).is_success
