"""Signs of life of the child processes, each as that process gives them.

A sign is True (it lives), False (no sign), or None (nobody can tell now: the database is locked, the server
that would know is away). Only a silence that is known as one ends a process.
"""

import time
from collections.abc import Callable
from functools import cache

from core.clock import SystemClock
from core.errors import PlatformError
from resources.orchestrator import DAEMON_FRESH_S, Orchestrator
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.heartbeats import Heartbeats
from resources.warehouse.write_probe import WriteProbe

Sign = Callable[[int], bool | None]
"""Asked with the process's id."""
FRESH_S = 30.0
"""A worker beats every ten seconds."""
PING_S = 5.0


def heartbeat_sign(url: str, role: str) -> Sign:
    """The row that the process writes into `sys_heartbeat`. While nothing can be written, nobody can beat."""

    @cache
    def opened() -> tuple[Heartbeats, WriteProbe]:
        return Heartbeats(make_engine(url, pool_size=1)), WriteProbe(url, "supervisor")

    def sign(pid: int) -> bool | None:
        try:
            beats, probe = opened()
            now = SystemClock().now()
            mine = [node.beat_at for node in beats.all(role) if node.pid == pid]
            if any((now - beat).total_seconds() <= FRESH_S for beat in mine):
                return True
            probe.write()
        except PlatformError:
            return None
        return False

    return sign


def daemon_sign(orchestrator: Orchestrator, now: Callable[[], float] = time.time) -> Sign:
    """What the daemon's parts wrote into Dagster's storage, as the webserver reads it."""

    def sign(_pid: int) -> bool | None:
        try:
            beats = orchestrator.daemon_beats().values()
        except (PlatformError, KeyError, TypeError):
            return None
        return bool(beats) and all(beat is not None and now() - beat <= DAEMON_FRESH_S for beat in beats)

    return sign


def server_sign(answers: Callable[[], bool]) -> Sign:
    """Whether a server answers."""
    return lambda _pid: answers()


def code_server_answers(port: int) -> bool:
    """Dagster's own ping, over gRPC, through the proxy to the process that holds the definitions."""
    import grpc  # noqa: PLC0415  an API alone has no code server

    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    try:
        ping = channel.unary_unary(
            "/api.DagsterApi/Ping",
            request_serializer=bytes,
            response_deserializer=bytes,
        )
        ping(b"", timeout=PING_S)
    except grpc.RpcError:
        return False
    finally:
        channel.close()
    return True
