"""What version every table has: the key of caches and ETags, and how fresh an answer is.

`table_version` moves in the transaction of every write. SQLite reports by one cheap pragma whether anything
was committed; on MariaDB the table is read at most once a second.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from core.clock import local_iso
from core.errors import StorageError
from platform_assets.research.factors import ITEMS
from serving_api.db.adjusted_reads import COLUMNS, with_ledger
from serving_api.db.sessions import Reading, Session

POLL_S = 1.0
BESIDE = frozenset({"ref_code_change", ITEMS})
"""Tables that say how codes and adjusted prices of an answer are to be read: no origin of its content."""


@dataclass(frozen=True)
class Version:
    """One row of `table_version`."""

    number: int
    updated_at: str | None
    latest_date: str | None
    row_count: int

    @property
    def token(self) -> str:
        """Differs whenever the content differs, also after a database was created again."""
        return f"{self.number}@{self.updated_at}"


@dataclass(frozen=True)
class TableVersion:
    """The tables behind one answer: a token for caches (None = nothing may be cached), the time of the
    newest batch, and the names of those that hold rows."""

    token: str | None = None
    as_of: str | None = None
    sources: tuple[str, ...] = ()

    @cached_property
    def headers(self) -> dict[str, str]:
        """What a response says of its origin."""
        reported = {}
        if self.as_of:
            reported["X-Data-As-Of"] = local_iso(datetime.fromisoformat(self.as_of))
        if self.sources:
            reported["X-Data-Source"] = ",".join(self.sources)
        return reported


def read_versions(session: Session) -> dict[str, Version]:
    rows = session.rows(
        "table_version", columns=("table_name", "version", "updated_at", "latest_date", "row_count")
    )
    return {
        str(name): Version(int(number or 0), updated_at, latest_date, int(count or 0))
        for name, number, updated_at, latest_date, count in rows
    }


class Versions:
    """The newest known `table_version`, shared by all requests of this process."""

    def __init__(self, reading: Reading, monotonic: Callable[[], float]) -> None:
        self._reading = reading
        self._monotonic = monotonic
        self._known: Mapping[str, Version] = {}
        self._data_version: tuple[int, int] | None = None
        self._read_at = float("-inf")
        self._computed_of: Mapping[str, Version] | None = None
        self._by_tables: dict[tuple[str, ...], TableVersion] = {}
        self._polling = asyncio.Lock()
        self._looked: asyncio.AbstractEventLoop | None = None

    async def current(self) -> Mapping[str, Version]:
        """By table name; empty when the database is away."""
        if self._reading.inline:
            self._look_together()
        elif self._monotonic() - self._read_at >= POLL_S and not self._polling.locked():
            async with self._polling:
                try:
                    self._known = await self._reading.scan(self._read)
                except StorageError:
                    self._known = {}
                self._read_at = self._monotonic()
        return self._known

    async def version_of(self, tables: tuple[str, ...]) -> TableVersion:
        """The version of the content of these tables; without any of them nothing may be cached."""
        if not tables:
            return TableVersion()
        known = await self.current()
        if known is not self._computed_of:
            self._computed_of, self._by_tables = known, {}
        found = self._by_tables.get(tables)
        if found is None:
            found = self._by_tables[tables] = _combined(known, with_ledger(tables))
        return found

    def _read(self, session: Session) -> dict[str, Version]:
        """The versions; where that of the ledger differs, its items are read as well."""
        found = read_versions(session)
        token = found[ITEMS].token if ITEMS in found else None
        if token != self._reading.ledger.token:
            self._reading.ledger.renew(token, session.rows(ITEMS, columns=COLUMNS))
        return found

    def _look_together(self) -> None:
        """One look at the file (8 us) for all requests that wait on the loop now: they came before it, so it
        shows what was committed before they were sent. Those that come later are behind the callback."""
        loop = asyncio.get_running_loop()
        if self._looked is loop:
            return
        self._looked = loop
        loop.call_soon(setattr, self, "_looked", None)
        try:
            moved = self._reading.data_version()
            if moved != self._data_version:
                self._known = self._reading.now(self._read)
                self._data_version = moved
        except StorageError:
            self._known, self._data_version = {}, None


def _combined(known: Mapping[str, Version], tables: tuple[str, ...]) -> TableVersion:
    present = {name: known[name] for name in tables if name in known}
    shown = {name: version for name, version in present.items() if name not in BESIDE}
    times = [version.updated_at for version in shown.values() if version.updated_at]
    sources = tuple(name for name, version in shown.items() if version.row_count)
    token = "|".join(version.token for version in present.values()) if shown else None
    return TableVersion(token=token, as_of=max(times, default=None), sources=sources)
