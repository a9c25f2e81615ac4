"""The watch list of an installation (`sys_watched_security`): the securities that it loads.

An installation without one loads the whole market.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.engine import Engine

from core.clock import stamp
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.tasks import Task
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger, Sql
from resources.warehouse.stored import delete, select, stored, update

LOAD_WATCHED = "load_watched"
"""The command that loads what the list lacks."""
_TABLE = stored("sys_watched_security")
_NEVER = "9999"


@dataclass(frozen=True)
class Watched:
    """A security of the list. `code`: as the datasets write it, 600519 or (an index) sh000300; `since`: the
    first day of its history; `loaded_until`: the trade date up to which that is loaded, None before it is."""

    code: str
    since: str
    loaded_until: str | None
    added_by: str
    added_at: datetime

    @property
    def is_index(self) -> bool:
        return is_index(self.code)


def is_index(code: str) -> bool:
    """Whether a dataset's code is that of an index: it carries the market."""
    return not code.isdigit()


class WatchList(Ledger):
    """Reads and changes the list. Every method is one transaction."""

    def all(self) -> list[Watched]:
        """Its securities in the order in which they were added."""
        c = _TABLE.c
        columns = (c.code, c.since, c.loaded_until, c.added_by, c.added_at)
        rows = self._sql.rows(select(_TABLE, *columns).order_by(c.added_at, c.code))
        return [record(Watched, row) for row in rows]

    def new(self, codes: Sequence[str], since: str) -> list[str]:
        """The codes that are not on the list, or not from such an early day on."""
        known = {one.code: one.since for one in self.all()}
        return [code for code in dict.fromkeys(codes) if known.get(code, _NEVER) > since]

    def add(self, codes: Sequence[str], since: str, *, by: str, now: datetime) -> None:
        """Puts securities on the list, to be loaded from a first day on. One that is on it already is loaded
        again."""
        known = {one.code: one for one in self.all()}
        with transaction(self._engine) as connection:
            for place, code in enumerate(dict.fromkeys(codes)):
                at = stamp(now + timedelta(microseconds=place))  # they keep the order in which they came
                before = known.get(code)
                row: dict[str, str | None] = {"since": since, "loaded_until": None, "updated_at": at}
                if before is None:
                    row |= {"code": code, "added_by": by, "added_at": at, "created_at": at}
                    self._sql.put(connection, _TABLE, row)
                else:
                    row["since"] = min(since, before.since)
                    connection.execute(update(_TABLE, row, _TABLE.c.code == code))

    def loaded(self, codes: Sequence[str], until: str, *, now: datetime) -> None:
        """The history of the securities is loaded up to a trade date."""
        row = {"loaded_until": until, "updated_at": stamp(now)}
        with transaction(self._engine) as connection:
            connection.execute(update(_TABLE, row, _TABLE.c.code.in_(codes)))

    def remove(self, codes: Sequence[str]) -> None:
        """Takes securities from the list; what is loaded of them stays."""
        with transaction(self._engine) as connection:
            connection.execute(delete(_TABLE, _TABLE.c.code.in_(codes)))


def off_on_a_watch_list(engine: Engine, task: Task) -> str | None:
    """Why a task does not run here that judges the market as a whole; None when it may."""
    if not task.of_market or universe_of(engine) is None:
        return None
    return "it is of the whole market, and this installation loads a watch list"


def universe_of(engine: Engine) -> frozenset[str] | None:
    """Codes of the stocks, funds and bonds that the installation loads; None for the whole market."""
    codes = [str(code) for (code,) in Sql(engine).rows(select(_TABLE, _TABLE.c.code))]
    return frozenset(code for code in codes if not is_index(code)) if codes else None
