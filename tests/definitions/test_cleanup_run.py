"""The command `cleanup` and the scheduled task `data_cleanup`, each as a Dagster run."""

from datetime import datetime

from platform_assets.definitions.cleanup_job import JOB
from platform_assets.task_table import BY_KEY
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.tasks import ScheduledRun
from resources.warehouse.payloads import FolderPayloads
from resources.warehouse.sql import Sql
from schedules import run_tags
from schedules.commands import handlers as handler
from schedules.commands.handlers import HANDLERS
from schedules.commands.worker import Worker
from schedules.services import Services
from tests.definitions.in_process import InProcessRuns
from tests.warehouse.test_payloads import fetch_of

DAYS = ("2022-01-04", "2025-01-02", "2026-08-20")


def fill(services: Services) -> None:
    """Three staged rows: older than three years, than one year, and of yesterday."""
    statement = Sql(services.engine).insert("stg_margin", ("code", "date", "src"))
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(statement, [("600519", day, "eastmoney") for day in DAYS])


def test_bodies_go_after_as_many_days_as_the_setting_says(services: Services, runner: InProcessRuns) -> None:
    folder = services.settings.data_path / "payloads"
    store = FolderPayloads(folder)
    fetches = [fetch_of(b"body", day) for day in ("2026-07-21", "2026-07-22")]
    old, kept = store.put_all(fetches).values()
    alone = services.commands.enqueue(
        "cleanup", {"days": 365, "tables": ["stg_margin"]}, requested_by="admin"
    )
    Worker(services, runner).work_once()
    assert (services.commands.get(alone.id).status, store.get(old)) == ("success", b"body")

    services.commands.enqueue("cleanup", {"days": 365, "tables": []}, requested_by="admin")
    Worker(services, runner).work_once()

    assert (store.get(old), store.get(kept)) == (None, b"body")


def left(services: Services) -> list[str]:
    with services.engine.connect() as connection:
        return list(connection.exec_driver_sql("SELECT date FROM stg_margin ORDER BY 1").scalars())


def test_a_cleanup_command_becomes_a_run_with_a_batch_and_an_answer(
    services: Services, runner: InProcessRuns
) -> None:
    fill(services)
    asked = services.commands.enqueue(
        "cleanup", {"days": 365, "tables": ["stg_margin"]}, requested_by="admin"
    )

    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.error) == ("success", None)
    assert (done.result["status"], done.result["deleted"]) == ("success", {"stg_margin": 2})
    assert left(services) == ["2026-08-20"]
    run = runner.instance.get_run_by_id(done.result["run_id"])
    assert (run.job_name, run.is_success) == (JOB, True)
    with services.engine.connect() as connection:
        batches = connection.exec_driver_sql(
            "SELECT DISTINCT trigger_type, command_id FROM sys_batch WHERE run_id=?", (run.run_id,)
        ).all()
    assert [tuple(row) for row in batches] == [("api", asked.id)]


def test_a_scheduled_run_keeps_as_many_days_as_the_setting_says(
    services: Services, runner: InProcessRuns
) -> None:
    fill(services)
    task = BY_KEY["data_cleanup"]
    due = datetime(2026, 8, 17, 4, 30)
    slot = ScheduledRun(task.key, task.scheduled_run(due).name, due)
    assert services.scheduled_runs.claim(slot, "tick", trade_date="2026-08-17")
    carried = run_tags.scheduled_run_tags(
        slot, trade_date="2026-08-17", trigger="schedule", attempt=1, owner="schedule", warning=None
    )

    default = runner.run(JOB, run_id="11111111-1111-1111-1111-111111111111", tags=carried)
    assert (default.success, left(services)) == (True, list(DAYS[1:]))
    assert services.scheduled_runs.latest()[task.key].run_id == default.run_id

    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            Sql(services.engine).insert("sys_config", ("config_key", "value")),
            ("data.cleanup.retention_days", "30"),
        )
    shorter = runner.run(JOB, run_id="22222222-2222-2222-2222-222222222222")
    assert (shorter.success, left(services)) == (True, ["2026-08-20"])

    with transaction(services.engine) as connection:
        connection.exec_driver_sql("UPDATE sys_config SET value='7'")
    refused = runner.run(JOB, run_id="33333333-3333-3333-3333-333333333333")
    assert (refused.success, left(services)) == (False, ["2026-08-20"])
    assert "7 is out of range" in str(refused.error)


def test_a_scheduled_run_shortens_ledgers_and_files_and_one_for_a_table_does_not(
    services: Services, runner: InProcessRuns
) -> None:
    old = services.settings.data_path / "answers" / "2020-01-02-101500"
    old.mkdir(parents=True)
    with transaction(services.engine) as connection:
        statement = Sql(services.engine).insert("sys_sync_log", ("task_type", "started_at"))
        connection.exec_driver_sql(statement, [("margin", "2020-01-02 16:00:00")] * 3)
    alone = services.commands.enqueue(
        "cleanup", {"days": 365, "tables": ["stg_margin"]}, requested_by="admin"
    )
    Worker(services, runner).work_once()
    assert (services.commands.get(alone.id).status, old.exists()) == ("success", True)

    done = runner.run(JOB, run_id="44444444-4444-4444-4444-444444444444")

    assert (done.success, old.exists()) == (True, False)
    left = Sql(services.engine).rows("SELECT COUNT(*) FROM sys_sync_log WHERE started_at < '2021'")
    assert left[0][0] == 0


def test_wrong_arguments_fail_before_anything_is_deleted(services: Services, runner: InProcessRuns) -> None:
    fill(services)
    wrong = (
        {},
        {"days": "365"},
        {"days": 365, "tables": "stg_margin"},
        {"days": 365, "tables": ["raw_quote"]},
    )
    for args in wrong:
        asked = services.commands.enqueue("cleanup", args, requested_by="admin")
        Worker(services, runner).work_once()
        assert services.commands.get(asked.id).status == "failed"

    assert left(services) == list(DAYS)


def test_both_sides_use_the_same_names() -> None:
    assert handler.CLEANUP_JOB == JOB == BY_KEY["data_cleanup"].key
    assert HANDLERS["cleanup"].long
