"""Dagster's SQLite files stay open while a run writes into them, and only then; they hold the same."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from schedules.runs.event_store import OpenEventLogStorage, kept_open, open_instance

DAYS = dg.DailyPartitionsDefinition("2026-09-01")
RUN, OTHER = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"
FULL, NORMAL = 2, 1


@dg.asset(partitions_def=DAYS, check_specs=[dg.AssetCheckSpec("filled", asset="bars")])
def bars() -> Iterator[Any]:
    yield dg.MaterializeResult(metadata={"rows": 3}, check_results=[dg.AssetCheckResult(passed=True)])


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    return open_instance()


def run(instance: dg.DagsterInstance, run_id: str) -> bool:
    job = dg.Definitions([bars], jobs=[dg.define_asset_job("load", "*")]).resolve_job_def("load")
    return job.execute_in_process(instance=instance, partition_key="2026-09-02", run_id=run_id).success


def is_open(path: Path) -> bool:
    """Whoever closes a file last writes its log back and takes it away."""
    return path.with_name(f"{path.name}-wal").exists()


def synchronous(instance: dg.DagsterInstance, run_id: str) -> int:
    """How a commit to the file of a run waits for the disk."""
    storage = instance.event_log_storage
    assert isinstance(storage, OpenEventLogStorage)
    with storage.run_connection(run_id) as connection:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())


def stored(folder: Path, name: str, run_id: str) -> list[tuple[str, str]]:
    """(type, step) of the events of a run in one of the files, in their order."""
    connection = sqlite3.connect(folder / "history" / "runs" / f"{name}.db")
    query = "SELECT event FROM event_logs WHERE run_id=? ORDER BY id"
    try:
        entries = [json.loads(text) for (text,) in connection.execute(query, (run_id,))]
    finally:
        connection.close()
    return [
        (str((entry["dagster_event"] or {}).get("event_type_value")), str(entry["step_key"]))
        for entry in entries
    ]


def test_files_of_the_run_stay_open_and_are_closed_with_it(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    files = [tmp_path / "history" / "runs" / f"{name}.db" for name in ("index", RUN)]
    files.append(tmp_path / "history" / "runs.db")

    with kept_open(instance, RUN):
        assert run(instance, RUN)
        during = [is_open(path) for path in files]
        waits = [synchronous(instance, RUN), synchronous(instance, OTHER)]

    assert during == [True, True, True]
    assert (waits, synchronous(instance, RUN)) == ([NORMAL, FULL], FULL)
    assert [is_open(path) for path in files] == [False, False, False]


def test_a_run_of_another_id_is_stored_beside_the_one_that_is_kept_open(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    with kept_open(instance, RUN):
        assert run(instance, RUN)
        assert run(instance, OTHER)
        assert not is_open(tmp_path / "history" / "runs" / f"{OTHER}.db")

    assert stored(tmp_path, OTHER, OTHER) == stored(tmp_path, RUN, RUN)


def test_the_same_is_stored_as_by_dagster(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """The witness is Dagster's own storage, in a folder of its own."""
    (tmp_path / "plain").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "plain")) as plain:
        assert run(plain, RUN)
        with kept_open(instance, RUN):
            assert run(instance, RUN)

        for name in (RUN, "index"):
            ours, theirs = (stored(folder, name, RUN) for folder in (tmp_path, tmp_path / "plain"))
            assert sorted(ours) == sorted(theirs)
        key = dg.AssetCheckKey(dg.AssetKey("bars"), "filled")
        for one in (instance, plain):
            record = one.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
            assert record.status.value == "SUCCEEDED"
            assert one.get_materialized_partitions(dg.AssetKey("bars")) == {"2026-09-02"}


def test_what_fails_within_a_batch_leaves_nothing_of_it(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Dagster then stores the same events one by one: none of them may be there twice."""
    storage = instance.event_log_storage
    assert isinstance(storage, OpenEventLogStorage)
    store, failures = storage.store_event, []

    def fails_at_the_second(event: Any) -> None:
        if len(failures) < 2 and event.dagster_event and "PLANNED" in event.dagster_event.event_type_value:
            failures.append(event)
            if len(failures) == 2:
                raise sqlite3.OperationalError("disk I/O error")
        store(event)

    monkeypatch.setattr(storage, "store_event", fails_at_the_second)
    with kept_open(instance, RUN):
        assert run(instance, RUN)

    assert len(failures) == 2
    planned = [kind for kind, _ in stored(tmp_path, RUN, RUN) if "PLANNED" in kind]
    assert sorted(planned) == ["ASSET_CHECK_EVALUATION_PLANNED", "ASSET_MATERIALIZATION_PLANNED"]


def test_another_thread_waits_for_the_connection_in_use(instance: dg.DagsterInstance) -> None:
    storage = instance.event_log_storage
    assert isinstance(storage, OpenEventLogStorage)
    found: list[int] = []

    def read() -> None:
        with storage.index_connection() as connection:
            found.append(connection.exec_driver_sql("SELECT COUNT(*) FROM event_logs").scalar_one())

    with kept_open(instance, RUN):
        assert run(instance, RUN)
        with storage.index_connection() as connection:
            connection.exec_driver_sql("DELETE FROM event_logs")
            other = threading.Thread(target=read)
            other.start()
            other.join(0.2)
            assert found == []
        other.join()
    assert found == [0]


def test_storage_of_another_place_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    where = f"storage: {{sqlite: {{base_dir: {tmp_path / 'elsewhere'}}}}}\n"
    (tmp_path / "dagster.yaml").write_text(where)

    instance = open_instance()

    assert not isinstance(instance.event_log_storage, OpenEventLogStorage)
    with kept_open(instance, RUN):
        assert run(instance, RUN)
