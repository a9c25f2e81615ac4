"""From a call to a validated result: gate, connection, retry, fail-over, parse, report."""

import time
from collections.abc import Callable, Sized
from typing import TypeVar

from core.clock import Clock, Sleeper
from core.errors import PayloadError, PlatformError, Transient, Unavailable
from resources.fetch_record import Fetch, FetchLog, Outcome, traced
from resources.rejections import Rejection, noting
from resources.transport.budget import may_retry
from resources.transport.gate import Gate
from resources.transport.gates import CountsRetries
from resources.transport.patience import wait_out
from resources.upstreams.tdx.connection import CutShort
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.pool import DeadServer, Pool
from resources.upstreams.tdx.primitives import SOURCE

#: Waits before the second, third, fourth and fifth try.
RETRY_WAITS = (0.1, 0.5, 1.0, 2.0)
_EMPTY_BODY = b"\0\0"

T = TypeVar("T")


class Session:
    """Runs calls on a pool and reports every response to one fetch log. Safe to share between threads."""

    def __init__(self, pool: Pool, *, gate: Gate, clock: Clock, fetches: FetchLog, sleeper: Sleeper) -> None:
        self.pool = pool
        self.gate = gate
        self.clock = clock
        self.fetches = fetches
        self.sleeper = sleeper

    def with_fetches(self, fetches: FetchLog) -> "Session":
        return Session(self.pool, gate=self.gate, clock=self.clock, fetches=fetches, sleeper=self.sleeper)

    def run(self, call: Call, parse: Callable[[bytes], T]) -> T:
        """The parsed answer. `Transient` when no try succeeded, `PayloadError` when the answer fails
        validation, `Unavailable` when the gate refused every host (nothing was sent)."""
        attempt = 0
        earlier: Transient | None = None
        while True:
            try:
                host = self._enter()
            except Unavailable as refusal:
                # What the servers did says more than what our guard did afterwards.
                raise (earlier or refusal) from refusal
            attempt += 1
            started = time.monotonic()
            try:
                body = self._exchange(call)
            except Transient as error:
                self._note_failure(call, host, error, attempt, started)
                if attempt > len(RETRY_WAITS) or not may_retry():
                    if isinstance(error, CutShort):
                        raise PayloadError(f"{call.name}: {error.message}", source=SOURCE) from error
                    raise
                if isinstance(self.gate, CountsRetries):
                    self.gate.retried(SOURCE)
                self.sleeper(RETRY_WAITS[attempt - 1])
                earlier = error
                continue
            except PayloadError as error:
                self.pool.failed(host)
                self.gate.failed(SOURCE, host, error)
                self._report(call, host, Outcome.PAYLOAD, b"", attempt, started, error=error)
                raise
            try:
                with noting() as rejected:
                    result = parse(body)
            except PayloadError as error:
                self.gate.failed(SOURCE, host, error)
                self._report(call, host, Outcome.PAYLOAD, body, attempt, started, error=error)
                raise
            self.gate.succeeded(SOURCE, host)
            outcome = Outcome.EMPTY if _is_empty(result) else Outcome.OK
            self._report(call, host, outcome, body, attempt, started, rejected=tuple(rejected))
            return result

    def _enter(self) -> str:
        """Pass the gate with the current host, or with the next one that it lets through. Where none is,
        work that has the patience waits for the first."""
        while True:
            refusals: list[Unavailable] = []
            for _ in range(self.pool.hosts):
                host = self.pool.host
                try:
                    self.gate.enter(SOURCE, host)
                except Unavailable as error:
                    refusals.append(error)
                    self.pool.failed(host, at_once=True)
                else:
                    return host
            if not wait_out(refusals):
                raise refusals[-1]

    def _exchange(self, call: Call) -> bytes:
        connection = self.pool.borrow()
        try:
            body = connection.exchange(call)
            if body == _EMPTY_BODY:
                # 'No data' and 'dead server' look the same; only a server that has data may say the former.
                self.pool.prove(connection)
        except BaseException:
            self.pool.drop(connection)
            raise
        self.pool.give_back(connection)
        return body

    def _note_failure(self, call: Call, host: str, error: Transient, attempt: int, started: float) -> None:
        self.pool.failed(host, at_once=isinstance(error, DeadServer))
        self.gate.failed(SOURCE, host, error)
        self._report(call, host, Outcome.TRANSIENT, b"", attempt, started, error=error)

    def _report(
        self,
        call: Call,
        host: str,
        outcome: Outcome,
        body: bytes,
        attempt: int,
        started: float,
        *,
        rejected: tuple[Rejection, ...] = (),
        error: PlatformError | None = None,
    ) -> None:
        fetch = Fetch(
            upstream=SOURCE,
            call_name=call.name,
            request=call.request,
            outcome=outcome,
            body=body,
            received_at=self.clock.now(),
            codes_or_page=call.page,
            attempt=attempt,
            elapsed_ms=round((time.monotonic() - started) * 1000),
            rejected=rejected,
        )
        traced(fetch, host, error)
        self.fetches.add(fetch)


def _is_empty(result: object) -> bool:
    """Columns without rows, an empty list or text; a number is never empty."""
    if isinstance(result, dict):
        return all(not values for values in result.values())
    return isinstance(result, Sized) and len(result) == 0
