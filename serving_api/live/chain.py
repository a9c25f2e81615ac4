"""The one chain of steps of the unified market reads.

cache -> other process's answer -> (closed) the day's stored answer -> fused tables of the session ->
live sources within a time budget -> portal -> estimate -> persist and cache -> stored history
-> empty structure

A request waits at most `LIVE_WAIT_S` and costs at most `RETRY_BUDGET_MAX` external calls (a list in
pages counts as one). A slow source is not waited for: the next one is asked in parallel, and the late
answer still fills the cache. One refresh runs per data type and process; meanwhile other requests get
an answer that is stale by at most one time to live.
"""

import asyncio
import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.calendar import CalendarHorizon
from core.errors import Unavailable
from resources.redact import redact
from resources.transport.budget import call_budget
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.claims import Claims, writes_of
from serving_api.live.clients import (
    EASTMONEY,
    HISTORY,
    ORIGIN,
    RETRY_WITHIN_S,
    SOURCE_ERRORS,
    TENCENT,
    source_order,
)
from serving_api.live.data_types import Body, DataType, Found, ReadContext, SourceRead
from serving_api.live.queries import snapshot_row
from serving_api.live.scan import pages_of
from serving_api.live.session_state import Moment, cache_seconds, moment_of
from serving_api.live.shared_reads import SharedReads
from serving_api.live.single_flight import SingleFlight, SingleFlightCache
from serving_api.live.snapshots import Snapshot, as_found, newest, of_session, put
from serving_api.live.stored_facts import Facts
from serving_api.live.types import data_types

SAMPLE = f"{TENCENT} sample"
"""Source name of an estimate."""


def failure_of(kind: DataType, upstream: str) -> str:
    """The shared read that stores a failure."""
    return f"{kind.name} of {upstream}"


def in_vain(task: "asyncio.Task[Body]", found: Found | None) -> bool:
    """Whether an upstream failed or was empty. When a guard of our own refused the call nothing was sent."""
    return found is None and not task.cancelled() and not isinstance(task.exception(), Unavailable)


log = logging.getLogger(__name__)

LIVE_WAIT_S = 4.0
"""Seconds that a request waits for sources and portal together."""
PATIENCE_S = 1.5
"""Seconds before the next source is asked in parallel to a slow one."""
ESTIMATE_WAIT_S = 1.5
"""Additional seconds for an estimate."""
EMPTY_TTL_S = 20.0
"""Longest time without new requests after no source had an answer."""


def of_one_session(reads: Mapping[str, Found]) -> dict[str, Found]:
    """Answers by data type, those of an earlier session than the newest one replaced by the empty structure:
    figures of two sessions beside each other are of none."""
    dates = [found.trade_date for found in reads.values() if found.trade_date is not None]
    newest = max(dates, default=None)
    return {
        name: found
        if found.trade_date in (None, newest)
        else Found(data_types()[name].empty(), found.session)
        for name, found in reads.items()
    }


class UnifiedReads:
    """The data types of one app; used on its event loop."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._live = state.part(live_of)
        self._shared = state.part(SharedReads)
        self._claims = Claims(state.writer, state.system.wall)
        self._cache: SingleFlightCache[tuple[Found, float]] = SingleFlightCache(state.system.monotonic)
        """(the answer of a data type, its whole time to live), by name."""
        self._refreshing: SingleFlight[Found] = SingleFlight()
        self._asked: dict[tuple[str, str, str], asyncio.Task[Body]] = {}
        self._writes = state.part(writes_of)

    async def read(self, name: str) -> Found:
        """The newest answer of a data type; its empty structure when there is none."""
        kind = data_types()[name]
        try:
            moment = moment_of(self._state.clock.now(), self._state.calendar)
        except CalendarHorizon:
            return await self._beyond_calendar(kind)
        cached = self._cache.kept(name)
        if cached is not None and cached.value[0].session == moment.session:
            found, ttl = cached.value
            if self._cache.is_fresh(cached):
                return found
            if self._refreshing.running(name) is not None and self._cache.is_fresh(cached, late=ttl):
                return replace(found, stale=True)
        return await self._refreshing.run(name, lambda: self._refresh(kind, moment))

    async def settled(self) -> None:
        """Wait for late sources and for running writes (tests, shutdown)."""
        while pending := [task for task in self._asked.values() if not task.done()] + self._writes.pending:
            await asyncio.wait(pending)
            await asyncio.sleep(0)

    def close(self) -> None:
        self._refreshing.close()
        for task in self._asked.values():
            task.cancel()
        self._asked = {}
        self._cache.clear()

    # -- the chain ------------------------------------------------------------------------------------

    async def _refresh(self, kind: DataType, moment: Moment) -> Found:
        seconds = LIVE_WAIT_S + ESTIMATE_WAIT_S + 1.0
        row = snapshot_row(kind.name, moment.session)
        found, claimed = await self._writes.find_or_claim(
            lambda: self._stored_now(kind, moment), LIVE_WAIT_S, self._claims.claim, row, seconds
        )
        failed: list[str] = []
        if found is None:
            found = await self._live_answer(kind, moment, failed)
            if found is not None and not found.estimate:
                self._persist(kind, found, moment)
                claimed = False
        if claimed:
            self._writes.begin(self._release, kind, moment, failed, self._pause_of(kind))
        if found is None:
            found = await self._history(kind, moment)
        if found is None:
            found = Found(kind.empty(), moment.session)
        self._keep(kind, found, moment)
        return found

    async def _stored_now(self, kind: DataType, moment: Moment) -> Found | None:
        """The stored answer of this session, without any upstream: while prices move one that is younger
        than its time to live, else the day's final one. On a day without trading (and for data types
        that say so) also the fused tables of the session."""
        snapshot = await self._snapshot(kind, moment)
        if snapshot is not None:
            left = (snapshot.good_until or 0.0) - self._state.system.wall()
            if snapshot.is_final:
                return as_found(snapshot, moment)
            if moment.moving and left > 0:
                return replace(as_found(snapshot, moment), good_for=left)
        if kind.stored_first or not moment.is_trade_date:
            return await self._fused(kind, moment.session, moment)
        return None

    async def _history(self, kind: DataType, moment: Moment) -> Found | None:
        """Fused tables of the session, else the newest stored answer, else fused tables of the session
        before. No source answered, so a stored answer counts as history, even one of today."""
        found = await self._fused(kind, moment.session, moment) or await self._newest(kind, moment.session)
        return found or await self._fused(kind, self._state.calendar.offset(moment.session, -1), moment)

    async def _beyond_calendar(self, kind: DataType) -> Found:
        """The answer when it is unknown whether the market is open: the stored one, else the empty
        structure."""
        today = self._state.today
        return await self._newest(kind, today) or Found(kind.empty(), today)

    # -- stored ---------------------------------------------------------------------------------------

    async def _snapshot(self, kind: DataType, moment: Moment) -> Snapshot | None:
        found = await read_or(None, self._state.reading.point(of_session, kind.name, moment.session))
        return found if found is not None and kind.is_valid(found.body) else None

    async def _newest(self, kind: DataType, session: str) -> Found | None:
        """The newest stored answer up to a session, as history."""
        snapshot = await read_or(None, self._state.reading.point(newest, kind.name, session))
        if snapshot is None:
            return None
        return Found(snapshot.body, session, snapshot.at, HISTORY, stored_of=snapshot.session)

    async def _fused(self, kind: DataType, day: str, moment: Moment) -> Found | None:
        for origin, read in kind.stored:
            body = await read_or(None, self._state.reading.scan(read, day))
            if body is not None and kind.is_valid(body):
                close = datetime.fromisoformat(f"{day}T15:00:00")
                return Found(body, moment.session, close, origin, stored_of=day)
        return None

    # -- live -----------------------------------------------------------------------------------------

    async def _live_answer(self, kind: DataType, moment: Moment, failed: list[str]) -> Found | None:
        """`failed` collects the upstreams that failed."""
        facts = await read_or(Facts(moment.session), self._live.facts.of(moment.session))
        context = ReadContext(self._live.clients, self._live.scans, facts, self._state.calendar, moment.now)
        order = source_order(self._state.clock, self._state.calendar)
        ways: list[tuple[str, SourceRead]] = [
            (upstream, kind.sources[upstream]) for upstream in order if upstream in kind.sources
        ]
        if kind.degrade is not None:
            ways.append((EASTMONEY, kind.degrade))
        limit = self._state.settings.retry_budget_max + pages_of(facts) - 1
        with call_budget(limit, retry_within_s=RETRY_WITHIN_S):
            found = await self._first(kind, moment, context, ways, failed)
            if found is None and kind.estimate is not None:
                found = await self._estimated(kind, moment, context, kind.estimate, failed)
        return found

    async def _first(
        self,
        kind: DataType,
        moment: Moment,
        context: ReadContext,
        ways: list[tuple[str, SourceRead]],
        failed: list[str],
    ) -> Found | None:
        """The first valid answer. The next source is asked when one fails, or in parallel to a slow one;
        one that has just failed in another process is skipped."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LIVE_WAIT_S
        waiting: dict[asyncio.Task[Body], str] = {}
        left = [way for way in ways if not await self._shared.failed(failure_of(kind, way[0]))]
        while left or waiting:
            if left:
                upstream, read = left.pop(0)
                waiting[self._ask(kind, moment, context, upstream, read)] = upstream
            span = min(PATIENCE_S if left else LIVE_WAIT_S, end - loop.time())
            if span <= 0:
                break
            done, _ = await asyncio.wait(waiting, timeout=span, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                upstream = waiting.pop(task)
                found = self._landed(kind, moment, upstream, task)
                if in_vain(task, found):
                    failed.append(upstream)
                if found is not None:
                    self._leave_behind(kind, moment, waiting)
                    return found
        self._leave_behind(kind, moment, waiting)
        return None

    def _ask(
        self, kind: DataType, moment: Moment, context: ReadContext, upstream: str, read: SourceRead
    ) -> "asyncio.Task[Body]":
        """The task that asks; a late source that is still running is not asked twice."""
        key = (kind.name, upstream, moment.session)
        task = self._asked.get(key)
        if task is None or task.done():
            task = asyncio.ensure_future(self._live.clients.in_thread(functools.partial(read, context)))
            self._asked[key] = task
            task.add_done_callback(functools.partial(self._forget, key))
        return task

    async def _estimated(
        self, kind: DataType, moment: Moment, context: ReadContext, read: SourceRead, failed: list[str]
    ) -> Found | None:
        if await self._shared.failed(failure_of(kind, SAMPLE)):
            return None
        task = self._ask(kind, moment, context, SAMPLE, read)
        done, _ = await asyncio.wait({task}, timeout=ESTIMATE_WAIT_S)
        found = self._landed(kind, moment, TENCENT, task) if done else None
        if done and in_vain(task, found):
            failed.append(SAMPLE)
        return None if found is None else replace(found, estimate=True)

    def _landed(
        self, kind: DataType, moment: Moment, upstream: str, task: "asyncio.Task[Body]"
    ) -> Found | None:
        """The answer of a finished task; None (logged) when it failed or was empty."""
        if task.cancelled():
            return None
        error = task.exception()
        if error is not None:
            if not isinstance(error, SOURCE_ERRORS):
                raise error
            log.warning("%s of %s: %s: %s", kind.name, upstream, type(error).__name__, redact(str(error)))
            return None
        body = task.result()
        if not kind.is_valid(body):
            return None
        return Found(body, moment.session, moment.now, ORIGIN[upstream])

    def _leave_behind(self, kind: DataType, moment: Moment, waiting: "dict[asyncio.Task[Body], str]") -> None:
        """Slow sources continue; their answers fill the cache when they are the newest."""
        for task, upstream in waiting.items():
            task.add_done_callback(functools.partial(self._came_late, kind, moment, upstream))

    def _came_late(self, kind: DataType, moment: Moment, upstream: str, task: "asyncio.Task[Body]") -> None:
        try:
            found = self._landed(kind, moment, upstream, task)
        except Exception:
            log.exception("%s of %s", kind.name, upstream)
            return
        if in_vain(task, found):
            self._writes.begin(self._shared.put_failure, failure_of(kind, upstream), self._pause_of(kind))
        cached = self._cache.kept(kind.name)
        if found is None or found.at is None:
            return
        known = None if cached is None else cached.value[0]
        poor = known is None or known.estimate or known.at is None or known.at < found.at
        if poor and (known is None or known.session == found.session):
            self._keep(kind, found, moment)
            self._persist(kind, found, moment)

    # -- storing --------------------------------------------------------------------------------------

    def _keep(self, kind: DataType, found: Found, moment: Moment) -> None:
        ttl = cache_seconds(kind.ttl_s, moment, self._state.calendar)
        if found.origin is None or found.estimate:
            ttl = min(ttl, max(EMPTY_TTL_S, kind.ttl_s))
        left = ttl if found.good_for is None else min(ttl, found.good_for)
        self._cache.keep(kind.name, (found, ttl), left)

    def _persist(self, kind: DataType, found: Found, moment: Moment) -> None:
        """In the background: no request waits for the warehouse's writer."""
        snapshot = Snapshot(
            moment.session,
            found.body,
            found.origin,
            moment.is_final,
            found.at or moment.now,
            self._state.system.wall() + kind.ttl_s,
        )
        self._writes.begin(put, self._claims, kind.name, snapshot)

    def _release(self, kind: DataType, moment: Moment, failed: Sequence[str], until: float) -> None:
        """Release the claim without an answer, after storing which sources failed: the next holder of the
        claim looks for that."""
        for upstream in failed:
            self._shared.put_failure(failure_of(kind, upstream), until)
        self._claims.release(snapshot_row(kind.name, moment.session))

    def _pause_of(self, kind: DataType) -> float:
        return self._state.system.wall() + kind.ttl_s

    def _forget(self, key: tuple[str, str, str], task: "asyncio.Task[Body]") -> None:
        if self._asked.get(key) is task:
            del self._asked[key]
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not report an error that no caller waited for
