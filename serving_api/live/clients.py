"""The upstream clients of the API: opened at the first live read, used off the event loop, closed with
the app.

A request may cost `RETRY_BUDGET_MAX` external calls over all sources; a list that the upstream cuts into
pages counts as one of them, so that 600 quotes do not fail where one does.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import anyio

from core.calendar import CalendarHorizon, TradeCalendar
from core.clock import Clock, local_iso
from core.errors import PayloadError, Unavailable, UpstreamError
from resources.fetch_record import FetchLog
from resources.redact import redact
from resources.settings import Settings
from resources.transport.budget import call_budget
from resources.transport.gates import deployment_gate
from resources.transport.settings import EM_BREAKER, PUSH2EX_BREAKER
from serving_api.framework.cache_headers import in_trading_hours
from serving_api.live.frame_values import session_date


def transport_state(settings: Settings) -> dict[str, Any]:
    """Counters and breakers of this deployment, shared by all its processes: {counters by upstream, breakers
    by name: {state, failure_count, opened_at}, calls: [(upstream, host, outcome, number)]}."""
    gate = deployment_gate(settings)
    try:
        held = gate.breakers()
        shown = {name: held[name] for name in (EM_BREAKER, PUSH2EX_BREAKER)}
        return {"counters": gate.counters(), "breakers": shown, "calls": gate.calls()}
    finally:
        gate.close()


THREADS = 8
RETRY_WITHIN_S = 3.0
"""A source that was silent for longer than this is not retried for the request: the next one is asked."""
TDX, TENCENT, EASTMONEY, THS = "tdx", "tencent", "eastmoney", "ths"
XUEQIU, SINA = "xueqiu", "sina"
ORIGIN = {
    TDX: "tcp_terminal",
    TENCENT: "quote_site_a",
    EASTMONEY: "finance_portal_a",
    THS: "backup_source",
    XUEQIU: "social_site",
    SINA: "backup_source",
}
"""Upstream key -> value of `_source`."""
HISTORY = "db_history"
"""Value of `_source` for what is stored of an earlier session."""
SOURCE_ERRORS = (UpstreamError, PayloadError, Unavailable)

Makers = Mapping[str, Callable[[FetchLog], Any]]
Opener = Callable[[Settings, Clock, TradeCalendar], tuple[Makers, Sequence[Callable[[], None]]]]
T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answered:
    """The answer of a source, and when it came by the market clock; `source` is its key, None when no
    source had one. `trade_date` is that of the figures. `stored`: they are stored ones, since no source
    answered."""

    value: Any
    source: str | None = None
    at: datetime | None = None
    trade_date: str | None = None
    stored: bool = False

    @property
    def origin(self) -> str | None:
        if self.stored:
            return HISTORY
        return None if self.source is None else ORIGIN[self.source]

    @property
    def facts(self) -> dict[str, str | None]:
        """What a body says of its figures."""
        return {"trade_date": self.trade_date, "_source": self.origin}

    @property
    def headers(self) -> dict[str, str]:
        """Response headers about the origin."""
        named = {"X-Trade-Date": self.trade_date, "X-Data-Source": self.origin}
        if self.at is not None and self.origin is not None:
            named["X-Data-As-Of"] = local_iso(self.at)
        return {name: value for name, value in named.items() if value is not None}

    def shaped(self, value: Any) -> "Answered":
        """The same answer with another value."""
        return replace(self, value=value)


def source_order(now: Clock, calendar: TradeCalendar) -> tuple[str, ...]:
    """In trading hours the terminal comes first, outside them the quote site; the portal is the last."""
    if in_trading_hours(now.now(), calendar):
        return (TDX, TENCENT, EASTMONEY)
    return (TENCENT, TDX, EASTMONEY)


def trade_date_at(now: datetime, calendar: TradeCalendar) -> str | None:
    """The trade date of quotes at a moment; None beyond the calendar."""
    try:
        return session_date(now, calendar)
    except CalendarHorizon:
        return None


class LiveClients:
    """Clients of one app."""

    def __init__(
        self, settings: Settings, clock: Clock, calendar: TradeCalendar, opener: Opener | None = None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._calendar = calendar
        self._opener = opener or _every_client
        self._lock = threading.Lock()
        self._opened: tuple[Makers, Sequence[Callable[[], None]]] | None = None
        self._limiter: anyio.CapacityLimiter | None = None

    async def ask(
        self,
        reads: Mapping[str, Callable[[Any], T]],
        *,
        order: Sequence[str] | None = None,
        pages: int = 1,
        empty: Callable[[T], bool] | None = None,
    ) -> Answered:
        """The first answer that is not empty, of the sources with a read, in `order` (default: that of the
        time of day). `pages` is the number of calls of the longest single answer.

        Raises the error of the first source when every source failed."""
        requested = [name for name in order or source_order(self._clock, self._calendar) if name in reads]
        limit = self._settings.retry_budget_max + max(0, pages - 1)
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(
            self._ask, [(name, reads[name]) for name in requested], limit, empty, limiter=self._limiter
        )

    def _ask(
        self, reads: Sequence[tuple[str, Callable[[Any], T]]], limit: int, empty: Callable[[T], bool] | None
    ) -> Answered:
        first_error: Exception | None = None
        nothing: Answered | None = None
        with call_budget(limit, retry_within_s=RETRY_WITHIN_S) as budget:
            for name, read in reads:
                budget.restart()
                try:
                    value = read(self.client(name))
                except SOURCE_ERRORS as error:
                    logger.warning("%s: %s: %s", name, type(error).__name__, redact(str(error)))
                    first_error = first_error or error
                    continue
                if empty is None or not empty(value):
                    now = self._clock.now()
                    return Answered(value, name, now, trade_date_at(now, self._calendar))
                nothing = nothing or Answered(value)
        if nothing is not None:
            return nothing
        raise first_error or Unavailable("no source serves this read")

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run work that asks clients off the event loop, within the call budget of the caller; when the
        caller is cancelled the thread runs to its end."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

    def client(self, name: str) -> Any:
        """The client of an upstream, with its own log. Raises Unavailable when none is configured."""
        with self._lock:
            if self._opened is None:
                self._opened = self._opener(self._settings, self._clock, self._calendar)
            makers = self._opened[0]
        if name not in makers:
            raise Unavailable(f"no {name} client is configured", source=name)
        return makers[name](FetchLog())

    def close(self) -> None:
        """Close all connections; a later read opens new ones."""
        with self._lock:
            opened, self._opened = self._opened, None
        self._limiter = None
        for close in opened[1] if opened else ():
            close()


def _every_client(
    settings: Settings, clock: Clock, calendar: TradeCalendar
) -> tuple[Makers, Sequence[Callable[[], None]]]:
    # Loaded at the first live read: the start does not need the clients of all upstreams (0.3 s).
    from resources.upstreams.factory import make_clients  # noqa: PLC0415

    return make_clients(settings, clock, calendar)
