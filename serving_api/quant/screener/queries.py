"""SQL of the screener: rows of one date, and bars of the whole market."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from platform_assets.compute.dsl.fields import WIDE
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import newest_date

Floats = npt.NDArray[np.float64]
BARS = "fusion_kline_daily"
_TRADED = "sec_type='stock' AND (is_suspended IS NULL OR is_suspended=0) AND close IS NOT NULL"


@dataclass(frozen=True)
class Window:
    """Bars of traded days: values [codes, dates], NaN where a code did not trade."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    values: dict[str, Floats]


def newest(session: Session, as_of: str | None) -> str | None:
    """The newest date of the display rows."""
    return newest_date(session, session.table(WIDE), as_of) if session.has(WIDE) else None


def rows_of_date(
    session: Session, name: str, columns: Sequence[str], day: str, as_of: str | None
) -> dict[str, tuple[Any, ...]]:
    """Column -> its values on a date, rows by code; a column that the table lacks is left out. Tables
    without versions give their current rows of the date."""
    if not session.has(name):
        return {}
    table = session.table(name)
    requested = session.columns(name, list(dict.fromkeys(("code", *columns))))
    rows = session.rows(
        name,
        columns=requested,
        where=f"{table.date_column}=?",
        values=(day,),
        as_of=as_of if table.has_history else None,
        order="code",
    )
    return dict(zip(requested, zip(*rows, strict=True), strict=True)) if rows else {}


def window(session: Session, columns: Sequence[str], since: str, until: str, as_of: str | None) -> Window:
    """Bars of all stocks between two dates."""
    if not session.has(BARS):
        return Window((), (), {column: np.empty((0, 0)) for column in columns})
    if as_of is None:
        panel = session.panel(BARS, columns, since=since, until=until, extra=_TRADED)
        return Window(panel.codes, panel.dates, panel.values)
    rows = session.rows(
        BARS,
        columns=("code", "date", *columns),
        where=f"date>=? AND date<=? AND {_TRADED}",
        values=(since, until),
        as_of=as_of,
    )
    if not rows:
        return Window((), (), {column: np.empty((0, 0)) for column in columns})
    codes, dates, *received = zip(*rows, strict=True)
    names, row = np.unique(np.array(codes, dtype=str), return_inverse=True)
    days, column = np.unique(np.array(dates, dtype=str), return_inverse=True)
    values = {}
    for name, one in zip(columns, received, strict=True):
        values[name] = np.full((len(names), len(days)), np.nan)
        values[name][row, column] = np.array(one, dtype=np.float64)
    return Window(tuple(names.tolist()), tuple(days.tolist()), values)
