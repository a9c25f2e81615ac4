"""Upstream answers that the API processes of one deployment share (`sys_live_read`).

A row per read, with its newest answer: one process claims the read and asks, the others use the stored
answer until it expires. A failure is shared as well: for `FAILED_S` no process asks again. An
unavailable or busy warehouse never prevents a request.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from core.clock import stamp
from core.errors import PayloadError, Unavailable, UpstreamError
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live import queries
from serving_api.live.claims import Claims, writes_of
from serving_api.live.clients import Answered
from serving_api.live.single_flight import CacheAnswer, SingleFlightCache, Ttl, seconds_of

WAIT_S = 4.0
"""Seconds that a process waits for the answer of another before it asks by itself."""
CLAIM_S = 10.0
"""Seconds after which a claim expires, when its process died while asking."""
FAILED_S = 10.0
"""Seconds without new requests after an upstream failed: the time to live of the market's scans."""
UPSTREAM_FAILURES = (UpstreamError, PayloadError)
"""Errors that another process would get as well; `Unavailable` comes from a guard of our own, and nothing
was sent."""


@dataclass(frozen=True)
class Reported:
    """An answer, and the seconds until it expires."""

    answer: Answered
    left: float


@dataclass(frozen=True)
class _Failed:
    """A request failed a moment ago."""

    left: float


class SharedReads:
    """The shared reads of one app; used on its event loop."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._claims = Claims(state.writer, state.system.wall)
        self._writes = state.part(writes_of)

    async def take(
        self,
        single_flight: SingleFlightCache[Any],
        name: str,
        ttl: Ttl,
        ask: Callable[[], Awaitable[Answered]],
        *,
        day: str = "",
        use_cache: bool = True,
    ) -> CacheAnswer[Answered]:
        """`SingleFlightCache.take` over all processes. The value of the answer is plain JSON. `day` (default:
        today): answers of other days are not returned."""
        left: float | None = None
        day = day or self._state.today

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
            self.put(name, day, answer, seconds_of(ttl))
            return answer

        return await single_flight.take(
            (name, day), lambda: seconds_of(ttl) if left is None else left, make, use_cache=use_cache
        )

    async def find_or_claim(self, name: str, day: str) -> Reported | None:
        """Another process's answer that has not expired, waited for while that process is asking; None
        when the caller has to ask, and then reports by `put`, `give_up` or `release`. Raises
        Unavailable within `FAILED_S` of a failure."""
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
        """Whether a request failed within `FAILED_S`."""
        return isinstance(await self._stored(name, ""), _Failed)

    def put(self, name: str, day: str, answer: Answered, seconds: float) -> None:
        """Store an answer with its lifetime, in the background."""
        self._writes.begin(self._put, name, day, answer, self._state.system.wall() + seconds)

    def release(self, name: str) -> None:
        """Release the claim without an answer."""
        self._writes.begin(self._claims.release, queries.read_row(name))

    def give_up(self, name: str, error: BaseException) -> None:
        """Release the claim after an error; an upstream's error is shared."""
        if isinstance(error, UPSTREAM_FAILURES):
            self._writes.begin(self.put_failure, name, self._state.system.wall() + FAILED_S)
        else:
            self.release(name)

    def put_failure(self, name: str, until: float) -> None:
        """Store that no process asks until that second, and release the claim; one short transaction."""
        self._claims.write(queries.put_failure, queries.read_row(name), self._claims.owner, until)

    def _put(self, name: str, day: str, answer: Answered, good_until: float) -> None:
        values = {
            "trade_date": day,
            "payload_json": orjson.dumps(answer.value).decode(),
            "source": answer.source,
            "captured_at": None if answer.at is None else answer.at.strftime("%Y-%m-%d %H:%M:%S"),
            "good_until": good_until,
            "updated_at": stamp(self._state.clock.now()),
        }
        self._claims.write(queries.put_read, queries.read_row(name), values)

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
            captured = at and datetime.fromisoformat(str(at))
            return Answered(orjson.loads(payload), source, captured, trade_date=day or None)
    return None
