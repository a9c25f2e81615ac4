"""A running server and a client connected to it, for the tests of both."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import FrozenClock
from core.errors import PlatformError
from resources.fetch_record import FetchLog
from resources.upstreams.tdx.client import TdxClient
from simulated_market.faults import FaultPlan
from simulated_market.tdx.server import TdxServer
from tests.simulated_market.tdx.tiny_world import NOW, TinyWorld


@dataclass
class CountingGate:
    """Lets everything pass and records the reported outcomes."""

    reported: list[tuple[str, str, str]] = field(default_factory=list)

    def enter(self, family: str, host: str) -> None:
        self.reported.append(("enter", family, host))

    def succeeded(self, family: str, host: str) -> None:
        self.reported.append(("succeeded", family, host))

    def failed(self, family: str, host: str, error: PlatformError) -> None:
        self.reported.append(("failed", family, host))

    def count(self, what: str) -> int:
        return sum(entry[0] == what for entry in self.reported)


@dataclass
class Market:
    """`naps` holds what the client slept between tries."""

    server: TdxServer
    client: TdxClient
    faults: FaultPlan
    log: FetchLog
    gate: CountingGate
    naps: list[float]

    def fault(self, kind: str, call: str = "*", first: int = 1, count: int = 0, **args: Any) -> None:
        self.faults.replace([{"call": call, "kind": kind, "first": first, "count": count, "args": args}])


@contextmanager
def open_market(
    world: TinyWorld | None = None,
    *,
    now: datetime = NOW,
    server: dict[str, Any] | None = None,
    **client: Any,
) -> Iterator[Market]:
    clock, faults, log, gate, naps = FrozenClock(now), FaultPlan(), FetchLog(), CountingGate(), []
    with TdxServer(world or TinyWorld(), clock, faults, **(server or {})) as running:
        options: dict[str, Any] = {"timeout": 5.0, "sleeper": naps.append} | client
        endpoints = options.pop("endpoints", None) or [running.address]
        with TdxClient(endpoints, gate=gate, clock=clock, fetches=log, **options) as speaking:
            yield Market(running, speaking, faults, log, gate, naps)
