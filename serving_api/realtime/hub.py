"""One poller of quotes per process, and its event streams.

It polls only while streams are open, for all their symbols together. A stream holds at most one pending
event per symbol: a slow reader gets the newest state, and memory does not grow.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from core.calendar import CalendarHorizon
from core.clock import local_iso
from core.errors import PayloadError, StorageError, Unavailable, UpstreamError
from resources.redact import redact
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import Answered
from serving_api.live.quotes import stream_quote
from serving_api.live.session_state import moment_of, session_state

log = logging.getLogger(__name__)

POLL_S, IDLE_POLL_S = 3.0, 60.0
"""Seconds between two polls while prices move, and while they do not."""
CODES_PER_POLL = 600
LOG_EVENTS = 64
"""Events per symbol that a client may resume from."""
_FAILURES = (StorageError, UpstreamError, PayloadError, Unavailable)


@dataclass(frozen=True)
class Event:
    """One change: `id` grows with time and is unique in this process (milliseconds since 1970)."""

    id: int
    data: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """The data as JSON, encoded once for all streams."""
        return orjson.dumps(dict(self.data)).decode()


class Subscription:
    """The pending events of one stream: the newest per key. Used on the event loop."""

    def __init__(self, codes: Iterable[str] = ()) -> None:
        self.codes = frozenset(codes)
        self._pending: dict[str, Event] = {}
        self._ready = asyncio.Event()
        self._closed = False

    def put(self, key: str, event: Event) -> None:
        """Replaces a pending event with the same key."""
        self._pending.pop(key, None)
        self._pending[key] = event
        self._ready.set()

    def close(self) -> None:
        self._closed = True
        self._ready.set()

    async def take(self, timeout: float) -> list[Event] | None:
        """Pending events, the oldest first; [] when none came in time, None at the end."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ready.wait(), timeout)
        if self._closed:
            return None
        found = sorted(self._pending.values(), key=lambda event: event.id)
        self._pending.clear()
        self._ready.clear()
        return found


class QuoteHub:
    """The poller of one app."""

    def __init__(self, state: State, *, sleep: Callable[[float], Any] = asyncio.sleep) -> None:
        self._state = state
        self._live = state.part(live_of)
        self._sleep = sleep
        self._quote_streams: set[Subscription] = set()
        self._market_streams: set[Subscription] = set()
        self._logs: dict[str, deque[Event]] = {}
        self._indices: list[dict[str, Any]] = []
        self._last_id = 0
        self._poller: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._closed = False
        self.polls = 0

    # -- streams --------------------------------------------------------------------------------------

    def listen(self, codes: Iterable[str], last_event_id: int | None = None) -> Subscription:
        """A stream of quotes: the events since `last_event_id` when the log reaches back so far, else the
        newest known state of each symbol."""
        stream = Subscription(codes)
        for code in stream.codes:
            events = self._logs.get(code)
            if events:
                self._resume(stream, code, events, last_event_id)
        self._quote_streams.add(stream)
        self._begin()
        return stream

    def listen_market(self) -> Subscription:
        """A stream of `quotes_updated`."""
        stream = Subscription()
        self._market_streams.add(stream)
        self._begin()
        return stream

    def leave(self, stream: Subscription) -> None:
        self._quote_streams.discard(stream)
        self._market_streams.discard(stream)
        requested = self.requested
        self._logs = {code: events for code, events in self._logs.items() if code in requested}

    def close(self) -> None:
        """End every stream and the poller; a later stream ends at once."""
        self._closed = True
        for stream in (*self._quote_streams, *self._market_streams):
            stream.close()
        if self._poller is not None:
            self._poller.cancel()

    @property
    def requested(self) -> frozenset[str]:
        """Codes of all open streams."""
        return frozenset().union(*(stream.codes for stream in self._quote_streams))

    @staticmethod
    def _resume(stream: Subscription, code: str, events: deque[Event], last: int | None) -> None:
        newer = [event for event in events if last is None or event.id > last]
        if last is None or events[0].id > last:
            newer = newer[-1:]  # the log no longer reaches back to it: one full state
        for event in newer:
            stream.put(f"{code}:{event.id}", event)

    # -- polling --------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._closed:
            self.close()
            return
        self._wake.set()
        if self._poller is None or self._poller.done():
            self._poller = asyncio.ensure_future(self._poll_while_open())

    async def _poll_while_open(self) -> None:
        while self._quote_streams or self._market_streams:
            self._wake.clear()
            try:
                await self.poll()
            except _FAILURES as error:
                log.warning("quotes of a stream: %s: %s", type(error).__name__, redact(str(error)))
            except Exception:
                # Streams stay open for hours: an error of one poll is logged, and polling goes on.
                log.exception("quotes of a stream")
            await self._pause()

    async def _pause(self) -> None:
        """Waits until the next poll; a new stream does not wait for it while prices do not move."""
        if self._moving:
            await self._sleep(POLL_S)
            return
        pause = asyncio.ensure_future(self._sleep(IDLE_POLL_S))
        wake = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait({pause, wake}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            wake.cancel()

    @property
    def _moving(self) -> bool:
        try:
            return moment_of(self._state.clock.now(), self._state.calendar).moving
        except CalendarHorizon:
            return False

    async def poll(self) -> None:
        """Poll every requested symbol once, and publish the changes."""
        self.polls += 1
        changed: list[str] = []
        requested = sorted(self.requested)
        for at in range(0, len(requested), CODES_PER_POLL):
            changed += self._take(await self._live.quote_rows(requested[at : at + CODES_PER_POLL]))
        await self._publish_market(changed)

    def _take(self, answer: Answered) -> list[str]:
        """Codes whose quote differs from the previous one."""
        at = None if answer.at is None else answer.at.strftime("%Y-%m-%d %H:%M:%S")
        changed = []
        for code, (row, listed) in answer.value.items():
            data = stream_quote(row, listed, at)
            events = self._logs.setdefault(code, deque(maxlen=LOG_EVENTS))
            if events and _figures(events[-1].data) == _figures(data):
                continue
            event = Event(self._next_id(), data)
            events.append(event)
            changed.append(code)
            for stream in self._quote_streams:
                if code in stream.codes:
                    stream.put(code, event)
        return changed

    async def _publish_market(self, changed: list[str]) -> None:
        if not self._market_streams:
            return
        answer = await self._live.index_quotes(None)
        indices = [
            {"code": row["code"], "price": row["price"], "change_percent": row["change_pct"]}
            for row in answer.value
        ]
        if not changed and indices == self._indices:
            return
        self._indices = indices
        now = self._state.clock.now()
        event = Event(
            self._next_id(),
            {
                "ts": local_iso(now),
                "count": len(changed),
                "codes": changed,
                "trade_state": self._trade_state(),
                "indices": indices,
            },
        )
        for stream in self._market_streams:
            stream.put("market", event)

    def _trade_state(self) -> str | None:
        try:
            return session_state(self._state.clock.now(), self._state.calendar)
        except CalendarHorizon:
            return None

    def _next_id(self) -> int:
        self._last_id = max(self._last_id + 1, int(self._state.system.wall() * 1000))
        return self._last_id


def _figures(data: Mapping[str, Any]) -> dict[str, Any]:
    """A quote without the time of its request."""
    return {name: value for name, value in data.items() if name != "time"}
