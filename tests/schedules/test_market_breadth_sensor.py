"""The sensor of the market's breadth: one run per five minutes of a session, and why there is none."""

from dataclasses import replace
from datetime import datetime

import dagster as dg
import pytest

from core.clock import ManualClock
from platform_assets.definitions.jobs import SAMPLE
from schedules.code_location import defs
from schedules.services import Services
from schedules.tasks.session_sensors import BREADTH as SENSOR
from schedules.tasks.session_sensors import breadth_due as due
from schedules.tasks.session_sensors import warmup_sensor


@pytest.mark.parametrize(
    ("moment", "reported"),
    [
        ("2026-08-21T10:32", "10:30"),
        ("2026-08-21T15:00", "15:00"),
        ("2026-08-21T12:00", "no session at 12:00"),
        ("2026-08-22T10:30", "2026-08-22 is no trade date"),
    ],
)
def test_a_sample_is_due_in_a_session(services: Services, moment: str, reported: str) -> None:
    at, why = due(services, datetime.fromisoformat(moment))

    assert (why if at is None else at.strftime("%H:%M")) == reported


def test_the_switch_of_the_environment_is_honoured(services: Services) -> None:
    services.settings = replace(services.settings, scheduler_warmup_market=False)

    assert due(services, datetime(2026, 8, 21, 10, 30)) == (None, "SCHEDULER_WARMUP_MARKET is false")


def test_one_run_is_asked_for_per_sample(services: Services) -> None:
    job = defs.get_repository_def().get_job(SAMPLE)
    sensor = warmup_sensor(job, lambda: services, lambda _services: None)
    assert isinstance(services.clock, ManualClock)
    keys = []
    with dg.DagsterInstance.ephemeral() as instance:
        for moment in ("10:30", "10:34", "10:35", "11:45"):
            services.clock.at = datetime.fromisoformat(f"2026-08-21T{moment}")
            reported = sensor.evaluate_tick(dg.build_sensor_context(instance=instance))
            keys.append([request.run_key for request in reported.run_requests or []])

    assert keys == [
        [f"{SENSOR}:2026-08-21T10:30"],
        [f"{SENSOR}:2026-08-21T10:30"],
        [f"{SENSOR}:2026-08-21T10:35"],
        [],
    ]


def test_it_rests_where_nothing_is_scheduled() -> None:
    found = {one.name: one for one in defs.get_repository_def().sensor_defs}

    assert found[SENSOR].job_name == SAMPLE
    assert found[SENSOR].default_status is dg.DefaultSensorStatus.RUNNING
