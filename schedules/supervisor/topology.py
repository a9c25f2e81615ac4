"""The production topology, once: which services and processes a deployment on several machines has.

`make cluster` starts it on loopback, `docker/compose.yaml` and `docker/kubernetes.yaml` in containers; a test
compares the three.
"""

from dataclasses import dataclass

from platform_assets.definitions.queues import QUEUES


@dataclass(frozen=True)
class Part:
    """A service or a kind of process. `replicas`: how many of it; `port`: where it listens, of a service its
    own standard port; `queues`: what a step worker takes from the broker."""

    name: str
    replicas: int = 1
    port: int = 0
    queues: tuple[str, ...] = ()


SERVICES = (Part("mariadb", port=3306), Part("postgres", port=5432), Part("rabbitmq", port=5672))
"""Warehouse, Dagster's history with the results of steps, broker of the steps."""

STEP_WORKERS = 2
API_PROCESSES = 2
PROCESSES = (
    Part("code_server", port=4000),
    Part("dagster_daemon"),
    Part("dagster_ui", port=3000),
    Part("worker"),
    # Each takes from every queue, so that one alone carries the day on when the other dies.
    Part("step_worker", replicas=STEP_WORKERS, queues=QUEUES),
    Part("api", replicas=API_PROCESSES, port=8000),
)
"""In the order in which they start; exactly one daemon: two would be two schedulers."""
