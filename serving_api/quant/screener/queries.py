"""SQL of the screener: rows of one date, and bars of the whole market."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arrays import Floats
from core.declaration.conditions import equal, known, not_set
from resources.warehouse.stored import ANY, stored
from serving_api.db.sessions import Session

BARS = stored("fusion_kline_daily")
_TRADED = (equal("sec_type", "stock"), not_set("is_suspended"), known("close"))


@dataclass(frozen=True)
class Window:
    """Bars of traded days: values [codes, dates], NaN where a code did not trade."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    values: dict[str, Floats]


def rows_of_date(
    session: Session, name: str, columns: Sequence[str], day: str, as_of: str | None
) -> dict[str, tuple[Any, ...]]:
    """Column -> its values on a date, rows by code; a column that the table lacks is left out. Tables
    without versions give their current rows of the date."""
    if not session.has(name):
        return {}
    table = session.table(name)
    requested = session.columns(name, list(dict.fromkeys(("code", *columns))))
    of, instant = [ANY[str(table.date_column)] == day], as_of if table.has_history else None
    rows = session.rows(name, *of, columns=requested, as_of=instant, order=["code"])
    return dict(zip(requested, zip(*rows, strict=True), strict=True)) if rows else {}


def window(session: Session, columns: Sequence[str], since: str, until: str, as_of: str | None) -> Window:
    """Bars of all stocks between two dates."""
    if not session.has(BARS):
        return Window((), (), {column: np.empty((0, 0)) for column in columns})
    panel = session.panel(BARS, columns, since=since, until=until, conditions=_TRADED, as_of=as_of)
    return Window(panel.codes, panel.dates, panel.values)
