"""The monitor of the watch lists in a run of Dagster: notifications from live quotes, one a day and kind."""

import json
from pathlib import Path
from typing import Any

from platform_assets.definitions.portfolio_job import JOB
from resources.notifications import NotificationStore
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Sql
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.conftest import BANK
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out


def watch(services: Services, code: str, stop: float | None = None, user: int = 0) -> None:
    insert = Sql(services.engine).insert(
        "portfolio_stock", ("user_id", "code", "stop_loss_price", "is_active")
    )
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(insert, (user, code, stop, 1))


def put(services: Services, **settings: str) -> None:
    insert = Sql(services.engine).insert("sys_config", ("config_key", "value"))
    with transaction(services.engine) as connection:
        for key, value in settings.items():
            connection.exec_driver_sql(insert, (key, value))


def reported(services: Services) -> list[Any]:
    return list(NotificationStore(services.settings.data_path / "notifications").newest_first())


def test_movements_are_told_once_a_day_and_only_of_watched_stocks(
    services_of_each_engine: Services, runner: InProcessRuns
) -> None:
    services = services_of_each_engine
    assert carried_out(services, runner, "security_list", partition_key="2026-08-21").status == "success"
    assert runner.run(JOB, run_id="11111111-1111-1111-1111-111111111111").success
    assert reported(services) == []

    watch(services, BANK, stop=100_000.0)
    watch(services, BANK, stop=None, user=7)
    watch(services, "999999", stop=1.0)
    put(services, PRICE_ALERT_THRESHOLD="0.0001", VOLUME_ALERT_RATIO="0.0001")
    for number in (2, 3):
        assert runner.run(JOB, run_id=f"{number}" * 8 + "-1111-1111-1111-111111111111").success

    rows = reported(services)
    assert {row.code for row in rows} == {BANK}
    assert {row.kind for row in rows} == {"portfolio_alert"}
    assert len(rows) == len({row.key for row in rows}) >= 2
    (stop,) = [row for row in rows if row.key == f"{BANK} stop_loss"]
    assert "已跌破止损价" in stop.title
    stored = Path(services.settings.data_path / "notifications" / "2026-08-21.json")
    assert [row["id"] for row in json.loads(stored.read_bytes())] == [row.id for row in reversed(rows)]


def test_the_terminal_stands_in_for_the_quote_site(
    services: Services, runner: InProcessRuns, faults: FaultPlan
) -> None:
    assert carried_out(services, runner, "security_list", partition_key="2026-08-21").status == "success"
    watch(services, BANK, stop=100_000.0)
    faults.replace([{"upstream": "tencent", "call": "quote", "kind": "html"}])
    assert runner.run(JOB, run_id="44444444-1111-1111-1111-111111111111").success
    assert f"{BANK} stop_loss" in {row.key for row in reported(services)}


def test_a_switched_off_monitor_asks_nobody(services: Services, runner: InProcessRuns) -> None:
    watch(services, BANK, stop=100_000.0)
    put(services, ENABLE_PORTFOLIO_MONITOR="false")
    assert runner.run(JOB, run_id="55555555-1111-1111-1111-111111111111").success
    assert reported(services) == []
