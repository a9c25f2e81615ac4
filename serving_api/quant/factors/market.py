"""A scored market for screens: one date's wide rows as arrays, ranked once per version of the wide table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats
from core.calendar import CalendarHorizon, TradeCalendar
from core.market.names import plain_industry, special
from platform_assets.compute.factors.definitions import INPUT_COLUMNS
from platform_assets.compute.factors.gates import Gate, gate_of
from platform_assets.compute.factors.history import REPORT_FIELDS, YEAR
from platform_assets.compute.factors.presets import INDUSTRY_COLUMNS, PRESETS, Batch, Preset, preset_picks
from platform_assets.compute.factors.scores import Scores, has_bar, score
from serving_api.db.sessions import Session
from serving_api.framework.display_fields import COLUMNS, NUMBERS
from serving_api.framework.state import State
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


Ints = npt.NDArray[np.intp]
_BYTES_PER_STOCK = 2500
TABLES = (queries.WIDE, queries.KLINE, queries.VALUATION, queries.FLOW, queries.FINANCE, queries.NAMES)
"""Tables from which a market is made."""


@dataclass(frozen=True)
class Market:
    """Stocks with a bar on `date`, by code; every array is as long as `codes`."""

    date: str
    codes: Sequence[str]
    columns: Mapping[str, Sequence[Any]]
    """Stored values by column of the wide table"""
    scores: Scores
    note: str | None = None
    """A remark on the data; None: it is the market of the wide table"""

    @classmethod
    def of(cls, date: str, stored: Mapping[str, Sequence[Any]]) -> "Market":
        """Made from the columns of all wide rows of a date. Stocks without a bar are left out."""
        size = len(stored["code"])
        price, suspended = (
            np.array(stored.get(name, [None] * size), dtype=np.float64)
            for name in ("current_price", "is_suspended")
        )
        kept = np.flatnonzero(has_bar(price, suspended)).tolist()
        columns = {name: [values[at] for at in kept] for name, values in stored.items()}
        numbers = {
            name: np.array(columns[name], dtype=np.float64) for name in INPUT_COLUMNS if name in columns
        }
        missing = {name: np.full(len(kept), np.nan) for name in INPUT_COLUMNS if name not in columns}
        return cls(date, columns["code"], columns, score({**numbers, **missing}))

    @property
    def size(self) -> int:
        """Stocks that are ranked."""
        return len(self.codes)

    @cached_property
    def place(self) -> dict[str, int]:
        """Code -> its row."""
        return {code: at for at, code in enumerate(self.codes)}

    @property
    def amount(self) -> Floats:
        """CNY"""
        return self.scores.values["amount"]

    @cached_property
    def gates(self) -> list[Gate]:
        return [gate_of(self.row(at)) for at in range(self.size)]

    @cached_property
    def blocked(self) -> Bools:
        return np.array([gate.blocked for gate in self.gates], dtype=bool)

    @cached_property
    def special(self) -> Bools:
        """Whether a stock is under special treatment on the date."""
        names = self.columns.get("name", [None] * self.size)
        states = self.columns.get("is_st", [None] * self.size)
        return np.array(list(map(special, states, names)), dtype=bool)

    def row(self, place: int) -> dict[str, Any]:
        """The stored values of one stock."""
        return {name: values[place] for name, values in self.columns.items()}

    def shown(self, place: int) -> dict[str, Any]:
        """The display fields of one stock, as they are stored."""
        return {name: None if column is None else column[place] for name, column in self._display}

    @cached_property
    def _display(self) -> list[tuple[str, Sequence[Any] | None]]:
        """Display field -> its stored column, None where that is not declared."""
        return [(name, self.columns.get(column)) for name, column in COLUMNS.items()]

    def of_industries(self, requested: Sequence[str]) -> Bools:
        """Rows of the stocks in one of these industries, of any classification."""
        found = np.zeros(self.size, dtype=bool)
        for name in requested:
            found[self.industries.get(plain_industry(name), [])] = True
        return found

    @cached_property
    def industries(self) -> dict[str, list[int]]:
        """Name, without its level suffix -> rows of the stocks that belong to it."""
        found: dict[str, list[int]] = {}
        for column in INDUSTRY_COLUMNS:
            for at, name in enumerate(self.columns.get(column, ())):
                if isinstance(name, str):
                    found.setdefault(plain_industry(name), []).append(at)
        return found

    def of_markets(self, requested: Sequence[str]) -> Bools:
        return np.isin(
            np.array([str(one) for one in self.columns.get("market", [""] * self.size)]), requested
        )

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The numeric display fields, by their shown name."""
        return {
            name: np.array(self.columns[COLUMNS[name]], dtype=np.float64)
            for name in NUMBERS
            if COLUMNS[name] in self.columns
        }

    @cached_property
    def picks(self) -> dict[str, Ints]:
        """Preset -> rows that it selects in the whole market, best first."""
        return {preset.key: self._picked(preset) for preset in PRESETS}

    def _picked(self, preset: Preset) -> Ints:
        return preset_picks(
            preset,
            Batch(self.scores.factors, self.scores.composite, self.amount, self.codes),
            among=~self.blocked,
            of_industries=self.of_industries,
        )


async def market_of(state: State, day: str | None, as_of: str | None) -> Market | None:
    """The scored market of a date (None: the newest), cached until its tables change, or as it was known at
    `as_of`; None when nothing is stored. Raises StorageError."""
    if as_of is not None:
        return await state.reading.scan(_read, state.calendar, day, as_of)
    return await state.cached(
        "factors", day, TABLES, lambda market: market.size * _BYTES_PER_STOCK,
        _read, state.calendar, day, None,
    )  # fmt: skip


def _read(session: Session, calendar: TradeCalendar, day: str | None, as_of: str | None) -> Market | None:
    found = queries.market(session, day, as_of)
    if found is not None and found[1].get("code"):
        made = Market.of(*found)
    else:
        # With an instant only the wide rows are used: only they have versions.
        past = past_columns(session, calendar, day) if day is not None and as_of is None else None
        if day is None or past is None:
            return None
        made = replace(Market.of(day, past), note=NOTE)
    # Built here, off the event loop.
    _ = (made.gates, made.blocked, made.special, made.place, made.numbers, made.industries)
    return made
