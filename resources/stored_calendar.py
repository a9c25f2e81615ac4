"""The calendar of a running platform: the shipped one with the days that `ref_trade_calendar` knows better.

Every process follows the table without a restart: a look at its version every few seconds, and its days again
when they have changed. While the database cannot be reached, what was read last holds.
"""

import logging
import threading
import time

from core.calendar import Days, TradeCalendar, shipped_calendar
from core.errors import PlatformError
from resources.settings import Settings
from resources.warehouse.engine import make_engine, reading

TABLE = "ref_trade_calendar"
LOOK_S = 5.0
_WAIT_S = 2.0
_VERSION = f"SELECT version, updated_at FROM table_version WHERE table_name='{TABLE}'"
_DAYS = f"SELECT date, is_open, is_confirmed FROM {TABLE} WHERE market='CN' ORDER BY date"
log = logging.getLogger(__name__)


class StoredCalendar(TradeCalendar):
    """The shipped calendar until the first look. Any use after LOOK_S seconds looks again, in a thread: who
    asks waits for no database. `look` waits."""

    def __init__(self, address: str) -> None:
        """`address`: URL of the warehouse."""
        super().__init__(shipped_calendar().dates, shipped_calendar().confirmed_until)
        self._address = address
        self._version: object = None
        self._due = 0.0
        self._lock = threading.Lock()

    @property
    def _days(self) -> Days:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK_S
            threading.Thread(target=self._look, name="calendar", daemon=True).start()
        return self._content

    def look(self) -> "StoredCalendar":
        """This calendar as the table says now, or said within the last LOOK_S seconds."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK_S
            self._look()
        return self

    def look_now(self) -> "StoredCalendar":
        """This calendar as the table says now."""
        self._due = 0.0
        return self.look()

    def fixed(self) -> TradeCalendar:
        """A calendar of these days that does not change: for one run."""
        return TradeCalendar.of(self._content)

    def _look(self) -> None:
        with self._lock:
            engine = None
            try:
                engine = make_engine(self._address, read_only=True, wait_s=_WAIT_S)
                with reading(engine) as connection:
                    version = connection.exec_driver_sql(_VERSION).fetchone()
                    if version is not None and tuple(version) != self._version:
                        rows = connection.exec_driver_sql(_DAYS).fetchall()
                        self._content = _content([(str(day), bool(a), bool(b)) for day, a, b in rows])
                        self._version = tuple(version)
            except PlatformError as error:
                log.debug("the stored calendar is not read: %s", error.message)
            finally:
                if engine is not None:
                    engine.dispose()


def _content(rows: list[tuple[str, bool, bool]]) -> Days:
    """The shipped days with the confirmed ones of the table in their place."""
    shipped = shipped_calendar()
    confirmed = {day: is_open for day, is_open, is_confirmed in rows if is_confirmed}
    first_open = next((day for day, _, is_confirmed in rows if not is_confirmed), None)
    before = [day for day, _, _ in rows if first_open is None or day < first_open]
    return shipped.corrected(confirmed, max([shipped.confirmed_until, *before[-1:]])).content


_calendars: dict[str, StoredCalendar] = {}


def stored_calendar(settings: Settings) -> StoredCalendar:
    """The calendar of the settings' warehouse, one object for a process; nothing is read yet."""
    address = settings.warehouse_address
    return _calendars.setdefault(address, _calendars.get(address) or StoredCalendar(address))
