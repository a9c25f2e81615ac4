"""Upstream answers that the API processes of one deployment share (`sys_live_read`).

A row per read, with its newest answer: one process claims the read and asks, the others take what it stored,
for the time that it is still good. A failure is shared as well: for `FAILED_S` nobody asks again. A warehouse
that is away or busy keeps nobody from asking.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import orjson

from core.clock import stamp
from core.errors import PayloadError, Unavailable, UpstreamError
from resources.warehouse.engine import transaction
from serving_api.db.sessions import Session
from serving_api.db.single_flight import CacheAnswer, SingleFlightCache, Ttl
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live import queries
from serving_api.live.claims import Claims, writes_of
from serving_api.live.clients import Answered

WAIT_S = 4.0
"""How long a process waits for the answer of another before it asks by itself."""
CLAIM_S = 10.0
"""When a process that died while it asked is waited for no more."""
FAILED_S = 10.0
"""How long nobody asks again after an upstream failed: the time to live of the market's scans."""
UPSTREAM_FAILURES = (UpstreamError, PayloadError)
"""What another process would meet as well; `Unavailable` is a guard of our own, and nothing was sent."""


@dataclass(frozen=True)
class Reported:
    """An answer, and for how many seconds it is still good."""

    answer: Answered
    left: float


@dataclass(frozen=True)
class _Failed:
    """Somebody asked in vain a moment ago."""

    left: float


class SharedReads:
    """The shared reads of one app; used on its event loop."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._claims = Claims(state.writer, state.system.wall)
        self._writes = state.part(writes_of)

    async def take(
        self,
        single_flight: SingleFlightCache,
        name: str,
        ttl: Ttl,
        ask: Callable[[], Awaitable[Answered]],
        *,
        day: str = "",
        use_cache: bool = True,
    ) -> CacheAnswer:
        """`flights.take` over all processes. The value of the answer is plain JSON. `day` (default: today):
        an answer of another one is not told."""
        left: float | None = None
        day = day or self._state.clock.now().date().isoformat()

        async def make() -> Answered:
            nonlocal left
            reported = await self.find_or_claim(name, day) if use_cache else None
            if reported is not None:
                left = reported.left
                return reported.answer
            try:
                answer = await ask()
            except BaseException as error:
                self.give_up(name, error)
                raise
            self.put(name, day, answer, _seconds(ttl))
            return answer

        return await single_flight.take(
            (name, day), lambda: _seconds(ttl) if left is None else left, make, use_cache=use_cache
        )

    async def find_or_claim(self, name: str, day: str) -> Reported | None:
        """Another process's answer that is still good, waited for when that one is just asking; None when
        it is the caller who asks, and then tells by `put`, `give_up` or `release`. Raises Unavailable within
        `FAILED_S` of a failure."""
        reported: Reported | _Failed | None
        reported, claimed = await self._writes.find_or_claim(
            lambda: self._stored(name, day), WAIT_S, self._claims.claim, queries.read_row(name), CLAIM_S
        )
        if claimed and reported is not None:
            self.release(name)
        if isinstance(reported, _Failed):
            raise Unavailable(f"{name}: asked in vain a moment ago", seconds_left=reported.left)
        return reported

    async def failed(self, name: str) -> bool:
        """Whether somebody was asked in vain within `FAILED_S`."""
        return isinstance(await self._stored(name, ""), _Failed)

    def put(self, name: str, day: str, answer: Answered, seconds: float) -> None:
        """Store an answer that is good for so long; nobody waits for the write."""
        self._writes.begin(self._put, name, day, answer, self._state.system.wall() + seconds)

    def release(self, name: str) -> None:
        """Give the claim back without an answer."""
        self._writes.begin(self._claims.release, queries.read_row(name))

    def give_up(self, name: str, error: BaseException) -> None:
        """Give the claim back after an error; one of an upstream is shared."""
        if isinstance(error, UPSTREAM_FAILURES):
            self._writes.begin(self.tell_failure, name, self._state.system.wall() + FAILED_S)
        else:
            self.release(name)

    def tell_failure(self, name: str, until: float) -> None:
        """Store that nobody asks until that second, and end the claim; one short transaction."""
        row, warehouse = queries.read_row(name), self._state.writer
        self._claims.ensure(row)
        with transaction(warehouse.engine) as connection:
            queries.put_failure(connection, warehouse.sql, row, self._claims.owner, until)

    def _put(self, name: str, day: str, answer: Answered, good_until: float) -> None:
        row, warehouse = queries.read_row(name), self._state.writer
        self._claims.ensure(row)
        payload = orjson.dumps(answer.value).decode()
        with transaction(warehouse.engine) as connection:
            queries.put_read(
                connection,
                warehouse.sql,
                row,
                day=day,
                payload=payload,
                source=answer.source,
                at=None if answer.at is None else answer.at.strftime("%Y-%m-%d %H:%M:%S"),
                good_until=good_until,
                updated_at=stamp(self._state.clock.now()),
            )

    async def _stored(self, name: str, day: str) -> Reported | _Failed | None:
        wall = self._state.system.wall()
        good, failed = await read_or((0.0, 0.0), self._state.reading.point(queries.due, name, day))
        if good > wall:
            answer = await read_or(None, self._state.reading.scan(_answer, name, day))
            return None if answer is None else Reported(answer, good - wall)
        return _Failed(failed - wall) if failed > wall else None


def _answer(session: Session, name: str, day: str) -> Answered | None:
    """Off the event loop: an answer may be the quotes of the whole market."""
    for payload, source, at in queries.read_answer(session, name, day):
        if payload is not None:
            return Answered(orjson.loads(payload), source, at and datetime.fromisoformat(str(at)))
    return None


def _seconds(ttl: Ttl) -> float:
    return ttl() if callable(ttl) else ttl


def shared_of(state: State) -> SharedReads:
    """The app's shared reads (`state.part(shared_of)`)."""
    return SharedReads(state)
