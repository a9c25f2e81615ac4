"""`python -m schedules.commands.alive [ROLE]`: 0 while the worker (or the process of another role) of this
machine or container has a recent heartbeat, else 1. The health check of a container without a supervisor."""

import socket
import sys

from core.errors import PlatformError
from resources.settings import process_settings
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.heartbeats import Heartbeats

ROLE = "worker"


def main() -> int:
    host = socket.gethostname()[:40]
    role = sys.argv[1] if len(sys.argv) > 1 else ROLE
    try:
        engine = make_engine(process_settings().warehouse_address, read_only=True, wait_s=5.0)
        try:
            beats = Heartbeats(engine)
            nodes = beats.workers() if role == ROLE else beats.all(role)
        finally:
            engine.dispose()
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0 if any(node.host == host and node.fresh() for node in nodes) else 1


if __name__ == "__main__":
    sys.exit(main())
