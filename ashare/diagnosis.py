"""Checks of an installation: each returns findings, and raises nothing that a person could mend."""

import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from ashare.session import running_platform
from core.declaration.registry import builtin_registry
from core.errors import PlatformError
from resources.composition import market_clock, open_warehouse
from resources.orchestrator import Orchestrator
from resources.settings import Settings, refuse_reserved
from resources.stored_calendar import stored_calendar
from resources.warehouse.engine import is_sqlite
from resources.warehouse.ledger.heartbeats import Heartbeats
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.write_probe import WriteProbe
from schedules.supervisor import checks
from schedules.supervisor.process_plan import answers, reachable

Status = Literal["ok", "warning", "failed", "skipped"]
SKEW_S = 2.0
"""Clocks further apart than this confuse leases and heartbeats, which are compared with the server's time."""
CALENDAR_DAYS = 30
CONNECT_S = 5
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Finding:
    """`check`: what was looked at; `detail`: what was found, and what to do when it is not ok."""

    check: str
    status: Status
    detail: str


Check = Callable[[Settings], Iterator[Finding]]


def _attempt(name: str, work: Callable[[], object], good: str) -> Finding:
    try:
        work()
    except (PlatformError, NotImplementedError) as error:
        return Finding(name, "failed", str(error))
    return Finding(name, "ok", good)


def configuration(settings: Settings) -> Iterator[Finding]:
    """What a start refuses: reserved values, a clock outside the calendar, files that are missing."""

    def refuse() -> None:
        refuse_reserved(settings)
        checks.check_python()
        checks.check_now(settings.frozen_now)
        checks.check_files(settings)

    given = ", ".join(sorted(name.upper() for name in settings.explicit)) or "defaults alone"
    yield _attempt(
        "configuration", refuse, f"data source {settings.data_source}, role {settings.role}; {given}"
    )
    why = settings.why_idle(market_clock(settings))
    if why is not None:
        yield Finding("schedule", "warning", f"no task starts by itself: {why}")


def disk(settings: Settings) -> Iterator[Finding]:
    """The data folder: there, writable, with room."""
    folder = settings.data_path
    if not folder.is_dir():
        yield Finding("data folder", "skipped", f"{folder} is made by the first start")
        return

    def look() -> None:
        checks.check_folder(folder)
        checks.check_disk(folder)
        checks.check_room(folder)

    yield _attempt("data folder", look, f"{folder} can be written and has room")


def permissions(settings: Settings) -> Iterator[Finding]:
    """Secrets may be read by their owner alone."""
    folder = settings.data_path / "secrets"
    if not folder.is_dir():
        yield Finding("secrets", "skipped", "none yet")
        return
    open_paths = [path for path in (folder, *folder.iterdir()) if path.stat().st_mode & _OTHERS]
    for path in open_paths:
        mode = "700" if path.is_dir() else "600"
        yield Finding("secrets", "failed", f"{path} can be read by others; chmod {mode} it")
    if not open_paths:
        yield Finding("secrets", "ok", "for their owner alone")


def calendar(settings: Settings) -> Iterator[Finding]:
    """How far the published trade calendar reaches."""
    known = stored_calendar(settings).look()
    now = market_clock(settings).now()
    left = known.days_left(now.date().isoformat())
    advice = "" if left >= CALENDAR_DAYS else "; later days are by the rules of the holidays"
    text = f"published to {known.confirmed_until}, {left} days left{advice}"
    yield Finding("trade calendar", "warning" if advice else "ok", text)


def warehouse(settings: Settings) -> Iterator[Finding]:
    """The warehouse: reachable, with all tables, writable; the server's clock."""
    clock = market_clock(settings)
    try:
        store = open_warehouse(settings, builtin_registry(), clock, read_only=True, wait_s=1.0)
    except PlatformError as error:
        yield Finding("warehouse", "failed", str(error))
        return
    address = sa.make_url(settings.warehouse_address)
    try:
        if is_sqlite(store.engine) and not Path(str(address.database)).is_file():
            yield Finding("warehouse", "skipped", f"{address.database} is made by the first start")
        else:
            yield from _warehouse(settings, store, address.render_as_string(hide_password=True))
    except (PlatformError, sa.exc.SQLAlchemyError) as error:
        shown = getattr(error, "message", None) or type(error).__name__
        yield Finding("warehouse", "failed", f"{settings.warehouse_variables}: {shown}")
    finally:
        store.close()


def _warehouse(settings: Settings, store: Warehouse, shown: str) -> Iterator[Finding]:
    with store.connect() as connection:
        there = set(sa.inspect(connection).get_table_names())
        if not is_sqlite(store.engine):
            at = connection.exec_driver_sql("SELECT UNIX_TIMESTAMP(NOW(6))").scalar_one()
            yield skew("clock of the warehouse", float(at))
    absent = sorted(store.tables.keys() - there)
    if absent:
        named = ", ".join(absent[:3])
        yield Finding(
            "warehouse",
            "warning",
            f"{len(absent)} tables are missing ({named} ...); the next start adds them",
        )
    else:
        yield Finding("warehouse", "ok", f"{shown}, {len(store.tables)} tables")
    if is_sqlite(store.engine):
        yield _pages(store)
    try:
        yield Finding("payload store", "ok", store.payloads.check())
    except PlatformError as error:
        yield Finding("payload store", "failed", error.message)
    probe = WriteProbe(settings.warehouse_address, "doctor")
    try:
        yield _attempt("warehouse, writing", probe.write, "a row was written")
    finally:
        probe.close()
    yield from _worker(store)


def _pages(store: Warehouse) -> Finding:
    """SQLite's own check of every page: some seconds a gigabyte."""
    with store.connect() as connection:
        problems = connection.exec_driver_sql("PRAGMA quick_check(3)").scalars().all()
    if problems == ["ok"]:
        return Finding("warehouse, pages", "ok", "no page is damaged")
    first = " ".join(str(problems[0]).split())
    return Finding("warehouse, pages", "failed", f"damaged: {first}; restore a backup (ashare restore)")


def _worker(store: Warehouse) -> Iterator[Finding]:
    nodes = Heartbeats(store.engine).workers()
    fresh = [node for node in nodes if node.fresh()]
    if fresh:
        yield Finding("worker", "ok", f"process {fresh[0].pid} on {fresh[0].host}")
    else:
        last = f"; the last one was alive at {nodes[0].beat_at:%Y-%m-%d %H:%M:%S}" if nodes else ""
        yield Finding("worker", "warning", f"none runs{last}; `ashare run` starts one")


def skew(name: str, server: float) -> Finding:
    """`server`: the server's time in seconds since 1970."""
    apart = abs(time.time() - server)
    if apart > SKEW_S:
        return Finding(name, "failed", f"{apart:.1f} s from the clock of this machine; set both by NTP")
    return Finding(name, "ok", f"within {SKEW_S:.0f} s of this machine's")


def dagster_storage(settings: Settings) -> Iterator[Finding]:
    """Dagster's own storage, where it is a server."""
    if not settings.dagster_postgres_url or settings.role == "web":
        return
    name = "Dagster's storage"
    try:
        checks.check_postgres(settings.dagster_postgres_url)
        engine = sa.create_engine(settings.dagster_postgres_url, connect_args={"connect_timeout": CONNECT_S})
        try:
            with engine.connect() as connection:
                at = connection.exec_driver_sql("SELECT EXTRACT(EPOCH FROM clock_timestamp())").scalar_one()
        finally:
            engine.dispose()
    except PlatformError as error:
        yield Finding(name, "failed", error.message)
    except sa.exc.SQLAlchemyError as error:
        yield Finding(
            name, "failed", f"DAGSTER_POSTGRES_URL: the server does not answer ({type(error).__name__})"
        )
    else:
        yield Finding(name, "ok", "PostgreSQL answers")
        yield skew("clock of Dagster's storage", float(at))


def processes(settings: Settings) -> Iterator[Finding]:
    """The processes that a supervisor of this data folder started, the API and the Dagster UI."""
    listed = running_platform(settings).get("processes", {})
    if not listed:
        yield Finding("processes", "skipped", "the platform does not run on this data folder")
        return
    for name, one in listed.items():
        state = one.get("state")
        wrong = state != "running" or one.get("in_loop")
        yield Finding(name, "failed" if wrong else "ok", f"{state}, {one.get('restarts', 0)} restarts")
    if settings.role != "worker":
        host, port = reachable(settings.api_host), settings.api_port
        good = answers(port, "/health", host)
        yield Finding(
            "API",
            "ok" if good else "failed",
            f"http://{host}:{port}/health {'answers' if good else 'is silent'}",
        )
    if settings.role != "web":
        port = settings.dagster_port
        beats = Orchestrator(port, host=settings.dagster_host, timeout_s=5.0).daemon_beats
        yield _attempt("Dagster UI", beats, f"http://{settings.dagster_host}:{port} answers")


CHECKS: tuple[Check, ...] = (
    configuration,
    disk,
    permissions,
    calendar,
    warehouse,
    dagster_storage,
    processes,
)
