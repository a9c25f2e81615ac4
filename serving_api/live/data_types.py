"""Checks that the portal serves the running session: its boards carry no date."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from core.calendar import TradeCalendar
from core.errors import PayloadError
from serving_api.db.sessions import Session
from serving_api.live.clients import EASTMONEY, LiveClients
from serving_api.live.frame_values import Row, records
from serving_api.live.scan import SCANS, MarketScan, Traded
from serving_api.live.stored_facts import Facts

Body = dict[str, Any]
"""The body of a data type, without `timestamp` and `_source`."""


@dataclass(frozen=True)
class ReadContext:
    """The inputs of a read; used in a thread that may block."""

    clients: LiveClients
    scans: MarketScan
    facts: Facts
    calendar: TradeCalendar
    now: datetime

    @property
    def session(self) -> str:
        """The trade date of current quotes."""
        return self.facts.session

    def client(self, upstream: str) -> Any:
        """Raises Unavailable when none is configured."""
        return self.clients.client(upstream)

    def scan(self, upstream: str) -> list[Traded]:
        """Quotes of all A shares from one upstream."""
        return self.scans.take(upstream, self.facts)


SourceRead = Callable[[ReadContext], Body]
Stored = Callable[[Session, str], Body]
"""Reads a body of one trade date from fused tables; it is not valid when they have none."""


def of_scan_sources(read: Callable[[str, ReadContext], Body]) -> dict[str, SourceRead]:
    """The sources whose quotes cover the market, each asked by `read`."""
    return {upstream: partial(read, upstream) for upstream in SCANS}


@dataclass(frozen=True)
class DataType:
    """One data type of the unified read.

    `sources`: upstream -> read, tried in the order of the session. `degrade`: the read of the finance
    portal, tried last. `estimate`: from a sample of the market, when no other source answered in time;
    never persisted. `is_valid`: whether a body holds data. `stored`: (`_source`, read) in the order in
    which fused tables are asked for a trade date. `stored_first`: such a table of the session answers
    before any upstream is asked. `ttl_s` counts in trading hours.
    """

    name: str
    ttl_s: float
    sources: Mapping[str, SourceRead]
    is_valid: Callable[[Body], bool]
    empty: Callable[[], Body]
    degrade: SourceRead | None = None
    estimate: SourceRead | None = None
    stored: Sequence[tuple[str, Stored]] = ()
    stored_first: bool = False


@dataclass(frozen=True)
class Found:
    """One answer for `session`. `origin` is the value of `_source` (None: no source had one), `at` when it
    was captured by the market clock. `stale`: its time to live is over and a refresh is running.
    `stored_of`: the trade date of a stored answer, which may be an earlier one. `good_for`: seconds
    until another process's answer expires."""

    body: Body
    session: str
    at: datetime | None = None
    origin: str | None = None
    estimate: bool = False
    stale: bool = False
    stored_of: str | None = None
    good_for: float | None = None

    @property
    def trade_date(self) -> str | None:
        """The trade date that the body is of; None for the empty structure."""
        return None if self.origin is None else self.stored_of or self.session

    @property
    def is_of_session(self) -> bool:
        """Whether there is data, and of the requested session."""
        return self.origin is not None and self.stored_of in {None, self.session}


MARKETS = ("sh000001", "sz399001")
"""Indices whose turnover and flow are those of the two exchanges."""


def check_portal(context: ReadContext) -> None:
    """One call: the portal's main indices. Raises PayloadError when they are of another session."""
    check_dates(records(context.client(EASTMONEY).ulist(list(MARKETS))), context.session)


def check_dates(rows: Iterable[Row], session: str) -> None:
    """Raises PayloadError when no row is of the session: suspended stocks keep an older date."""
    dates = {str(row["trade_date"]) for row in rows}
    if session not in dates:
        raise PayloadError(f"the portal serves {max(dates, default='nothing')}, not {session}")
