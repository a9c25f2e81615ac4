"""Values of an upstream's frame as JSON values."""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.calendar import TradeCalendar
from core.declaration.columns import Column

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
_OPEN = "09:15:00"


def records(frame: "pd.DataFrame") -> list[Row]:
    rows: list[Row] = frame.to_dict("records")
    return rows


def is_empty(frame: "pd.DataFrame") -> bool:
    return len(frame) == 0


def number(value: Any, digits: int | None = None) -> float | None:
    """A float; None for a missing one."""
    if value is None or not math.isfinite(value):
        return None
    return float(value) if digits is None else round(float(value), digits)


def whole(value: Any) -> int | None:
    """Shares as an integer; None for a missing number."""
    return None if value is None or not math.isfinite(value) else round(value)


def positive(value: Any) -> float | None:
    """A price; 0, which means 'none yet', becomes None."""
    found = number(value)
    return found if found else None


def text(value: Any) -> str | None:
    """A text; None for a missing one (pandas may hold it as NaN)."""
    return value if isinstance(value, str) and value else None


def shown(row: Mapping[str, Any], columns: Iterable[Column]) -> Row:
    """These columns of a row of a frame, each as its declared type."""
    return {column.key: _READERS[column.spec.family](row[column]) for column in columns}


def total(values: Iterable[float | None]) -> float | None:
    """The sum of the known values to two decimals; None when none is known."""
    known = [value for value in values if value is not None]
    return round(sum(known), 2) if known else None


def change_pct(price: float | None, last_close: float | None) -> float | None:
    if not price or not last_close:
        return None
    return round((price / last_close - 1) * 100, 2)


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": number, "int": whole, "text": text, "date": text, "time": text,
}  # fmt: skip


def session_date(now: datetime, calendar: TradeCalendar) -> str:
    """The trade date of a quote at `now`: before 09:15 it is still the previous one."""
    newest = calendar.on_or_before(now.date().isoformat())
    if newest == now.date().isoformat() and now.strftime("%H:%M:%S") < _OPEN:
        return calendar.offset(newest, -1)
    return newest
