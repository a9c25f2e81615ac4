"""SQL of the health check: the newest heartbeats."""

from datetime import datetime

from resources.warehouse.ledger.heartbeats import Heartbeats, Node, last_tick
from resources.warehouse.warehouse import Warehouse
from serving_api.db.sessions import Session

SCHEDULER_ROLES = ("all", "worker")


def ping(session: Session) -> None:
    session.ping()


def heartbeat(warehouse: Warehouse) -> tuple[Node | None, datetime | None]:
    """The scheduler process with the newest heartbeat, and the scheduler's last tick."""
    nodes = Heartbeats(warehouse.engine).all()
    return next((node for node in nodes if node.role in SCHEDULER_ROLES), None), last_tick(nodes)
