"""The command `download` end to end: worker, Dagster run, pipeline, simulated market, answer."""

import pytest

from platform_assets.definitions.download_job import JOB, MARKET_JOB
from platform_assets.definitions.run_context import ANSWER
from schedules.commands import handlers as handler
from schedules.commands.handlers import HANDLERS
from schedules.commands.worker import Worker
from schedules.runs import outcome as runners
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK
from tests.definitions.in_process import InProcessRuns


def test_a_download_command_becomes_a_run_with_batches_and_an_answer(
    services: Services, runner: InProcessRuns
) -> None:
    asked = services.commands.enqueue("download", {"codes": [BANK], "types": ["quote"]}, requested_by="admin")

    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.error) == ("success", None)
    part = done.result["types"]["quote"]
    assert part["status"] == "success"
    assert part["codes"][BANK]["saved"] >= 1
    assert done.result["fusion"]["results"]["quote_snapshot"] == {"status": "success", "saved": 1}
    run = runner.instance.get_run_by_id(done.result["run_id"])
    assert (run.job_name, run.is_success) == ("download", True)
    with services.engine.connect() as connection:
        batches = connection.exec_driver_sql(
            "SELECT DISTINCT trigger_type, command_id FROM sys_batch WHERE run_id=?", (run.run_id,)
        ).all()
    assert [tuple(row) for row in batches] == [("api", asked.id)]


def test_when_every_part_fails_the_run_fails_and_the_answer_stays(
    services: Services, runner: InProcessRuns, faults: FaultPlan
) -> None:
    names = ("tdx", "tencent", "eastmoney")
    faults.replace([{"upstream": one, "call": "*", "kind": "reset", "args": {}, "count": 0} for one in names])
    asked = services.commands.enqueue("download", {"codes": [BANK], "types": ["quote"]}, requested_by="admin")

    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert done.status == "success"
    part = done.result["types"]["quote"]
    assert (part["status"], "tencent" in part["message"]) == ("failed", True)
    assert not runner.instance.get_run_by_id(done.result["run_id"]).is_success


def test_a_download_of_the_market_is_a_run_under_the_lock_of_what_it_feeds(
    services: Services, runner: InProcessRuns
) -> None:
    asked = services.commands.enqueue(
        "download_market", {"name": "exchange_block_trade"}, requested_by="admin"
    )
    strange = services.commands.enqueue("download_market", {"name": "quote"}, requested_by="admin")

    worker = Worker(services, runner)
    worker.work_once()
    worker.work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.error, done.result["status"]) == ("success", None, "success")
    assert done.result["fusion"]["block_trade"]["status"] == "success"
    run = runner.instance.get_run_by_id(done.result["run_id"])
    assert (run.job_name, run.is_success) == ("download_market", True)
    assert services.commands.get(strange.id).status == "failed"


@pytest.mark.parametrize(
    "args", [{}, {"codes": [], "types": ["quote"]}, {"codes": ["600519"], "types": "quote"}]
)
def test_a_command_without_codes_or_types_fails_before_any_run(
    services: Services, runner: InProcessRuns, args: dict[str, object]
) -> None:
    asked = services.commands.enqueue("download", args, requested_by="admin")

    Worker(services, runner).work_once()

    assert services.commands.get(asked.id).status == "failed"
    assert runner.instance.get_runs() == []


def test_both_sides_use_the_same_names() -> None:
    assert (handler.DOWNLOAD_JOB, handler.MARKET_JOB, runners.ANSWER) == (JOB, MARKET_JOB, ANSWER)
    assert not HANDLERS["download"].long
