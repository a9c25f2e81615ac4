"""The database's pulse and the newest heartbeat."""

from resources.warehouse.ledger.heartbeats import Heartbeats, Node
from resources.warehouse.warehouse import Warehouse
from serving_api.reading import Session

SCHEDULER_ROLES = ("all", "worker")


def ping(session: Session) -> None:
    session.ping()


def newest_node(warehouse: Warehouse) -> Node | None:
    """The scheduler side's process that was heard last; None when there never was one."""
    nodes = Heartbeats(warehouse.engine).all()
    return next((node for node in nodes if node.role in SCHEDULER_ROLES), None)
