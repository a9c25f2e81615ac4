"""What one running API holds: settings, clocks, reads, accounts and caches; made once per app."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request

from core.calendar import TradeCalendar
from core.clock import Clock
from resources.settings import Settings
from resources.warehouse.warehouse import Warehouse
from serving_api.db.sessions import Reading
from serving_api.db.table_versions import Versions
from serving_api.db.version_cache import VersionCache
from serving_api.framework.system_time import SystemTime
from serving_api.framework.user import Members

Part = TypeVar("Part")
Value = TypeVar("Value")


@dataclass
class State:
    """The parts that routes reach through their request."""

    settings: Settings
    clock: Clock
    calendar: TradeCalendar
    system: SystemTime
    reading: Reading
    writer: Warehouse
    versions: Versions
    members: Members = field(init=False)
    """Who calls, and what they may: set once by the app, which makes the accounts from this state."""
    cache: VersionCache = field(default_factory=VersionCache)
    parts: dict[Any, Any] = field(default_factory=dict)

    def part(self, make: Callable[["State"], Part]) -> Part:
        """An area's object of this app: `make(state)` at the first use, the same object afterwards. One
        with a `close` method is closed with the app. Called on the event loop."""
        if make not in self.parts:
            self.parts[make] = make(self)
        part: Part = self.parts[make]
        return part

    def close_parts(self) -> None:
        """Close all parts. They are kept: one that is used again opens again."""
        for part in self.parts.values():
            close = getattr(part, "close", None)
            if close is not None:
                close()

    async def cached(
        self, prefix: str, key: Hashable, tables: tuple[str, ...], size: Callable[[Value], int],
        work: Callable[..., Value | None], *args: Any,
    ) -> Value | None:  # fmt: skip
        """`reading.scan(work, *args)`, cached until one of its tables changes; `size`: bytes, about. None is
        not cached."""
        version = (await self.versions.version_of(tables)).token
        return await self.cache.one(prefix, key, version, lambda: self.reading.scan(work, *args), size)

    @property
    def today(self) -> str:
        """The day of the market clock, ISO."""
        return self.clock.now().date().isoformat()

    def since(self, days: int) -> str:
        """The first of the newest `days` trade dates."""
        return self.calendar.last(days, self.today)[0]


def state_of(request: Request) -> State:
    state: State = request.app.state.platform
    return state
