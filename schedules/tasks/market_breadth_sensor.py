"""The sensor `market_warmup`: asks for a sample of the market's breadth every five minutes of a session.

It is no task: a moment that was missed is gone, so nothing waits for it and nothing catches up.
"""

from collections.abc import Callable
from datetime import datetime

import dagster as dg

from core.calendar import CalendarHorizon
from platform_assets.datasets.breadth_sample import sample_time
from platform_assets.definitions.dagster_internals import UnresolvedAssetJobDefinition
from schedules.services import Services

SENSOR = "market_warmup"
EVERY_S = 60


def due(services: Services, now: datetime) -> tuple[datetime | None, str]:
    """(the sample to ask for, '') or (None, why there is none)."""
    if not services.settings.scheduler_warmup_market:
        return None, "SCHEDULER_WARMUP_MARKET is false"
    try:
        if not services.calendar.is_trade_date(now.date().isoformat()):
            return None, f"{now:%Y-%m-%d} is no trade date"
    except CalendarHorizon as error:
        return None, error.message
    at = sample_time(now)
    return at, "" if at is not None else f"no session at {now:%H:%M}"


def warmup_sensor(
    job: dg.JobDefinition | UnresolvedAssetJobDefinition,
    services: Callable[[], Services],
    idle: Callable[[Services], str | None],
) -> dg.SensorDefinition:
    """The sensor; `idle` says why nothing is scheduled at all. One run per sample: its key is the moment."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        opened = services()
        why = idle(opened)
        at = None
        if why is None:
            at, why = due(opened, opened.clock.now())
        if at is None:
            return dg.SkipReason(why)
        return dg.RunRequest(run_key=f"{SENSOR}:{at:%Y-%m-%dT%H:%M}", tags={"app/trigger": "schedule"})

    return dg.SensorDefinition(
        name=SENSOR,
        job=job,
        evaluation_fn=evaluate,
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="samples how many stocks rise and fall, every five minutes of a session",
    )
