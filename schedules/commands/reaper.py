"""What a dead worker left behind, set right: its commands, locks and rows.

Its runs go on in processes of Dagster; whoever takes its command up again ends them.
"""

import logging
from collections.abc import Collection
from typing import Any

from core.errors import NotFound
from core.processes import alive
from resources.redact import redact
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.heartbeats import STEP_WORKER, Node
from resources.warehouse.ledger.scheduled_run_reads import LOST, ScheduledRunRow
from schedules.runs.left_runs import release_locks
from schedules.services import Services

log = logging.getLogger(__name__)
ROLE = "worker"


def dead_nodes(services: Services, me: Node, role: str = ROLE) -> list[Node]:
    """Workers that are gone: silent for 90 s, or of this machine and without their process (a new
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
    own = [
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


def settle_slots(services: Services, instance: Any, dead: Collection[int] | None = None) -> list[str]:
    """Settle the rows that a worker left open when it died between the run's end and the row, or whose run
    was deleted. `dead`: only those of these commands, whose worker is gone. Returns one line per row."""
    from schedules.runs.records import DagsterRuns  # noqa: PLC0415  the worker starts without Dagster

    runs, notes = DagsterRuns(instance), []
    for row in services.scheduled_runs.active():
        if row.run_id is None or row.command_id is None or (dead is not None and row.command_id not in dead):
            continue
        fate, now = runs.fate(row.run_id), services.clock.now()
        settled: ScheduledRunRow | None = None
        if fate is None and dead is not None:
            settled = services.scheduled_runs.finish(row.run_id, "failed", now=now, reason=LOST)
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
        reason = LOST if run is None else f"its run ended: {run.status.value}"
        for batch_id in services.batches.fail_open(run_id, reason, now=services.clock.now()):
            notes.append(f"batch {batch_id} of run {run_id[:8]} failed: {reason}")
    return notes


def reap_node(services: Services, node_id: str, instance: Any = None) -> list[str]:
    """Set right what one node left; its heartbeat row goes last, so that a reaper that dies is repeated."""
    notes = []
    dead = {command.id for command in services.commands.worked_on_by(node_id)}
    if instance is not None:
        notes += settle_slots(services, instance, dead)
        notes += close_batches(services, instance)
    # Before the commands are queued again: a lock that the next worker takes for one has the same owner.
    release_locks(services.engine, owners=[f"command:{command_id}" for command_id in dead])
    commands = services.commands.reap(owner=node_id)
    for command in commands:
        notes.append(f"command {command.id} ({command.command}) is {command.status}: {node_id} died")
    services.heartbeats.forget(node_id)
    for note in notes:
        log.warning(note)
    return notes


def try_reap(services: Services, me: Node, instance: Any) -> None:
    """`reap` for a loop: a database that is away now is looked at again later. Dagster's storage raises
    what its driver raises, and the loop is the worker's heartbeat: nothing may end it."""
    try:
        reap(services, me, instance)
    except Exception as error:
        log.warning("reaper: %s: %s", type(error).__name__, redact(str(error)).partition("\n")[0])
