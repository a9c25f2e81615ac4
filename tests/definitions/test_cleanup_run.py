"""The command `cleanup` and the scheduled task `data_cleanup`, each as a Dagster run."""

from datetime import datetime

from platform_assets.definitions.cleanup_job import JOB
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.tasks import Slot
from resources.warehouse.payloads import PayloadStore
from resources.warehouse.sql import Sql
from schedules import run_tags
from schedules.commands import cleanup as handler
from schedules.commands.handlers import HANDLERS
from schedules.commands.worker import Worker
from schedules.runs.execution import DagsterRunner
from schedules.services import House
from schedules.tasks.table import BY_KEY

DAYS = ("2022-01-04", "2025-01-02", "2026-08-20")


def fill(house: House) -> None:
    """Three staged rows: older than three years, than one year, and of yesterday."""
    statement = Sql(house.engine).insert("stg_margin", ("code", "date", "src"))
    with transaction(house.engine) as connection:
        connection.exec_driver_sql(statement, [("600519", day, "eastmoney") for day in DAYS])


def test_bodies_go_after_as_many_days_as_the_setting_says(house: House, runner: DagsterRunner) -> None:
    folder = house.settings.data_path / "payloads"
    store = PayloadStore(folder)
    old, kept = (store.put(day, f"{day[-1]}" * 64, b"body") for day in ("2026-07-21", "2026-07-22"))
    alone = house.commands.enqueue("cleanup", {"days": 365, "tables": ["stg_margin"]}, requested_by="admin")
    Worker(house, runner).work_once()
    assert (house.commands.get(alone.id).status, store.get(old)) == ("success", b"body")

    house.commands.enqueue("cleanup", {"days": 365, "tables": []}, requested_by="admin")
    Worker(house, runner).work_once()

    assert (store.get(old), store.get(kept)) == (None, b"body")


def left(house: House) -> list[str]:
    with house.engine.connect() as connection:
        return list(connection.exec_driver_sql("SELECT date FROM stg_margin ORDER BY 1").scalars())


def test_a_cleanup_command_becomes_a_run_with_a_batch_and_an_answer(
    house: House, runner: DagsterRunner
) -> None:
    fill(house)
    asked = house.commands.enqueue("cleanup", {"days": 365, "tables": ["stg_margin"]}, requested_by="admin")

    Worker(house, runner).work_once()

    done = house.commands.get(asked.id)
    assert (done.status, done.error) == ("success", None)
    assert (done.result["status"], done.result["deleted"]) == ("success", {"stg_margin": 2})
    assert left(house) == ["2026-08-20"]
    run = runner.instance.get_run_by_id(done.result["run_id"])
    assert (run.job_name, run.is_success) == (JOB, True)
    with house.engine.connect() as connection:
        batches = connection.exec_driver_sql(
            "SELECT DISTINCT trigger_type, command_id FROM sys_batch WHERE run_id=?", (run.run_id,)
        ).all()
    assert [tuple(row) for row in batches] == [("api", asked.id)]


def test_a_scheduled_run_keeps_as_many_days_as_the_setting_says(house: House, runner: DagsterRunner) -> None:
    fill(house)
    task = BY_KEY["data_cleanup"]
    due = datetime(2026, 8, 17, 4, 30)
    slot = Slot(task.key, task.slot(due).name, due)
    assert house.slots.claim(slot, "tick", trade_date="2026-08-17")
    carried = run_tags.slot_tags(
        slot, trade_date="2026-08-17", trigger="schedule", attempt=1, owner="schedule", warning=None
    )

    default = runner.run(JOB, run_id="11111111-1111-1111-1111-111111111111", tags=carried)
    assert (default.success, left(house)) == (True, list(DAYS[1:]))
    assert house.slots.latest()[task.key].run_id == default.run_id

    with transaction(house.engine) as connection:
        connection.exec_driver_sql(
            Sql(house.engine).insert("sys_config", ("config_key", "value")),
            ("data.cleanup.retention_days", "30"),
        )
    shorter = runner.run(JOB, run_id="22222222-2222-2222-2222-222222222222")
    assert (shorter.success, left(house)) == (True, ["2026-08-20"])

    with transaction(house.engine) as connection:
        connection.exec_driver_sql("UPDATE sys_config SET value='7'")
    refused = runner.run(JOB, run_id="33333333-3333-3333-3333-333333333333")
    assert (refused.success, left(house)) == (False, ["2026-08-20"])
    assert "7 is out of range" in str(refused.error)


def test_wrong_arguments_fail_before_anything_is_deleted(house: House, runner: DagsterRunner) -> None:
    fill(house)
    wrong = (
        {},
        {"days": "365"},
        {"days": 365, "tables": "stg_margin"},
        {"days": 365, "tables": ["raw_quote"]},
    )
    for args in wrong:
        asked = house.commands.enqueue("cleanup", args, requested_by="admin")
        Worker(house, runner).work_once()
        assert house.commands.get(asked.id).status == "failed"

    assert left(house) == list(DAYS)


def test_both_sides_use_the_same_names() -> None:
    assert handler.JOB == JOB == BY_KEY["data_cleanup"].key
    assert HANDLERS["cleanup"].long
