"""The command `fusion_sync` by codes, end to end: worker, Dagster runs, pipeline, simulated market."""

import threading
import time

import pytest

from platform_assets.definitions.jobs import BASEINFO
from resources.orchestrator import CODES_TAG
from resources.warehouse.locks import DOMAINS
from schedules.commands.worker import Worker
from schedules.services import Services
from tests.definitions.conftest import BANK
from tests.definitions.in_process import InProcessRuns


def rows_of(services: Services, table: str, column: str = "code") -> set[str]:
    with services.engine.connect() as connection:
        return set(connection.exec_driver_sql(f"SELECT {column} FROM {table}").scalars())


def carried_out(services: Services, runner: InProcessRuns, command: str, args: dict[str, object]) -> None:
    asked = services.commands.enqueue(command, args, requested_by="admin")

    Worker(services, runner).work_once()

    done = services.commands.get(asked.id)
    assert (done.status, done.error) == ("success", None)


@pytest.mark.soak
def test_a_sync_by_codes_fuses_them_in_every_domain_while_others_hold_the_locks(
    services: Services, runner: InProcessRuns
) -> None:
    carried_out(services, runner, "run_job", {"job": "security_list", "partition_key": "2026-08-21"})
    lease = services.locks.take(DOMAINS, "somebody")

    carried_out(services, runner, "fusion_sync", {"codes": [BANK]})
    carried_out(services, runner, "fusion_sync", {"codes": [BANK]})

    services.locks.release(lease)
    for table in ("fusion_kline_daily", "fusion_quote_snapshot", "fusion_valuation", "fusion_stock_wide"):
        assert rows_of(services, table) == {BANK}, table
    # Indices are no stocks: a sync of stocks leaves their table alone.
    assert rows_of(services, "fusion_index_daily") == set()
    with services.engine.connect() as connection:
        batches = connection.exec_driver_sql(
            "SELECT table_name, status, rows_written FROM sys_batch ORDER BY started_at"
        ).all()
    assert {status for _, status, _ in batches} == {"success"}
    assert [rows for table, _, rows in batches if table == "fusion_kline_daily"][-1] == 0


def test_a_run_waits_for_the_table_that_another_run_writes(services: Services, runner: InProcessRuns) -> None:
    """A repair of one date held `wide` for seconds when fusion_wide_sync was due: the task was partial."""
    lease = services.locks.take(("wide",), "run:other", run_id="other")

    def release_when_refused() -> None:
        while not services.locks.refusals().get("wide"):
            services.locks.beat(lease)
            time.sleep(0.2)
        services.locks.release(lease)

    threading.Thread(target=release_when_refused, daemon=True).start()
    carried_out(services, runner, "run_job", {"job": "security_list", "partition_key": "2026-08-21"})

    assert services.locks.refusals()["wide"] > 0


def test_reports_of_a_range_are_loaded_apart_from_its_bars(services: Services, runner: InProcessRuns) -> None:
    carried_out(
        services, runner, "run_job", {"job": "reports", "partition_range": ["2026-04-30", "2026-08-21"]}
    )

    periods = {str(day) for day in rows_of(services, "fusion_finance_indicator", "report_period")}
    assert periods == {"2025-12-31", "2026-03-31", "2026-06-30"}
    assert services.scheduled_runs.done_dates("reports") == {"2026-08-21"}
    assert rows_of(services, "fusion_kline_daily") == set()


def test_a_refresh_of_profiles_is_limited_to_the_stocks_in_turn(
    services: Services, runner: InProcessRuns
) -> None:
    carried_out(services, runner, "run_job", {"job": "security_list", "partition_key": "2026-08-21"})

    carried_out(services, runner, "run_job", {"job": BASEINFO, "tags": {CODES_TAG: BANK}})

    assert rows_of(services, "fusion_stock_profile") == {BANK}
