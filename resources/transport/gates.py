"""Gates with a memory: pacing, breakers, host cooldowns and counters.

`MemoryGate` for tests and single processes, `SqliteGate` for all processes of one machine, `DatabaseGate` for
all machines over one warehouse; they have the same rules. `deployment_gate` makes the one that fits the
settings.

What counts against an upstream: `Transient` (it did not answer) and `Refused` (it will not answer us;
one refusal opens the breaker at once, since asking again makes a ban longer). A rejected payload and a 404
are answers: they prove that the host works.

A breaker is CLOSED, OPEN, or HALF_OPEN while exactly one call of one process probes the host.
"""

import logging
import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.clock import Sleeper, real_sleep, stamp
from core.errors import PayloadError, Permanent, PlatformError, Refused, Transient, Unavailable
from resources.settings import Settings
from resources.transport.budget import current_budget
from resources.transport.call_window import count_call
from resources.transport.database_state import DatabaseStore
from resources.transport.servers import ServerRecords
from resources.transport.settings import BreakerRule, FamilyRule, TransportSettings, transport_settings
from resources.transport.state import MemoryStore, SqliteStore, Step, Store

log = logging.getLogger(__name__)
# A reservation further ahead than this cannot come from queued calls: the wall clock was set back.
_LONGEST_QUEUE_SEC = 300.0
STATE_FILE = "transport.sqlite3"
PROBE_S = 1.0
"""Seconds after which a call that waits for another one's probe looks again."""


_OUTCOME_OF: dict[type[PlatformError], str] = {
    Transient: "transient",
    Refused: "refused",
    Permanent: "permanent",
    PayloadError: "payload",
}
OUTCOMES = ("ok", *_OUTCOME_OF.values(), "other")
"""How a call ended, as counted for each host."""


class BreakerState(StrEnum):
    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


@dataclass
class _Breaker:
    state: str = BreakerState.CLOSED
    failure_count: int = 0
    opened_at: float | None = None
    prober: str = ""
    probe_until: float = 0.0


@dataclass
class _Host:
    failures: int = 0
    cooling_until: float = 0.0
    upstream: str = ""


@dataclass
class _Counter:
    requests: int = 0
    failures: int = 0
    retries: int = 0


class StateGate:
    """The rules over a store. `now` is wall-clock seconds: processes and restarts share it."""

    def __init__(
        self,
        store: Store,
        settings: TransportSettings,
        *,
        now: Callable[[], float] = time.time,
        sleeper: Sleeper = real_sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._sleep = sleeper
        self._random = rng or random.Random()
        self._identity = uuid.uuid4().hex[:8]

    # --- the Gate protocol

    def enter(self, family: str, host: str) -> None:
        """Wait for the family's turn; see `Gate.enter`."""
        budget = current_budget()
        if budget is not None:
            budget.take()
        try:
            rule = self._settings.family(family)
            with self._store.step() as step:
                self._check(step, rule, host)
                count_call(step, rule, family, self._now())
                wait = self._reserve(step, rule)
                if wait <= 0:
                    self._count(step, rule, requests=1)
            if wait > 0:
                self._sleep(wait)
                # Other calls may have met a ban while this one waited.
                with self._store.step() as step:
                    self._check(step, rule, host)
                    self._count(step, rule, requests=1)
        except Unavailable:
            if budget is not None:
                budget.give_back()
            raise

    def succeeded(self, family: str, host: str) -> None:
        rule = self._settings.family(family)
        with self._store.step() as step:
            self._count_outcome(step, rule, host, "ok")
            self._answered(step, rule, host)

    def failed(self, family: str, host: str, error: PlatformError) -> None:
        log.warning("%s: %s at %s: %s", family, type(error).__name__, host, error.message)
        rule = self._settings.family(family)
        with self._store.step() as step:
            self._count(step, rule, failures=1)
            self._count_outcome(step, rule, host, _outcome(error))
            if isinstance(error, Transient | Refused):
                self._failed_host(step, rule, host, refused=isinstance(error, Refused))
                if rule.breaker is not None:
                    self._failed_breaker(step, rule.breaker, refused=isinstance(error, Refused))
            else:
                self._answered(step, rule, host)

    def retried(self, family: str) -> None:
        with self._store.step() as step:
            self._count(step, self._settings.family(family), retries=1)

    def ready(self, family: str, host: str) -> bool:
        """False while the host cools down or the breaker is open: waiting for a retry is pointless."""
        rule = self._settings.family(family)
        now = self._now()
        with self._store.step() as step:
            if _read_host(step, host).cooling_until > now:
                return False
            if rule.breaker is None:
                return True
            breaker = _read_breaker(step, rule.breaker.name)
        if breaker.state != BreakerState.OPEN or breaker.opened_at is None:
            return True
        return not breaker.opened_at <= now < breaker.opened_at + rule.breaker.cooldown_sec

    def servers(self) -> ServerRecords:
        """Which server serves what, in the same store."""
        return ServerRecords(self._store, now=self._now, hold_s=self._settings.host_cooldown_sec)

    def close(self) -> None:
        """Give back what the store holds open."""
        self._store.close()

    # --- what /datamgr/probe-all shows

    def counters(self) -> dict[str, dict[str, int | bool]]:
        """Per upstream: requests, failures, retries, and whether one of its hosts is cooling down."""
        now = self._now()
        with self._store.step() as step:
            counters, hosts = step.all("counter"), step.all("host")
        cooling = {_Host(**doc).upstream for doc in hosts.values() if _Host(**doc).cooling_until > now}
        return {
            upstream: {**asdict(_Counter(**document)), "cooldown": upstream in cooling}
            for upstream, document in sorted(counters.items())
        }

    def calls(self) -> list[tuple[str, str, str, int]]:
        """(upstream, host, one of `OUTCOMES`, calls that ended so), since this state exists."""
        with self._store.step() as step:
            hosts = step.all("calls")
        return [
            (str(known["upstream"]), host, outcome, int(known[outcome]))
            for host, known in sorted(hosts.items())
            for outcome in OUTCOMES
            if outcome in known
        ]

    def breakers(self) -> dict[str, dict[str, Any]]:
        """Per breaker: state, failure_count, opened_at (local exchange time as text, or None)."""
        with self._store.step() as step:
            held = {rule.name: _read_breaker(step, rule.name) for rule in self._settings.breakers()}
        return {
            name: {
                "state": str(breaker.state),
                "failure_count": breaker.failure_count,
                "opened_at": None if breaker.opened_at is None else _local(breaker.opened_at),
            }
            for name, breaker in held.items()
        }

    # --- rules

    def _check(self, step: Step, rule: FamilyRule, host: str) -> None:
        now = self._now()
        cooling = _read_host(step, host).cooling_until
        if cooling > now:
            raise Unavailable(
                f"{host} cools down for another {cooling - now:.0f} s",
                source=rule.upstream,
                seconds_left=cooling - now,
            )
        if rule.breaker is None:
            return
        breaker = _read_breaker(step, rule.breaker.name)
        if breaker.state == BreakerState.CLOSED:
            return
        me = self._me()
        if breaker.state == BreakerState.OPEN:
            opened = breaker.opened_at if breaker.opened_at is not None else now
            # An opening in the future means the wall clock was set back; do not wait for it to pass.
            if opened <= now < opened + rule.breaker.cooldown_sec:
                left = opened + rule.breaker.cooldown_sec - now
                raise Unavailable(
                    f"{rule.breaker.name} is open for another {left:.0f} s",
                    source=rule.upstream,
                    seconds_left=left,
                )
        elif breaker.prober != me and now < breaker.probe_until:
            raise Unavailable(
                f"{rule.breaker.name} is half-open and being probed",
                source=rule.upstream,
                seconds_left=min(PROBE_S, breaker.probe_until - now),
            )
        breaker.state = BreakerState.HALF_OPEN
        breaker.prober = me
        breaker.probe_until = now + self._settings.probe_lease_sec
        step.put("breaker", rule.breaker.name, asdict(breaker))

    def _reserve(self, step: Step, rule: FamilyRule) -> float:
        """Seconds until this call's turn; the turn is taken."""
        if not self._settings.pacing:
            return 0.0
        gap = rule.gap + self._random.uniform(rule.jitter_min, rule.jitter_max)
        if gap <= 0:
            return 0.0
        now = self._now()
        free_at = float((step.get("pace", rule.pace) or {}).get("free_at", 0.0))
        turn = free_at if now < free_at < now + _LONGEST_QUEUE_SEC else now
        step.put("pace", rule.pace, {"free_at": turn + gap})
        return turn - now

    def _answered(self, step: Step, rule: FamilyRule, host: str) -> None:
        held = _read_host(step, host)
        if held.failures or held.cooling_until:
            step.put("host", host, asdict(_Host(upstream=rule.upstream)))
        if rule.breaker is None:
            return
        breaker = _read_breaker(step, rule.breaker.name)
        # A late answer to a call that was sent before the breaker opened proves nothing about now.
        probed = breaker.state == BreakerState.HALF_OPEN and breaker.prober == self._me()
        if probed or (breaker.state == BreakerState.CLOSED and breaker.failure_count):
            step.put("breaker", rule.breaker.name, asdict(_Breaker()))

    def _failed_host(self, step: Step, rule: FamilyRule, host: str, *, refused: bool) -> None:
        held = _read_host(step, host)
        held.upstream = rule.upstream
        held.failures += 1
        if refused or held.failures >= self._settings.host_failure_threshold:
            held.cooling_until = self._now() + self._settings.host_cooldown_sec
            # After the pause the host is on trial: its next failure cools it down again.
            held.failures = max(self._settings.host_failure_threshold - 1, 0)
        step.put("host", host, asdict(held))

    def _failed_breaker(self, step: Step, rule: BreakerRule, *, refused: bool) -> None:
        breaker = _read_breaker(step, rule.name)
        if breaker.state == BreakerState.OPEN:
            return
        if breaker.state == BreakerState.HALF_OPEN and breaker.prober != self._me():
            return
        breaker.failure_count += 1
        if refused or breaker.state == BreakerState.HALF_OPEN or breaker.failure_count >= rule.threshold:
            breaker = _Breaker(BreakerState.OPEN, breaker.failure_count, self._now())
        step.put("breaker", rule.name, asdict(breaker))

    def _count(self, step: Step, rule: FamilyRule, **more: int) -> None:
        counter = _Counter(**(step.get("counter", rule.upstream) or {}))
        counter.requests += more.get("requests", 0)
        counter.failures += more.get("failures", 0)
        counter.retries += more.get("retries", 0)
        step.put("counter", rule.upstream, asdict(counter))

    def _count_outcome(self, step: Step, rule: FamilyRule, host: str, outcome: str) -> None:
        known = step.get("calls", host) or {}
        step.put("calls", host, {**known, "upstream": rule.upstream, outcome: known.get(outcome, 0) + 1})

    def _me(self) -> str:
        """Identifies the thread that may end a probe: clients enter and report on the same thread."""
        return f"{os.getpid()}-{threading.get_ident()}-{self._identity}"


class MemoryGate(StateGate):
    """A gate whose state ends with the process."""

    def __init__(
        self,
        settings: TransportSettings | None = None,
        *,
        now: Callable[[], float] = time.time,
        sleeper: Sleeper = real_sleep,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(MemoryStore(), settings or TransportSettings(), now=now, sleeper=sleeper, rng=rng)


class SqliteGate(StateGate):
    """A gate whose state is one file for all processes of the machine."""

    def __init__(
        self,
        path: Path,
        settings: TransportSettings | None = None,
        *,
        now: Callable[[], float] = time.time,
        sleeper: Sleeper = real_sleep,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(
            SqliteStore(path), settings or TransportSettings(), now=now, sleeper=sleeper, rng=rng
        )


class DatabaseGate(StateGate):
    """A gate whose state is a table of the warehouse at `url`, for all machines of the deployment. Its clock
    is the database's."""

    def __init__(
        self,
        url: str,
        settings: TransportSettings | None = None,
        *,
        now: Callable[[], float] | None = None,
        sleeper: Sleeper = real_sleep,
        rng: random.Random | None = None,
    ) -> None:
        store = DatabaseStore(url)
        super().__init__(
            store, settings or TransportSettings(), now=now or store.now, sleeper=sleeper, rng=rng
        )


def deployment_gate(settings: Settings, numbers: TransportSettings | None = None) -> StateGate:
    """The gate that all processes of a deployment share: in the warehouse's database when that is a server,
    else in a file of the data folder. A host that bans one machine bans them all."""
    rules = numbers or transport_settings(settings)
    address = settings.warehouse_address
    if address.startswith("sqlite"):
        return SqliteGate(settings.data_path / STATE_FILE, rules)
    return DatabaseGate(address, rules)


def _outcome(error: PlatformError) -> str:
    for kind, outcome in _OUTCOME_OF.items():
        if isinstance(error, kind):
            return outcome
    return "other"


def _read_breaker(step: Step, name: str) -> _Breaker:
    return _Breaker(**(step.get("breaker", name) or {}))


def _read_host(step: Step, name: str) -> _Host:
    return _Host(**(step.get("host", name) or {}))


def _local(seconds: float) -> str:
    return stamp(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) + timedelta(hours=8))
