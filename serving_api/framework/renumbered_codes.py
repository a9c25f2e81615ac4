"""Requests by a former code are answered with the code that it became, and say so."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from core.market.renumbering import BEIJING, CodeChange, Renumbering
from platform_assets.datasets.code_change import CodeChange as StoredCodeChange
from platform_assets.datasets.stock_master import StockMaster
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State

TABLE = stored("ref_code_change", StoredCodeChange)
MASTER = stored("fusion_stock_master", StockMaster)
KEY = "renumbered"
"""Key of such an answer beside its results: [{from, to, date}]; the day is null where it is not known."""
HEADER = "X-Renumbered"


def read_changes(session: Session, day: str) -> Renumbering:
    """The stored changes."""
    rows = session.rows(TABLE, columns=("code", "new_code", "date"))
    ranges = sa.or_(*(MASTER.c.code.startswith(prefix) for prefix in BEIJING))
    held = session.rows(MASTER, ranges, columns=("code",))
    return Renumbering((CodeChange(*row) for row in rows), frozenset(code for (code,) in held), day)


class _Newest:
    """The changes as they were read last."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._of: tuple[str, str | None] = ("", None)
        self._known = Renumbering((), None, "")

    async def read(self) -> Renumbering:
        state = self._state
        of = (state.today, (await state.versions.version_of((TABLE, MASTER))).token)
        if of != self._of:
            unknown = Renumbering((), None, of[0])
            self._known = await read_or(unknown, state.reading.point(read_changes, of[0]))
            self._of = of if self._known is not unknown else ("", None)
        return self._known


async def renumbering_of(state: State) -> Renumbering:
    """The stored changes, read again when they or the list of securities change."""
    return await state.part(_Newest).read()


def reported(changes: Iterable[CodeChange]) -> list[dict[str, Any]]:
    """The value of `KEY`."""
    return [{"from": one.code, "to": one.new_code, "date": one.date} for one in changes]


def header_of(changes: Iterable[CodeChange]) -> dict[str, str]:
    """The header of an answer with changes: `003061 is 001991 since 2026-09-16`."""
    texts = [f"{one.code} is {one.new_code}" + (f" since {one.date}" if one.date else "") for one in changes]
    return {HEADER: ", ".join(texts)} if texts else {}
