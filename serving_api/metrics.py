"""/metrics in the formats of Prometheus and OpenMetrics: requests of this process, and the state of the
platform at this moment.

Off unless METRICS says who may read it: `loopback` (callers of this machine, without a proxy between) or
`admin`. Labels are routes, statuses, upstreams, breakers, domains, tasks, roles and tables: all declared, so
the number of series is bounded.
"""

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_fastapi_instrumentator import Instrumentator, metrics
from starlette.requests import Request
from starlette.responses import Response

from core.errors import Forbidden, PlatformError
from resources.redact import redact
from resources.warehouse.ledger.heartbeats import Heartbeats
from resources.warehouse.ledger.scheduled_run_reads import RETRIED, ScheduledRunReads
from resources.warehouse.locks import DomainLocks
from resources.warehouse.stored import select, stored
from serving_api.admin.stats import freshness_of
from serving_api.db.batches import BATCHES
from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.permissions import ADMIN
from serving_api.framework.state import State
from serving_api.live.clients import transport_state

PATH = "/metrics"
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
NOT_LOCAL = "metrics are for callers of this machine"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_BREAKERS = {"CLOSED": 0, "HALF_OPEN": 1, "OPEN": 2}
_COMMANDS = stored("sys_command")
_DAY = timedelta(hours=24)
logger = logging.getLogger(__name__)

Part = Callable[[Session, State], Iterator[Metric]]
Kind = TypeVar("Kind", CounterMetricFamily, GaugeMetricFamily)


def _family(kind: type[Kind], name: str, about: str, labels: tuple[str, ...], rows: Any) -> Kind:
    """`rows`: (label values, value)."""
    family = kind(f"ashare_{name}", about, labels=labels)
    for values, value in rows:
        family.add_metric([str(one) for one in values], float(value))
    return family


_gauge, _counter = partial(_family, GaugeMetricFamily), partial(_family, CounterMetricFamily)


def upstreams(session: Session, state: State) -> Iterator[Metric]:
    """Calls, failures and retries by upstream, and the breakers, of this machine's transport state."""
    found = transport_state(state.settings)
    for name, about in (
        ("requests", "Calls to an upstream"),
        ("failures", "Calls to an upstream that failed"),
        ("retries", "Repeated calls to an upstream"),
    ):
        counts = (((upstream,), counted[name]) for upstream, counted in found["counters"].items())
        yield _counter(f"upstream_{name}", about, ("upstream",), counts)
    labels, ended = ("upstream", "host", "outcome"), ((where, count) for *where, count in found["calls"])
    yield _counter("upstream_calls", "Calls that ended, by host and outcome", labels, ended)
    cooling = (((upstream,), counted["cooldown"]) for upstream, counted in found["counters"].items())
    yield _gauge("upstream_cooldown", "1 while a host of the upstream cools down", ("upstream",), cooling)
    breakers = (((name,), _BREAKERS[one["state"]]) for name, one in found["breakers"].items())
    yield _gauge("breaker_state", "0 closed, 1 half open, 2 open", ("breaker",), breakers)


def queue(session: Session, state: State) -> Iterator[Metric]:
    """Commands that wait or are carried out."""
    c = _COMMANDS.c
    waiting_or_running = select(_COMMANDS, c.command, c.status, sa.func.count(), sa.func.min(c.requested_at))
    rows = session.run(
        waiting_or_running.where(c.status.in_(("queued", "running"))).group_by(c.command, c.status)
    )
    counts = (((command, status), count) for command, status, count, _ in rows)
    yield _gauge("commands", "Commands that are queued or running", ("command", "status"), counts)
    waiting = [str(since) for _, status, _, since in rows if status == "queued" and since]
    age = (state.system.local() - datetime.fromisoformat(min(waiting))).total_seconds() if waiting else 0.0
    yield _gauge(
        "commands_oldest_queued_seconds", "Age of the oldest queued command", (), [((), max(0.0, age))]
    )


def scheduled_runs(session: Session, state: State) -> Iterator[Metric]:
    """The newest run of each task: how late it began, how long it took, how it ended."""
    rows = ScheduledRunReads(state.reading.warehouse.engine).latest()
    late = (
        ((key,), max(0.0, (row.started_at - row.slot_at).total_seconds()))
        for key, row in rows.items()
        if row.started_at is not None
    )
    yield _gauge("task_lateness_seconds", "Begin of a task's newest run after its time", ("task",), late)
    took = (((key,), row.duration_s) for key, row in rows.items() if row.duration_s is not None)
    yield _gauge("task_duration_seconds", "Duration of a task's newest run", ("task",), took)
    ended = (((key,), row.status in RETRIED) for key, row in rows.items())
    about = "1 where the newest run of a task failed, as a whole or in part"
    yield _gauge("task_failed", about, ("task",), ended)


def locks(session: Session, state: State) -> Iterator[Metric]:
    """Domain locks: nobody waits for one, who finds it taken is refused and asks again later. And how long
    writes of the last 24 hours waited for other writers."""
    domain_locks = DomainLocks(state.reading.warehouse.engine)
    held = (((one.domain,), one.held) for one in domain_locks.states())
    refused = (((domain,), count) for domain, count in domain_locks.refusals().items())
    yield _counter("lock_refusals", "Requests for a domain lock while it was held", ("domain",), refused)
    c = BATCHES.c
    waited = select(BATCHES, c.table_name, sa.func.sum(c.lock_wait_ms), sa.func.max(c.lock_wait_ms))
    of = [c.started_at >= _a_day_ago(state), c.lock_wait_ms.is_not(None)]
    waits = session.run(waited.where(*of).group_by(c.table_name))
    for name, about, at in (
        ("lock_wait_seconds_last_day", "Seconds that writes waited for other writers within 24 hours", 1),
        ("lock_wait_seconds_max_last_day", "The longest of these waits", 2),
    ):
        yield _gauge(name, about, ("table",), (((row[0],), float(row[at]) / 1000) for row in waits))
    yield _gauge("lock_held", "1 while a run holds the domain lock", ("domain",), held)


def heartbeats(session: Session, state: State) -> Iterator[Metric]:
    """The newest heartbeat of each role, in seconds ago."""
    now, newest = state.system.local(), dict[str, datetime]()
    for node in Heartbeats(state.reading.warehouse.engine).all():
        newest[node.role] = max(node.beat_at, newest.get(node.role, node.beat_at))
    ages = (((role,), max(0.0, (now - at).total_seconds())) for role, at in newest.items())
    yield _gauge("heartbeat_age_seconds", "Age of the newest heartbeat of a role", ("role",), ages)


def _a_day_ago(state: State) -> str:
    return (state.clock.now() - _DAY).strftime("%Y-%m-%d %H:%M:%S")


def rows_written(session: Session, state: State) -> Iterator[Metric]:
    """Rows and batches of the last 24 hours by table."""
    c = BATCHES.c
    changed = sa.func.sum(sa.func.coalesce(c.rows_written, 0))
    batches = select(BATCHES, c.table_name, c.status, sa.func.count(), changed)
    rows = session.run(batches.where(c.started_at >= _a_day_ago(state)).group_by(c.table_name, c.status))
    written = (((table,), count) for table, status, _, count in rows if status == "success")
    yield _gauge("rows_written_last_day", "Rows that changed within 24 hours", ("table",), written)
    failed = (((table,), count) for table, status, count, _ in rows if status == "failed")
    yield _gauge("batches_failed_last_day", "Batches that failed within 24 hours", ("table",), failed)


PARTS: tuple[Part, ...] = (upstreams, queue, scheduled_runs, locks, heartbeats, rows_written)


async def platform(state: State) -> list[Metric]:
    """All families; a part that cannot be read is left out, and `ashare_scrape_ok` says so."""
    found: list[Metric] = []
    read: dict[str, bool] = {}

    async def add(name: str, made: Awaitable[list[Metric]]) -> None:
        try:
            found.extend(await made)
        except PlatformError as error:
            logger.warning("metrics without %s: %s", name, redact(str(error)))
            read[name] = False
        else:
            read[name] = True

    for part in PARTS:
        await add(part.__name__, state.reading.scan(_made, part, state))
    await add("freshness", _stale(state))
    parts = (((name,), good) for name, good in read.items())
    return [*found, _gauge("scrape_ok", "1 where this part of the metrics could be read", ("part",), parts)]


def _made(session: Session, part: Part, state: State) -> list[Metric]:
    return list(part(session, state))


async def _stale(state: State) -> list[Metric]:
    details = (await freshness_of(state))["details"]
    rows = (((table,), one["isStale"]) for table, one in details.items())
    return [_gauge("dataset_stale", "1 where a watched table is late", ("table",), rows)]


class _Scrape:
    """What one answer holds: the requests that were counted, and the state as it was read."""

    def __init__(self, counted: CollectorRegistry, families: list[Metric]) -> None:
        self._counted, self._families = counted, families

    def collect(self) -> Iterator[Metric]:
        yield from self._counted.collect()
        yield from self._families


def _is_local(request: Request) -> bool:
    """A peer on the loopback interface that speaks for itself: a proxy's requests come from there as well."""
    peer = request.client.host if request.client else ""
    try:
        local = ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
    return local and not any(name in request.headers for name in _FORWARDED)


def add_metrics(app: FastAPI, state: State) -> None:
    """Count requests and serve /metrics to those whom the setting METRICS names."""
    readers = state.settings.metrics
    counted = CollectorRegistry()
    instrumentator = Instrumentator(
        registry=counted, should_group_status_codes=False, should_exclude_streaming_duration=True
    )
    instrumentator.add(metrics.requests(registry=counted))
    instrumentator.add(metrics.latency(registry=counted, buckets=BUCKETS_S, should_include_status=False))
    instrumentator.instrument(app)

    async def answer(request: Request) -> Response:
        if readers == "admin":
            await ADMIN.admit(request)
        elif not _is_local(request):
            raise Forbidden(NOT_LOCAL)
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        text = encode(_Scrape(counted, await platform(state)))
        return Response(text, headers={"Cache-Control": NO_STORE}, media_type=content_type)

    app.add_route(PATH, answer, include_in_schema=False)
