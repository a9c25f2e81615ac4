"""The jobs behind the single syncs, each a run of one asset."""

from typing import Any

from platform_assets.definitions.jobs import SYNCS
from resources.orchestrator import CODES_TAG
from resources.warehouse.ledger.commands import Command
from schedules.commands.worker import Worker
from schedules.services import Services
from serving_api.datasets import sync
from tests.definitions.conftest import BANK
from tests.definitions.in_process import InProcessRuns


def carried_out(services: Services, runner: InProcessRuns, job: str, **how: Any) -> Command:
    args = {"job": job, "trigger": "api", **how}
    asked = services.commands.enqueue("run_job", args, requested_by="admin")
    Worker(services, runner).work_once()
    return services.commands.get(asked.id)


def rows(services: Services, statement: str) -> list[tuple[Any, ...]]:
    with services.engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def test_each_sync_loads_its_own_table_and_a_second_one_writes_nothing(
    services: Services, runner: InProcessRuns
) -> None:
    requested: dict[str, dict[str, Any]] = {
        sync.BLOCKS: {},
        sync.INDICES: {"partition_range": ["2026-08-19", "2026-08-21"]},
        sync.BARS: {"tags": {CODES_TAG: BANK}},
    }
    for job, how in requested.items():
        first, second = (carried_out(services, runner, job, **how) for _ in range(2))

        assert (first.status, first.error) == ("success", None)
        assert second.status == "success"
        written = "SELECT DISTINCT table_name, SUM(rows_written) FROM sys_batch WHERE run_id='{}'"
        ((table, saved),) = rows(services, written.format(first.run_id))
        assert (table, saved > 0) == (SYNCS[job], True)
        assert rows(services, written.format(second.run_id)) == [(SYNCS[job], 0)]

    kinds = rows(services, "SELECT DISTINCT block_type FROM raw_block_member ORDER BY 1")
    # Industries are loaded beside the three kinds that the command counts.
    assert {kind for (kind,) in kinds} == {*sync.KINDS, "hy"}
    assert rows(services, "SELECT COUNT(DISTINCT date) FROM fusion_index_daily") == [(3,)]
    periods = rows(
        services, f"SELECT period, COUNT(*) FROM fusion_kline_bar WHERE code='{BANK}' GROUP BY period"
    )
    assert {period for period, _ in periods} == set(sync.PERIODS)
    assert rows(services, "SELECT COUNT(DISTINCT code) FROM fusion_kline_bar") == [(1,)]


def test_both_sides_use_the_same_names() -> None:
    assert {sync.BLOCKS, sync.INDICES, sync.BARS} == SYNCS.keys()
