"""What a data type of the market is: a declaration that the one step chain (`chain.py`) carries out.

A data type is one file in `serving_api/live/types/` with a `DATA_TYPE`; nothing else lists them.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from core.calendar import TradeCalendar
from core.errors import DeclarationError
from serving_api.db.sessions import Session
from serving_api.live import types
from serving_api.live.clients import LiveClients
from serving_api.live.scan import MarketScan, Traded
from serving_api.live.stored_facts import Facts

Body = dict[str, Any]
"""What a data type answers, without `timestamp` and `_source`."""
HISTORY = "db_history"
"""What `_source` says of a snapshot of an earlier session."""


@dataclass(frozen=True)
class Asking:
    """What a question gets to work with; used in a thread that may block."""

    clients: LiveClients
    scans: MarketScan
    facts: Facts
    calendar: TradeCalendar
    now: datetime

    @property
    def session(self) -> str:
        """The trade date that quotes of now belong to."""
        return self.facts.session

    def client(self, upstream: str) -> Any:
        """Raises Unavailable where none is configured."""
        return self.clients.client(upstream)

    def scan(self, upstream: str) -> list[Traded]:
        """Quotes of all A shares from one upstream."""
        return self.scans.take(upstream, self.facts)


Question = Callable[[Asking], Body]
Stored = Callable[[Session, str], Body | None]
"""Reads a body of one trade date from fused tables; None where they have none."""


@dataclass(frozen=True)
class DataType:
    """One data type of the unified read.

    `sources`: upstream -> question, asked in the order of the session. `degrade`: the finance portal's way,
    the last one asked. `estimate`: from a sample of the market, when nobody else answered in time; never
    persisted. `is_valid`: whether a body says anything. `stored`: (`_source`, read) in the order in which
    fused tables are asked for a trade date. `stored_first`: such a table of the session answers before any
    upstream is asked. `ttl_s` counts in trading hours.
    """

    name: str
    ttl_s: float
    sources: Mapping[str, Question]
    is_valid: Callable[[Body], bool]
    empty: Callable[[], Body]
    degrade: Question | None = None
    estimate: Question | None = None
    stored: Sequence[tuple[str, Stored]] = ()
    stored_first: bool = False


@dataclass(frozen=True)
class Found:
    """One answer to a question of `session`. `origin` is what `_source` says (None: nobody had anything),
    `at` when it was captured by the market clock. `stale`: its time to live is over and a newer one is on its
    way. `stored_of`: the trade date of an answer from the store, which may be an earlier one. `good_for`: the
    seconds after which another process's answer is due again."""

    body: Body
    session: str
    at: datetime | None = None
    origin: str | None = None
    estimate: bool = False
    stale: bool = False
    stored_of: str | None = None
    good_for: float | None = None

    @property
    def is_of_session(self) -> bool:
        """Whether there are figures, and of the session that was asked for."""
        return self.origin is not None and self.stored_of in {None, self.session}

    def as_stale(self) -> "Found":
        return replace(self, stale=True)


@cache
def data_types() -> Mapping[str, DataType]:
    """Every data type by its name. Raises DeclarationError when a file declares none, or two one name."""
    found: dict[str, DataType] = {}
    for module in pkgutil.iter_modules(types.__path__):
        declared = getattr(importlib.import_module(f"{types.__name__}.{module.name}"), "DATA_TYPE", None)
        if not isinstance(declared, DataType):
            raise DeclarationError(f"serving_api/live/types/{module.name}.py declares no DATA_TYPE")
        if declared.name in found:
            raise DeclarationError(f"two data types are named {declared.name}")
        found[declared.name] = declared
    return found
