"""The market of a date without wide rows, from other stored data of that date: bars, ratios, flows,
reports."""

from typing import Any

import numpy as np

from core.calendar import CalendarHorizon, TradeCalendar
from platform_assets.compute.factors.history import REPORT_FIELDS, YEAR
from serving_api.db.sessions import Session
from serving_api.quant.factors import queries
from serving_api.quant.factors.grids import Grid, inputs_of
from serving_api.quant.factors.queries import Columns

SESSIONS = YEAR + 2
"""Trade dates that are read for one date: back to the close a year before, and one more for a change."""
_FIELDS = (*REPORT_FIELDS, "debt_ratio")
_DECIMALS = 4
_COUNTS = ("limit_up_count_20d", "limit_days_today", "break_fail_days_5d")
NOTE = (
    "the wide table holds no rows of this date: ranked from the bars, ratios, flows and reports that are "
    "stored of it, and coverage says how much of a score they make up; industries are those of today"
)


def past_columns(session: Session, calendar: TradeCalendar, day: str) -> Columns | None:
    """Columns as the wide rows of `day` would have them; None where no stock has a bar on it."""
    rows = queries.bars_of_day(session, day)
    if not rows:
        return None
    codes = [row["code"] for row in rows]
    try:
        dates = calendar.last(SESSIONS, day)
    except CalendarHorizon:
        return None
    inputs, _, _ = inputs_of(session, Grid(dates, codes), day, _FIELDS)
    found: dict[str, Any] = {
        "code": codes,
        "current_price": [row["close"] for row in rows],
        **{name: [row[name] for row in rows] for name in ("change_pct", "is_suspended")},
    }
    found |= {name: _plain(values[-1]) for name, values in inputs.items()}
    for name in _COUNTS:
        found[name] = [None if one is None else int(one) for one in found[name]]
    facts = queries.facts_on(session, day)
    for name in ("name", "is_st", "market", *queries.INDUSTRY):
        found[name] = [facts.get(code, {}).get(name) for code in codes]
    return found


def _plain(values: Any) -> list[float | None]:
    """Rounded like stored values; None when there is none."""
    return [
        round(float(one), _DECIMALS) if known else None
        for one, known in zip(values, np.isfinite(values), strict=True)
    ]
