"""The screener: the market of a date, cached per version of its tables, and the selections of queries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio.to_thread

from core.arrays import Floats
from platform_assets.compute.dsl import tree
from platform_assets.compute.dsl.checks import columns_needed
from platform_assets.compute.dsl.evaluate import Selection, Step, select
from platform_assets.compute.dsl.fields import WIDE, catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import LanguageError
from serving_api.db.adjusted_reads import unnoted
from serving_api.framework.display_fields import COLUMNS
from serving_api.framework.error_responses import BadExpression
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import AsOf, bound_of, parse_as_of
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.quant.screener.history import FACTOR, PRICES, Histories
from serving_api.quant.screener.market import TABLES, Market, market_of
from serving_api.quant.screener.queries import BARS
from serving_api.table_lists import trade_date


@dataclass(frozen=True)
class When:
    """The requested date (None: the newest) and the instant of knowledge (None: now)."""

    day: str | None
    as_of: AsOf | None

    @property
    def bound(self) -> str | None:
        return bound_of(self.as_of)


def when(state: State, day: str | None, as_of: str | None) -> When:
    """Raises InputError naming `date` or `as_of`."""
    at = None if as_of is None else parse_as_of(as_of, state.clock.now())
    return When(None if day is None else trade_date(state, "date", day), at)


def parsed(text: str, parameter: str = "dsl") -> tree.Query:
    """Raises BadExpression."""
    try:
        return parse(text)
    except LanguageError as error:
        raise BadExpression(parameter, error.sentence(), error.reported()) from None


@dataclass(frozen=True)
class Found:
    """The selection of a query in a market."""

    market: Market
    selection: Selection
    fields: tuple[str, ...]

    def page(self, first: int, count: int) -> dict[str, Any]:
        """Display rows and the values of the query's fields, in the order of the selection."""
        rows = self.selection.rows[first : first + count].tolist()
        codes = self.market.table.codes
        return {
            "items": [self.market.row(at) for at in rows],
            "matched": {
                str(codes[at]): {name: self.market.value(name, at) for name in self.fields} for at in rows
            },
            "total": len(self.selection.rows),
            "date": self.market.date,
        }

    def explain(self) -> list[dict[str, Any]]:
        return [_step(step, self.market) for step in self.selection.steps]


NOTHING: Mapping[str, Any] = {"items": [], "matched": {}, "total": 0, "date": None}


class Screener:
    """Markets and bars of this app."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._histories = Histories(state.reading, state.calendar)

    async def market(self, asked: When) -> Market | None:
        """None when nothing is stored, or the database is unavailable."""
        version = (await self._state.versions.version_of(TABLES)).token

        async def load() -> Market | None:
            market = await read_or(None, self._state.reading.scan(market_of, asked.day, asked.bound))
            return None if market is None else replace(market, version=version)

        key = (asked.day, asked.bound)
        with unnoted():
            return await self._state.cache.one("screener", key, version, load, lambda market: market.size)

    async def bars(self, market: Market, needs: Mapping[str, int]) -> dict[str, Floats]:
        """Blocks of bars; without values when the database is unavailable."""
        with unnoted():
            return await read_or({}, self._histories.of(market, needs, await self._version(market)))

    def note(
        self, market: Market, fields: Iterable[str], series: Iterable[str], codes: Iterable[str]
    ) -> None:
        """Note what an answer about some stocks was made from: fields, and columns of bars."""
        columns: dict[str, set[str]] = {WIDE: set(COLUMNS.values())}
        for name in fields:
            columns.setdefault(catalogue()[name].table, set()).add(catalogue()[name].column)
        if not PRICES.isdisjoint(series):
            columns[BARS] = {FACTOR}
        shown = list(map(str, codes))
        for table, some in columns.items():
            self._state.reading.ledger.note_codes(table, some, shown, market.as_of, market.date)

    async def _version(self, market: Market) -> str | None:
        """The version of a market and of its bars."""
        bars = (await self._state.versions.version_of((BARS,))).token
        return None if market.version is None or bars is None else f"{market.version}/{bars}"

    async def find(self, query: tree.Query, asked: When) -> Found | None:
        """The selection of a query; cached, so that a further page is quick."""
        market = await self.market(asked)
        if market is None:
            return None
        needs = columns_needed(query.where)
        version = await self._version(market) if needs else market.version

        async def load() -> Selection | None:
            history = await self.bars(market, needs)
            if needs.keys() - history.keys():
                return None
            return await anyio.to_thread.run_sync(select, query, market.table, history)

        key = (market.date, market.as_of, written(query))
        selection = await self._state.cache.one(
            "found", key, version, load, lambda one: one.rows.nbytes + 4096
        )
        if selection is None:
            return None
        fields = tuple(tree.fields_of(query))
        self.note(market, fields, needs, market.table.codes[selection.rows])
        return Found(market, selection, fields)


def _step(step: Step, market: Market) -> dict[str, Any]:
    notes = [f"{name}: {note}" for name in step.fields if (note := _note(name, market))]
    return {**vars(step), "note": "; ".join(notes) or None}


def _note(name: str, market: Market) -> str | None:
    """Remarks on a field's values: missing tables, missing rows, no versions."""
    table = catalogue()[name].table
    if not table:
        return "no table stores it yet"
    if table in market.absent:
        return f"{table} holds nothing of the date"
    if table in market.unversioned:
        return f"{table} keeps no versions: as last calculated, not as known at as_of"
    return None


def warnings(query: tree.Query) -> list[str]:
    """Remarks on a query that need no data."""
    unstored = [name for name in tree.fields_of(query) if not catalogue()[name].table]
    return [f"{name}: no table stores it yet; it is missing for every stock" for name in unstored]


async def reached(state: State, asked: When, *, is_there: bool) -> dict[str, Any]:
    """How far back the searched rows reach; `is_there`: whether rows of the requested date are stored."""
    return await reach(state, WIDE, int(is_there), day=asked.day)


async def found_page(
    state: State, query: tree.Query, asked: When, page: int, page_size: int
) -> dict[str, Any]:
    """The answer of a paged search."""
    found = await state.part(Screener).find(query, asked)
    reported = dict(NOTHING) if found is None else found.page((page - 1) * page_size, page_size)
    return {
        **reported,
        **await reached(state, asked, is_there=found is not None),
        "page": page,
        "pageSize": page_size,
        "normalized": written(query),
        "explain": [] if found is None else found.explain(),
    }
