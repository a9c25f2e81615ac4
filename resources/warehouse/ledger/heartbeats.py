"""Which processes are alive (`sys_heartbeat`): a row per node, fresh when it beat within 90 s."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from core.clock import SystemClock, stamp
from resources.warehouse.engine import transaction
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger

FRESH = timedelta(seconds=90)
BEAT_S = 10.0
"""Role of a run that has a process of its own; its node id is the run's id."""
STEP_WORKER = "step_worker"
"""Role of a process that carries out steps of runs."""
WORKERS = ("all", "worker")
"""Roles of the nodes that carry out commands."""
SCHEDULER = "scheduler"
"""Node id under which the scheduler's sensor records each of its ticks."""

_COLUMNS = ("node_id", "role", "host", "pid", "started_at", "beat_at", "state_json")


@dataclass(frozen=True)
class Node:
    """One process. Times are naive local exchange time by the system clock."""

    node_id: str
    role: str
    host: str
    pid: int
    started_at: datetime
    beat_at: datetime
    state: dict[str, Any] = field(default_factory=dict)

    def fresh(self, now: datetime | None = None) -> bool:
        return (now or SystemClock().now()) - self.beat_at <= FRESH


def last_tick(nodes: "list[Node]") -> datetime | None:
    """When the scheduler ticked last, by the system clock; None before its first tick."""
    return next((node.beat_at for node in nodes if node.node_id == SCHEDULER), None)


def this_node(role: str) -> Node:
    """A node for this process; its id is new with every start."""
    now = SystemClock().now()
    host = socket.gethostname()[:40]
    return Node(f"{host}:{os.getpid()}:{now:%H%M%S%f}", role, host, os.getpid(), now, now)


class Heartbeats(Ledger):
    """Writes and reads `sys_heartbeat`."""

    def beat(self, node: Node, state: Mapping[str, Any] | None = None) -> None:
        """Write that this node is alive, and what it is doing."""
        state_json = json.dumps(dict(state or {}), ensure_ascii=False, default=str)
        started, now = stamp(node.started_at), stamp(SystemClock().now())
        values = (node.node_id, node.role, node.host, node.pid, started, now, state_json)
        with transaction(self._engine) as connection:
            connection.exec_driver_sql(self._sql.upsert("sys_heartbeat", _COLUMNS, ("node_id",)), values)

    def workers(self) -> list[Node]:
        """Nodes that carry out commands, alive or not, the one that beat last first."""
        return [node for node in self.all() if node.role in WORKERS]

    def forget(self, node_id: str) -> None:
        self._sql.change("DELETE FROM sys_heartbeat WHERE node_id=?", (node_id,))

    def all(self, role: str | None = None) -> list[Node]:
        """Nodes, the one that beat last first."""
        where, values = ("", ()) if role is None else (" WHERE role=?", (role,))
        rows = self._sql.rows(
            f"SELECT {', '.join(_COLUMNS)} FROM sys_heartbeat{where} ORDER BY beat_at DESC", values
        )
        return [record(Node, row) for row in rows]
