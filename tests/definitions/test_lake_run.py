"""The task `lake_publish` as a Dagster run: it publishes what the loads wrote, and compares it."""

import uuid
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from platform_assets.definitions.lake_assets import CHECK, JOB, published_tables
from resources.composition import open_platform
from resources.lake.location import Lake
from resources.lake.reading import read_published
from schedules.services import Services
from tests.definitions.in_process import InProcessRuns

DAY = "2026-08-20"
FIRST, AGAIN = (str(uuid.uuid4()) for _ in range(2))
BARS = dg.AssetKey(["lake", "fusion_kline_daily"])


def checks_of(runner: InProcessRuns, run_id: str) -> dict[str, bool]:
    """Table -> whether its check passed in a run."""
    records = runner.instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found: list[Any] = [record.dagster_event.event_specific_data for record in records]
    assert {one.check_name for one in found} <= {CHECK}
    return {one.asset_key.path[-1]: one.passed for one in found}


def test_a_run_publishes_what_changed_and_an_idle_one_nothing(
    services: Services, runner: InProcessRuns
) -> None:
    for job in ("security_list", "fusion_kline_sync"):
        assert runner.run(job, run_id=str(uuid.uuid4()), partition_key=DAY).success
    first = runner.run(JOB, run_id=FIRST)
    again = runner.run(JOB, run_id=AGAIN)
    assert (first.success, again.success) == (True, True)

    lake = Lake(services.settings.lake_address)
    opened = open_platform(services.settings)
    declared = published_tables(opened.registry)
    rows = read_published(lake.table("fusion_kline_daily"), columns=["code", "date", "close"]).to_pylist()
    stored = opened.warehouse.rows("fusion_kline_daily", columns=("code", "close"), order=["code"])
    opened.close()
    assert lake.names() == sorted(declared)
    assert {name: lake.table(name).delta.version() for name in declared} == dict.fromkeys(declared, 1)
    assert checks_of(runner, FIRST) == dict.fromkeys(declared, True)
    assert [(row["code"], row["close"]) for row in rows] == [tuple(row.values()) for row in stored]
    assert len(rows) > 40
    event = runner.instance.get_latest_materialization_event(BARS)
    assert event is not None
    assert event.run_id == AGAIN
    assert {name: event.asset_materialization.metadata[name].value for name in ("months", "commits")} == {
        "months": 0,
        "commits": 0,
    }
    tidied = runner.run("data_cleanup", run_id=str(uuid.uuid4()))
    assert tidied.success


@pytest.mark.soak
def test_a_table_that_cannot_be_published_hurts_no_other(services: Services, runner: InProcessRuns) -> None:
    assert runner.run("security_list", run_id=str(uuid.uuid4()), partition_key=DAY).success
    blocked = Path(services.settings.lake_address) / "calc_chip_daily"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("no folder")

    done = runner.run(JOB, run_id=str(uuid.uuid4()))

    assert not done.success
    assert "not published: calc_chip_daily" in str(done.error)
    assert len(read_published(Lake(services.settings.lake_address).table("fusion_stock_master"))) > 40
