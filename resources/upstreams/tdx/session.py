"""From a call to a validated result: gate, server, connection, retry, fail-over, parse, report."""

import threading
import time
from collections.abc import Callable, Collection, Sized
from typing import TypeVar

from core.clock import Clock, Sleeper
from core.errors import PayloadError, PlatformError, Transient, Unavailable
from resources.fetch_record import Fetch, FetchLog, Outcome, traced
from resources.rejections import Rejection, noting
from resources.transport.budget import may_retry
from resources.transport.gate import CountsRetries, Gate
from resources.transport.patience import wait_out
from resources.transport.servers import ServerRecords
from resources.upstreams.tdx.connection import CutShort
from resources.upstreams.tdx.frames import Call, Kind
from resources.upstreams.tdx.pool import Pool
from resources.upstreams.tdx.primitives import SOURCE
from resources.upstreams.tdx.proofs import DeadServer, Proofs, has_rows

#: Waits before the second, third, fourth and fifth try.
RETRY_WAITS = (0.1, 0.5, 1.0, 2.0)
OTHER_OPINIONS = 2
"""How many further servers are asked where one has nothing and proved its kind by another call alone."""

T = TypeVar("T")


class Servers:
    """The order in which servers are asked for a kind of call. One that serves is kept until it fails."""

    def __init__(
        self, hosts: Collection[str], records: ServerRecords, file_hosts: Collection[str] = ()
    ) -> None:
        """`file_hosts`: those that hand out files, and hardly anything else."""
        self.records = records
        self._hosts = {
            kind: [*file_hosts, *others] if kind is Kind.FILES else [*others, *file_hosts]
            for kind in Kind
            for others in ([host for host in hosts if host not in file_hosts],)
        }
        self._lock = threading.Lock()
        self._current: dict[Kind, str] = {}

    def order(self, kind: Kind) -> list[str]:
        """All servers, the best first."""
        ranked = self.records.ranked(kind, self._hosts[kind])
        with self._lock:
            current = self._current.get(kind)
        return ranked if current is None else [current, *(host for host in ranked if host != current)]

    def served(self, host: str, kind: Kind, connect_ms: float) -> None:
        self.records.saw(host, kind, serves=True, connect_ms=connect_ms)
        with self._lock:
            self._current[kind] = host

    def lacks(self, host: str, kind: Kind) -> None:
        self.records.saw(host, kind, serves=False)
        self._leave(host, kind)

    def failed(self, host: str) -> None:
        if self.records.failed(host):
            for kind in Kind:
                self._leave(host, kind)

    def _leave(self, host: str, kind: Kind) -> None:
        with self._lock:
            if self._current.get(kind) == host:
                del self._current[kind]


class Session:
    """Runs calls on a pool and reports every response to one fetch log. Safe to share between threads."""

    def __init__(
        self,
        pool: Pool,
        servers: Servers,
        proofs: Proofs,
        *,
        gate: Gate,
        clock: Clock,
        fetches: FetchLog,
        sleeper: Sleeper,
    ) -> None:
        self.pool = pool
        self.servers = servers
        self.proofs = proofs
        self.gate = gate
        self.clock = clock
        self.fetches = fetches
        self.sleeper = sleeper

    def with_fetches(self, fetches: FetchLog) -> "Session":
        return Session(
            self.pool,
            self.servers,
            self.proofs,
            gate=self.gate,
            clock=self.clock,
            fetches=fetches,
            sleeper=self.sleeper,
        )

    def run(self, call: Call, parse: Callable[[bytes], T]) -> T:
        """The parsed answer. `Transient` when no try succeeded, `PayloadError` when the answer fails
        validation, `Unavailable` when the gate refused every host (nothing was sent)."""
        attempt = failures = 0
        earlier: Transient | None = None
        lacking: list[str] = []
        # Servers of the kind without anything for this call, and what the last of them said.
        without: list[str] = []
        nothing: list[T] = []
        while len(without) <= OTHER_OPINIONS:
            try:
                host = self._enter(call.kind, {*lacking, *without})
            except Unavailable as refusal:
                if nothing:
                    break
                # What the servers did says more than what our guard did afterwards.
                raise (earlier or refusal) from refusal
            attempt += 1
            started = time.monotonic()
            try:
                body, certain = self._exchange(call, host)
            except (Transient, PayloadError) as error:
                self._note_failure(call, host, error, attempt, started)
                if isinstance(error, PayloadError):
                    raise
                if isinstance(error, DeadServer):
                    lacking.append(host)
                else:
                    failures += 1
                    self._before_retry(call, error, failures)
                earlier = error
                continue
            result = self._parsed(call, host, body, parse, attempt, started)
            if certain:
                # A server without this file may have others.
                if has_rows(call, body) and call.kind is not Kind.FILES:
                    for other in without:
                        self.servers.lacks(other, call.kind)
                return result
            without.append(host)
            nothing.append(result)
        return nothing[-1]

    def _before_retry(self, call: Call, error: Transient, failures: int) -> None:
        """Wait before the next try; raises `error` when there is none."""
        if failures > len(RETRY_WAITS) or not may_retry():
            if isinstance(error, CutShort):
                raise PayloadError(f"{call.name}: {error.message}", source=SOURCE) from error
            raise error
        if isinstance(self.gate, CountsRetries):
            self.gate.retried(SOURCE)
        self.sleeper(RETRY_WAITS[failures - 1])

    def _note_failure(
        self, call: Call, host: str, error: Transient | PayloadError, attempt: int, started: float
    ) -> None:
        held_against: PlatformError = error
        if isinstance(error, DeadServer):
            self.servers.lacks(host, call.kind)
            # It answers: for other kinds it is as good as before.
            held_against = PayloadError(error.message, source=SOURCE)
        else:
            self.servers.failed(host)
        self.gate.failed(SOURCE, host, held_against)
        outcome = Outcome.PAYLOAD if isinstance(error, PayloadError) else Outcome.TRANSIENT
        self._report(call, host, outcome, b"", attempt, started, error=error)

    def _parsed(
        self, call: Call, host: str, body: bytes, parse: Callable[[bytes], T], attempt: int, started: float
    ) -> T:
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

    def _enter(self, kind: Kind, passed: Collection[str]) -> str:
        """Pass the gate with the best server of the kind that it lets through and that this call has not
        passed. Where none is, work that has the patience waits for the first."""
        while True:
            refusals: list[Unavailable] = []
            for host in self.servers.order(kind):
                if host in passed:
                    continue
                held = self.servers.records.held_s(host, kind)
                if held > 0:
                    refusals.append(
                        Unavailable(
                            f"{host} does not serve {kind}; asked again in {held:.0f} s",
                            source=SOURCE,
                            seconds_left=held,
                        )
                    )
                    continue
                try:
                    self.gate.enter(SOURCE, host)
                except Unavailable as error:
                    refusals.append(error)
                else:
                    return host
            if not refusals:
                raise Unavailable(f"every terminal server was asked for {kind}", source=SOURCE)
            if passed or not wait_out(refusals):
                raise refusals[-1]

    def _exchange(self, call: Call, host: str) -> tuple[bytes, bool]:
        """The body of the answer, and whether it says what there is: rows, or nothing from a server that has
        rows of the same call for another security."""
        connection = self.pool.borrow(host)
        try:
            body = connection.exchange(call)
            rows = has_rows(call, body)
            certain = rows or self.proofs.certain(call, connection.exchange, host)
        except DeadServer:
            self.pool.give_back(connection)
            raise
        except BaseException:
            self.pool.drop(connection)
            raise
        self.pool.give_back(connection)
        if rows:
            self.proofs.remember(call)
            self.servers.served(host, call.kind, connection.greeted_ms)
        return body, certain

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
