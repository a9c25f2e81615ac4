"""Domain locks: leases in the database with owner, token, heartbeat and expiry (architecture §8).

All requested domains are taken in one transaction or none. Times are seconds of the database's clock.
Every write transaction re-checks its lock as its last statement (`refresh`), so an owner that lost
its lease fails instead of writing.
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.engine import Connection, Engine

from core.errors import ConflictError, LockLost, StorageError
from resources.warehouse.engine import is_sqlite, reading, transaction
from resources.warehouse.records import record
from resources.warehouse.sql import Sql, marks

DOMAINS = ("kline", "daily", "wide")
TTL_S = 4.0
BEAT_S = 1.0
TURN_S = 600.0
"""How long a step waits for the others of its run."""
TURN_LOOK_S = 0.1


@dataclass(frozen=True)
class Lease:
    """What the owner holds; goes into every write of the domain."""

    domains: tuple[str, ...]
    owner: str
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class LockState:
    domain: str
    held: bool
    owner: str | None
    run_id: str | None
    since: float | None
    expires_at: float | None


class DomainLocks:
    """Takes, refreshes and releases leases on one warehouse."""

    def __init__(self, engine: Engine, *, ttl_s: float = TTL_S) -> None:
        self._engine = engine
        self._sql = Sql(engine)
        self._ttl = ttl_s

    def seed(self, connection: Connection) -> None:
        """The lock rows must exist beforehand; called by the migration."""
        for domain in DOMAINS:
            found = self._sql.run(
                connection, "SELECT 1 FROM sys_domain_lock WHERE domain=?", (domain,)
            ).first()
            if found is None:
                row = {"domain": domain, "token": 0, "expires_at": 0.0}
                self._sql.put(connection, "sys_domain_lock", row)

    def take(
        self,
        domains: Iterable[str],
        owner: str,
        *,
        run_id: str | None = None,
        command_id: int | None = None,
    ) -> Lease:
        """All of `domains` or ConflictError naming the first holder; nothing is half-taken."""
        requested = tuple(sorted(set(domains)))
        try:
            return self._take(requested, owner, run_id=run_id, command_id=command_id)
        except ConflictError:
            # Its transaction is rolled back; the count is a figure for operators, not worth a second error.
            with contextlib.suppress(StorageError):
                self._count_refusal(requested)
            raise

    def _count_refusal(self, domains: tuple[str, ...]) -> None:
        with transaction(self._engine) as connection:
            self._sql.run(
                connection,
                "UPDATE sys_domain_lock SET refusals=COALESCE(refusals, 0)+1 "
                f"WHERE domain IN ({marks(domains)}) AND expires_at >= {self._sql.now}",
                domains,
            )

    def refusals(self) -> dict[str, int]:
        """How often each domain was asked for while somebody held it."""
        return {
            name: int(n or 0) for name, n in self._sql.rows("SELECT domain, refusals FROM sys_domain_lock")
        }

    def _take(
        self, requested: tuple[str, ...], owner: str, *, run_id: str | None, command_id: int | None
    ) -> Lease:
        with transaction(self._engine) as connection:
            if not is_sqlite(self._engine):
                self._sql.run(
                    connection,
                    f"SELECT domain FROM sys_domain_lock WHERE domain IN ({marks(requested)}) "
                    "ORDER BY domain FOR UPDATE",
                    requested,
                )
            now = self._sql.now
            taken = self._sql.run(
                connection,
                f"UPDATE sys_domain_lock SET owner=?, run_id=?, command_id=?, token=token+1, "
                f"acquired_at={now}, heartbeat_at={now}, expires_at={now}+? "
                f"WHERE domain IN ({marks(requested)}) AND expires_at < {now}",
                (owner, run_id, command_id, self._ttl, *requested),
            ).rowcount
            if taken != len(requested):
                held = [one for one in self._read(connection) if one.held and one.domain in requested]
                holder = next((one for one in held if one.owner != owner), held[0] if held else None)
                problem = f"{holder.domain} is held by {holder.owner}" if holder else "a domain is held"
                raise ConflictError(f"domain lock: {problem}")
            found = self._sql.run(
                connection,
                f"SELECT token FROM sys_domain_lock WHERE domain IN ({marks(requested)}) ORDER BY domain",
                requested,
            ).scalars()
            tokens = tuple(int(token) for token in found)
        return Lease(requested, owner, tokens)

    def refresh(self, connection: Connection, lease: Lease) -> None:
        """Last statement of a write transaction: prove and prolong the lease, or raise LockLost."""
        now = self._sql.now
        for domain, token in zip(lease.domains, lease.tokens, strict=True):
            kept = self._sql.run(
                connection,
                f"UPDATE sys_domain_lock SET heartbeat_at={now}, expires_at={now}+? "
                "WHERE domain=? AND owner=? AND token=?",
                (self._ttl, domain, lease.owner, token),
            ).rowcount
            if kept != 1:
                raise LockLost(f"domain lock {domain}: the lease of {lease.owner} was taken over")

    def beat(self, lease: Lease) -> None:
        with transaction(self._engine) as connection:
            self.refresh(connection, lease)

    def release(self, lease: Lease) -> None:
        """Give the lease back; a lease that was taken over is left alone."""
        with transaction(self._engine) as connection:
            for domain, token in zip(lease.domains, lease.tokens, strict=True):
                self._sql.run(
                    connection,
                    "UPDATE sys_domain_lock SET owner=NULL, run_id=NULL, command_id=NULL, expires_at=0 "
                    "WHERE domain=? AND owner=? AND token=?",
                    (domain, lease.owner, token),
                )

    def states(self) -> list[LockState]:
        with reading(self._engine) as connection:
            return self._read(connection)

    def _read(self, connection: Connection) -> list[LockState]:
        rows = connection.exec_driver_sql(
            f"SELECT domain, expires_at > {self._sql.now} AND owner IS NOT NULL, owner, run_id, acquired_at, "
            "expires_at FROM sys_domain_lock ORDER BY domain"
        )
        return [record(LockState, row) for row in rows.all()]

    def take_in_turn(
        self, domains: Iterable[str], owner: str, run_id: str | None, others_s: float = 0.0
    ) -> Lease:
        """`take`, but while another step holds a domain this one waits: `TURN_S` for steps of the same run
        (several workers may carry it out, and one of them may have died with its lease), `others_s` for
        other runs. Then ConflictError."""
        requested = tuple(domains)
        began = time.monotonic()
        while True:
            try:
                return self.take(requested, owner, run_id=run_id)
            except ConflictError:
                holders = {one.run_id for one in self.states() if one.held and one.domain in requested}
                limit = TURN_S if run_id is not None and not holders - {run_id} else others_s
                if time.monotonic() - began > limit:
                    raise
            time.sleep(TURN_LOOK_S)

    @contextmanager
    def held(
        self, domains: Iterable[str], owner: str, *, run_id: str | None = None, others_s: float = 0.0
    ) -> Iterator[Lease]:
        """A lease with a heartbeat thread; released on the way out. `others_s`: see `take_in_turn`."""
        lease = self.take_in_turn(domains, owner, run_id, others_s)
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(BEAT_S):
                try:
                    self.beat(lease)
                except LockLost:
                    return  # the next write of the owner fails and says so
                except StorageError:
                    continue  # a busy database: the running write refreshes the lease itself

        thread = threading.Thread(target=beat, name=f"lock-{owner}", daemon=True)
        thread.start()
        try:
            yield lease
        finally:
            stop.set()
            thread.join()
            self.release(lease)
