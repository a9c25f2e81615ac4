"""What a dead worker left behind, set right: its commands, runs, locks and rows.

Runs that Dagster launched as processes are watched by Dagster; those of a worker only by the worker and this.
"""

import logging
from collections.abc import Collection
from datetime import datetime
from typing import Any

from core.errors import NotFound
from resources.processes import alive
from resources.redact import redact
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.heartbeats import RUN, STEP_WORKER, Node
from resources.warehouse.ledger.scheduled_run_reads import LOST, PROCESS_DIED, WORKER_DIED, ScheduledRunRow
from resources.warehouse.sql import Sql, marks
from schedules import run_tags
from schedules.services import Services

log = logging.getLogger(__name__)
ROLE = "worker"
_AT_WORK = ("NOT_STARTED", "STARTING", "STARTED", "CANCELING")


def dead_nodes(services: Services, me: Node, role: str = ROLE) -> list[Node]:
    """Workers (or runs) that are gone: silent for 90 s, or of this machine and without their process (a new
    process may have got the number of the dead one: then it is this one)."""
    return [
        node
        for node in services.heartbeats.all(role)
        if node.node_id != me.node_id
        and (not node.fresh() or (node.host == me.host and (node.pid == me.pid or not alive(node.pid))))
    ]


def reap(services: Services, me: Node, instance: Any = None) -> list[str]:
    """Set right what dead workers left, and claims that expired. `instance` is Dagster's; without one
    runs are left alone. Returns one line per thing that was set right."""
    notes = []
    for node in dead_nodes(services, me):
        notes += reap_node(services, node.node_id, instance)
    own = [] if instance is None else reap_runs(services, me, instance)
    own += [
        f"command {command.id} ({command.command}) is {command.status}: its claim expired"
        for command in services.commands.reap()
    ]
    if instance is not None:
        own += settle_slots(services, instance)
        own += close_batches(services, instance)
    own += [
        f"backfill {backfill_id} failed: it has no command"
        for backfill_id in Backfills(services.engine).end_forgotten(now=services.clock.now())
    ]
    for node in dead_nodes(services, me, STEP_WORKER):
        # The broker gives its step to another one: nothing is left but its row.
        services.heartbeats.forget(node.node_id)
        own.append(f"step worker {node.pid} on {node.host} is gone")
    for note in own:
        log.warning(note)
    return notes + own


def reap_runs(services: Services, me: Node, instance: Any) -> list[str]:
    """End runs whose own process is gone, also when its code server went with it. Returns one line per
    run that was at work."""
    notes = []
    for node in dead_nodes(services, me, RUN):
        for run_id in _fail(instance, run_ids=[node.node_id]):
            services.scheduled_runs.finish(run_id, "failed", now=services.clock.now(), reason=PROCESS_DIED)
            release_locks(services, [run_id], [])
            notes.append(f"run {run_id[:8]} failed: its process {node.pid} on {node.host} died")
        services.heartbeats.forget(node.node_id)
    return notes


def settle_slots(services: Services, instance: Any, dead: Collection[int] | None = None) -> list[str]:
    """Settle the rows that a worker left open when it died between the row and Dagster's run, or
    between the run's end and the row. `dead`: only those of these commands, whose worker is gone: a run that
    Dagster does not know is not going to come. Without it such a run is given the time that every claim has.
    Returns one line per row."""
    from schedules.runs.records import DagsterRuns  # noqa: PLC0415  the worker starts without Dagster

    runs, notes = DagsterRuns(instance), []
    for row in services.scheduled_runs.active():
        if row.run_id is None or row.command_id is None or (dead is not None and row.command_id not in dead):
            continue
        fate, now = runs.fate(row.run_id), services.clock.now()
        settled: ScheduledRunRow | None = None
        if fate is None and dead is not None:
            settled = services.scheduled_runs.finish(row.run_id, "failed", now=now, reason=WORKER_DIED)
        elif fate is None:
            settled = services.scheduled_runs.lose(row.run_id, now=now)
        elif fate.status != "open" and (dead is not None or not _at_work(services, row.command_id)):
            partial = fate.status == "success" and services.scheduled_runs.batches_failed(row.run_id)
            status = "partial" if partial else fate.status
            settled = services.scheduled_runs.finish(row.run_id, status, now=now, reason=fate.reason)
        if settled is not None:
            notes.append(
                f"scheduled run {row.slot} of {row.task_key} is {settled.status}: its worker left it open"
            )
    return notes


def _at_work(services: Services, command_id: int) -> bool:
    try:
        return services.commands.get(command_id).status == "running"
    except NotFound:
        return False


def close_batches(services: Services, instance: Any) -> list[str]:
    """End the batches that dead runs left open: the parent of a range outlives no kill. Returns one line
    per batch."""
    notes = []
    for run_id in services.batches.open_runs():
        run = instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            continue
        if run is None and _may_come(services, run_id):
            continue
        reason = LOST if run is None else f"its run ended: {run.status.value}"
        for batch_id in services.batches.fail_open(run_id, reason, now=services.clock.now()):
            notes.append(f"batch {batch_id} of run {run_id[:8]} failed: {reason}")
    return notes


def _may_come(services: Services, run_id: str) -> bool:
    """Whether a run that Dagster does not know is at work all the same: its process has a heartbeat, or its
    row is too young, or its command too lively, to be given up."""
    if any(node.node_id == run_id and node.fresh() for node in services.heartbeats.all(RUN)):
        return True
    services.scheduled_runs.lose(run_id, now=services.clock.now())
    return any(row.run_id == run_id for row in services.scheduled_runs.active())


def reap_node(services: Services, node_id: str, instance: Any = None) -> list[str]:
    """Set right what one node left; its heartbeat row goes last, so that a reaper that dies is repeated."""
    notes = []
    runs = [] if instance is None else _fail(instance, tags={run_tags.OWNER: node_id})
    for run_id in runs:
        services.scheduled_runs.finish(run_id, "failed", now=services.clock.now(), reason=WORKER_DIED)
        notes.append(f"run {run_id[:8]} failed: its worker {node_id} died")
    if instance is not None:
        dead = {command.id for command in services.commands.worked_on_by(node_id)}
        notes += settle_slots(services, instance, dead)
        notes += close_batches(services, instance)
    # Before the commands are queued again: a lock that the next worker takes for one has the same owner.
    release_locks(services, runs, [command.id for command in services.commands.worked_on_by(node_id)])
    commands = services.commands.reap(owner=node_id)
    for command in commands:
        notes.append(f"command {command.id} ({command.command}) is {command.status}: {node_id} died")
    services.heartbeats.forget(node_id)
    for note in notes:
        log.warning(note)
    return notes


def fail_run(services: Services, instance: Any, run_id: str, reason: str) -> None:
    """Set right what one run left whose process ended under it: its state, rows, locks and batches."""
    _fail(instance, run_ids=[run_id])
    release_locks(services, [run_id], [])
    for note in close_batches(services, instance):
        log.warning(note)
    log.warning("run %s failed: %s", run_id[:8], reason)


def fail_runs_before(services: Services, instance: Any, start: datetime) -> list[str]:
    """End every run that was at work before this installation started (`start`, aware): its process, and
    the code server that would have seen it die, are gone. Queued runs go on. Embedded storage only, where
    no other machine runs anything."""
    ids = _fail(instance, queued=False, created_before=start)
    for run_id in ids:
        services.scheduled_runs.finish(
            run_id, "failed", now=services.clock.now(), reason="the platform was stopped"
        )
        log.warning("run %s failed: it was at work when the platform was stopped", run_id[:8])
    release_locks(services, ids, [])
    return ids


def _fail(instance: Any, *, queued: bool = True, **which: Any) -> list[str]:
    """End the open runs that a filter names (with `queued` also those that have not begun); their ids."""
    from dagster import DagsterRunStatus, RunsFilter  # noqa: PLC0415  the worker starts without Dagster

    states = [getattr(DagsterRunStatus, name) for name in _AT_WORK]
    states += [DagsterRunStatus.QUEUED] if queued else []
    ids = []
    for record in instance.get_run_records(RunsFilter(statuses=states, **which)):
        run = instance.get_run_by_id(record.dagster_run.run_id)
        if run is None or run.is_finished:
            continue  # it came to its own end since it was looked up
        instance.report_run_failed(record.dagster_run, "the process that executed this run died")
        ids.append(record.dagster_run.run_id)
    return ids


def release_locks(services: Services, run_ids: Collection[str], command_ids: Collection[int]) -> None:
    """Give back the domain locks of dead runs and commands at once instead of after their expiry."""
    owners = [f"command:{command_id}" for command_id in command_ids]
    sql = Sql(services.engine)
    for column, values in (("run_id", list(run_ids)), ("owner", owners)):
        if values:
            sql.change(
                "UPDATE sys_domain_lock SET owner=NULL, run_id=NULL, command_id=NULL, expires_at=0 "
                f"WHERE {column} IN ({marks(values)})",
                tuple(values),
            )


def try_reap(services: Services, me: Node, instance: Any) -> None:
    """`reap` for a loop: a database that is away now is looked at again later. Dagster's storage raises
    what its driver raises, and the loop is the worker's heartbeat: nothing may end it."""
    try:
        reap(services, me, instance)
    except Exception as error:
        log.warning("reaper: %s: %s", type(error).__name__, redact(str(error)).partition("\n")[0])
