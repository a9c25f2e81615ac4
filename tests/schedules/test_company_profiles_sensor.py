"""The sensor of the company profiles: one run per interval of a session, of the stocks whose turn it is."""

from dataclasses import replace
from datetime import datetime

import dagster as dg
import pytest

from core.clock import ManualClock
from platform_assets.definitions.jobs import BASEINFO
from resources.warehouse.engine import transaction
from schedules.code_location import defs
from schedules.services import Services
from schedules.tasks import session_sensors
from schedules.tasks.session_sensors import PROFILES as SENSOR
from schedules.tasks.session_sensors import baseinfo_sensor
from schedules.tasks.session_sensors import profiles_due as due

DAY = "2026-08-21"


@pytest.fixture
def stocked(services: Services) -> Services:
    with transaction(services.engine) as connection:
        connection.exec_driver_sql(
            "CREATE TABLE fusion_stock_master (code VARCHAR(8), sec_type VARCHAR(8), list_status VARCHAR(4))"
        )
        for code in range(1, 6):
            status = "D" if code == 3 else "L"
            connection.exec_driver_sql(
                f"INSERT INTO fusion_stock_master VALUES ('00000{code}', 'stock', '{status}')"
            )
    return services


@pytest.mark.parametrize(
    ("moment", "every", "reported"),
    [
        ("10:32", 600, "10:30"),
        ("11:29", 600, "11:20"),
        ("13:14", 1800, "13:00"),
        ("12:00", 600, "no session at 12:00"),
        ("15:00", 600, "no session at 15:00"),
    ],
)
def test_a_refresh_is_due_in_a_session(services: Services, moment: str, every: int, reported: str) -> None:
    services.settings = replace(services.settings, scheduler_baseinfo_interval=every)
    at, why = due(services, datetime.fromisoformat(f"{DAY}T{moment}"))

    assert (why if at is None else at.strftime("%H:%M")) == reported


def test_it_can_be_switched_off_and_rests_on_other_days(services: Services) -> None:
    assert due(services, datetime(2026, 8, 22, 10, 30)) == (None, "2026-08-22 is no trade date")
    services.settings = replace(services.settings, scheduler_baseinfo_refresh=False)
    assert due(services, datetime(2026, 8, 21, 10, 30)) == (None, "SCHEDULER_BASEINFO_REFRESH is false")


def test_stocks_take_their_turns(stocked: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_sensors, "AT_ONCE", 3)
    sensor = baseinfo_sensor(defs.get_repository_def().get_job(BASEINFO), lambda: stocked, lambda _: None)
    assert isinstance(stocked.clock, ManualClock)
    reported, cursor = [], None
    with dg.DagsterInstance.ephemeral() as instance:
        for moment in ("10:30", "10:34", "10:40", "10:50"):
            stocked.clock.at = datetime.fromisoformat(f"{DAY}T{moment}")
            context = dg.build_sensor_context(instance=instance, cursor=cursor)
            answer = sensor.evaluate_tick(context)
            cursor = answer.cursor or cursor
            reported += [(one.run_key, one.tags["app/codes"]) for one in answer.run_requests or []]

    assert reported == [
        (f"{SENSOR}:{DAY}T10:30:00", "000001,000002,000004"),
        (f"{SENSOR}:{DAY}T10:40:00", "000005,000001,000002"),
        (f"{SENSOR}:{DAY}T10:50:00", "000004,000005,000001"),
    ]


def test_it_asks_for_the_job_of_the_profiles() -> None:
    found = {one.name: one for one in defs.get_repository_def().sensor_defs}

    assert found[SENSOR].job_name == BASEINFO
    assert found[SENSOR].default_status is dg.DefaultSensorStatus.RUNNING
