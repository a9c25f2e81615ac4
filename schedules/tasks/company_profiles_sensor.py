"""The sensor `baseinfo_refresh`: asks in a session for the company profiles of some stocks, in turn.

It is no task: whose turn was missed comes again, so nothing waits for it and nothing catches up.
"""

from collections.abc import Callable
from datetime import datetime, time, timedelta

import dagster as dg

from core.calendar import CalendarHorizon
from platform_assets.definitions.dagster_internals import UnresolvedAssetJobDefinition
from platform_assets.definitions.run_lease import CODES_TAG
from schedules.services import Services

SENSOR = "baseinfo_refresh"
AT_ONCE = 50
"""Stocks of one run: a market of 5,500 in five trade dates, with the usual interval."""
SESSIONS = ((time(9, 30), time(11, 30)), (time(13), time(15)))
_LISTED = (
    "SELECT code FROM fusion_stock_master WHERE sec_type='stock' "
    "AND (list_status IS NULL OR list_status<>'D') ORDER BY code"
)


def due(services: Services, now: datetime) -> tuple[datetime | None, str]:
    """(the moment to refresh for, '') or (None, why there is none)."""
    settings = services.settings
    if not settings.scheduler_baseinfo_refresh:
        return None, "SCHEDULER_BASEINFO_REFRESH is false"
    try:
        if not services.calendar.is_trade_date(now.date().isoformat()):
            return None, f"{now:%Y-%m-%d} is no trade date"
    except CalendarHorizon as error:
        return None, error.message
    session = next((opens for opens, closes in SESSIONS if opens <= now.time() < closes), None)
    if session is None:
        return None, f"no session at {now:%H:%M}"
    opened = datetime.combine(now.date(), session)
    every = settings.scheduler_baseinfo_interval
    return opened + timedelta(seconds=int((now - opened).total_seconds()) // every * every), ""


def next_codes(services: Services, after: str) -> list[str]:
    """Listed stocks behind a code, in order; behind the last one the first ones again."""
    with services.engine.connect() as connection:
        codes = [str(code) for code in connection.exec_driver_sql(_LISTED).scalars()]
    behind = [code for code in codes if code > after]
    return [*behind, *codes[: len(codes) - len(behind)]][:AT_ONCE]


def baseinfo_sensor(
    job: dg.JobDefinition | UnresolvedAssetJobDefinition,
    services: Callable[[], Services],
    idle: Callable[[Services], str | None],
) -> dg.SensorDefinition:
    """The sensor; `idle` says why nothing is scheduled at all. One run per interval; the cursor is the moment
    that was asked for last, and the last code of its turn."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        opened = services()
        why = idle(opened)
        at = None
        if why is None:
            at, why = due(opened, opened.clock.now())
        if at is None:
            return dg.SkipReason(why)
        moment = f"{at:%Y-%m-%dT%H:%M:%S}"
        asked, _, last = (context.cursor or "").partition(" ")
        if asked == moment:
            return dg.SkipReason(f"refreshed for {moment}")
        codes = next_codes(opened, last)
        if not codes:
            return dg.SkipReason("no stocks are stored yet")
        request = dg.RunRequest(
            run_key=f"{SENSOR}:{moment}",
            tags={"app/trigger": "schedule", CODES_TAG: ",".join(codes)},
        )
        return dg.SensorResult(run_requests=[request], cursor=f"{moment} {codes[-1]}")

    return dg.SensorDefinition(
        name=SENSOR,
        job=job,
        evaluation_fn=evaluate,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="refreshes company profiles in turn while the exchanges trade",
    )
