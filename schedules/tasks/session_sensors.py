"""The sensors of a session: `market_warmup` asks for a sample of the market's breadth every five minutes,
`baseinfo_refresh` for the company profiles of some stocks, in turn.

They are no tasks: a moment that was missed is gone, and whose turn was missed comes again, so nothing waits
for them and nothing catches up.
"""

from collections.abc import Callable
from datetime import datetime, time, timedelta

import dagster as dg

from core.calendar import CalendarHorizon
from platform_assets.datasets.breadth_sample import sample_time
from platform_assets.definitions.dagster_internals import UnresolvedAssetJobDefinition
from resources.warehouse.ledger.watch_list import universe_of
from schedules import run_tags
from schedules.services import Services

BREADTH, PROFILES = "market_warmup", "baseinfo_refresh"
AT_ONCE = 50
"""Stocks of one run: a market of 5,500 in five trade dates, with the usual interval."""
SESSIONS = ((time(9, 30), time(11, 30)), (time(13), time(15)))
_LISTED = (
    "SELECT code FROM fusion_stock_master WHERE sec_type='stock' "
    "AND (list_status IS NULL OR list_status<>'D') ORDER BY code"
)
Job = dg.JobDefinition | UnresolvedAssetJobDefinition
OpenServices = Callable[[], Services]
Idle = Callable[[Services], str | None]
"""Why nothing is scheduled at all."""
Due = tuple[datetime | None, str]
"""(the moment to ask for, '') or (None, why there is none)."""


def _closed(services: Services, now: datetime) -> str:
    """Why no session is possible on a day; empty on a trade date."""
    try:
        is_open = services.calendar.is_trade_date(now.date().isoformat())
    except CalendarHorizon as error:
        return error.message
    return "" if is_open else f"{now:%Y-%m-%d} is no trade date"


def breadth_due(services: Services, now: datetime) -> Due:
    """The sample to ask for."""
    if not services.settings.scheduler_warmup_market:
        return None, "SCHEDULER_WARMUP_MARKET is false"
    if closed := _closed(services, now):
        return None, closed
    at = sample_time(now)
    return at, "" if at is not None else f"no session at {now:%H:%M}"


def profiles_due(services: Services, now: datetime) -> Due:
    """The moment to refresh for."""
    settings = services.settings
    if not settings.scheduler_baseinfo_refresh:
        return None, "SCHEDULER_BASEINFO_REFRESH is false"
    if closed := _closed(services, now):
        return None, closed
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


def _sensor(
    name: str,
    job: Job,
    services: OpenServices,
    idle: Idle,
    due: Callable[[Services, datetime], Due],
    ask: Callable[[Services, datetime, str], dg.SensorResult | dg.RunRequest | dg.SkipReason],
    *,
    every_s: int,
    about: str,
) -> dg.SensorDefinition:
    """A sensor that asks (`ask`: services, moment, cursor) at the moments that are `due`."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.RunRequest | dg.SkipReason:
        opened = services()
        why, at = idle(opened), None
        if why is None:
            at, why = due(opened, opened.clock.now())
        return dg.SkipReason(why) if at is None else ask(opened, at, context.cursor or "")

    return dg.SensorDefinition(
        name=name,
        job=job,
        evaluation_fn=evaluate,
        minimum_interval_seconds=every_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=about,
    )


def warmup_sensor(job: Job, services: OpenServices, idle: Idle) -> dg.SensorDefinition:
    """One run per sample: its key is the moment."""

    def ask(opened: Services, at: datetime, _cursor: str) -> dg.RunRequest | dg.SkipReason:
        if opened.migrated and universe_of(opened.engine) is not None:
            return dg.SkipReason("this installation loads a watch list, not the market")
        return dg.RunRequest(run_key=f"{BREADTH}:{at:%Y-%m-%dT%H:%M}", tags={"app/trigger": "schedule"})

    about = "samples how many stocks rise and fall, every five minutes of a session"
    return _sensor(BREADTH, job, services, idle, breadth_due, ask, every_s=60, about=about)


def baseinfo_sensor(job: Job, services: OpenServices, idle: Idle) -> dg.SensorDefinition:
    """One run per interval; the cursor is the moment asked for last, and the last code of its turn."""

    def ask(opened: Services, at: datetime, cursor: str) -> dg.SensorResult | dg.SkipReason:
        moment = f"{at:%Y-%m-%dT%H:%M:%S}"
        asked, _, last = cursor.partition(" ")
        if asked == moment:
            return dg.SkipReason(f"refreshed for {moment}")
        codes = next_codes(opened, last)
        if not codes:
            return dg.SkipReason("no stocks are stored yet")
        tags = {run_tags.TRIGGER: "schedule", run_tags.CODES: ",".join(codes)}
        request = dg.RunRequest(run_key=f"{PROFILES}:{moment}", tags=tags)
        return dg.SensorResult(run_requests=[request], cursor=f"{moment} {codes[-1]}")

    about = "refreshes company profiles in turn while the exchanges trade"
    return _sensor(PROFILES, job, services, idle, profiles_due, ask, every_s=30, about=about)
