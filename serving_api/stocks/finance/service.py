"""Finance reads: the choice between fused rows, the indicator table and the portal's page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, Answered
from serving_api.live.frame_values import is_empty, records
from serving_api.live.symbols import listed_of
from serving_api.stocks.finance import queries, shapes
from serving_api.table_lists import newest_rows

LIVE_TTL = 3600.0
ENOUGH = 2
"""Least number of fused periods that are used alone."""
ROWS, PERIODS = 20, 12
_COMPARED = 5
"""Periods before the oldest one shown, needed for its growth."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Reported:
    """Rows newest first, their origin, and the response headers about it."""

    rows: Sequence[Row]
    source: str
    headers: dict[str, str] = field(default_factory=dict)
    updated_at: str | None = None


class Finance:
    """Finance reads of one app. Every read returns its empty structure when nothing is known."""

    def __init__(self, state: State) -> None:
        self._reading = state.reading
        self._versions = state.versions
        self._live = state.part(live_of)

    async def rows(self, code: str, as_of: str | None) -> Reported:
        """Periods of a code: fused ones when there are at least two, else those of the indicator table,
        else those of the portal. With `as_of` only rows that were fused by then."""
        fused = await self._fused(code, ROWS, as_of)
        if len(fused.rows) >= ENOUGH or as_of is not None:
            return fused
        stored = await self._indicators(code, ROWS)
        if stored.rows:
            return stored
        asked = await self._page(code, use_cache=True)
        return asked if asked.rows else fused

    async def indicators(self, code: str, as_of: str | None, *, refresh: bool) -> Reported:
        """Periods with every indicator of the company's page, the indicator table or the fused rows, in
        this order. The portal is asked for the page when a stored period is without it."""
        fused = await self._fused(code, PERIODS, as_of)
        if as_of is not None:
            return fused
        stored = await self._indicators(code, PERIODS)
        reported = [stored, fused]
        if refresh or not _is_complete(stored.rows, fused.rows):
            reported.insert(0, await self._page(code, use_cache=not refresh))
        used = [one for one in reported if one.rows]
        if not used:
            return fused
        updated = max((one.updated_at for one in used if one.updated_at), default=None)
        return Reported(
            merged([one.rows for one in used])[:PERIODS], used[0].source, used[0].headers, updated
        )

    async def detail(self, code: str, as_of: str | None) -> Row:
        """Core series, large changes and the indicators of the newest report."""
        rows, changes, newest = await read_or(([], [], []), self._reading.point(_read_detail, code, as_of))
        periods = [str(row["report_period"]) for row in rows[:PERIODS]]
        return {
            "code": code,
            "periods": periods,
            "series": shapes.series(rows, periods),
            "explanations": shapes.large_changes(changes),
            "indicators": shapes.numbers_of((newest or rows or [{}])[0]),
        }

    # -- the three sources ---------------------------------------------------------------------------

    async def _fused(self, code: str, periods: int, as_of: str | None) -> Reported:
        rows = await read_or([], self._reading.point(newest_rows, queries.FINANCE, code, periods, as_of))
        return Reported(rows, "fusion", await self._headers(queries.FINANCE))

    async def _indicators(self, code: str, periods: int) -> Reported:
        rows = await read_or([], self._reading.point(queries.indicators, code, periods))
        headers = await self._headers(queries.INDICATORS)
        updated = max((row["updated"] for row in rows), default=None)
        return Reported(rows, "indicator", headers, updated)

    async def _headers(self, table: str) -> dict[str, str]:
        return dict((await self._versions.version_of((table,))).headers)

    async def _page(self, code: str, *, use_cache: bool) -> Reported:
        """The portal's main indicators of a company, shared for an hour."""
        answer = await self._live.reported(
            ("finance", code), LIVE_TTL, lambda: self._asked(code), [], use_cache=use_cache
        )
        at = None if answer.at is None else answer.at.isoformat(sep=" ")
        return Reported(answer.value, "live", answer.headers, at)

    async def _asked(self, code: str) -> Answered:
        one = (await listed_of(self._reading, [code])).get(code)
        if one is None:
            return Answered([])
        answer = await self._live.clients.ask(
            {EASTMONEY: lambda client: client.main_indicators(one.symbol)}, order=(EASTMONEY,), empty=is_empty
        )
        rows = [_of_page(row) for row in records(answer.value)]
        return answer.shaped(sorted(rows, key=lambda row: row["report_period"], reverse=True)[:ROWS])


def _is_complete(stored: Sequence[Row], fused: Sequence[Row]) -> bool:
    """Whether the company's page was stored for every known period."""
    paged = {row["report_period"] for row in stored if row["paged"]}
    known = {row["report_period"] for row in (*stored, *fused)}
    return bool(paged) and paged >= set(sorted(known, reverse=True)[:PERIODS])


def merged(parts: Sequence[Sequence[Row]]) -> list[Row]:
    """Rows of several sources by report period, newest first: a figure is the first source's that has it."""
    periods: dict[str, Row] = {}
    for rows in parts:
        for row in rows:
            one = periods.setdefault(str(row["report_period"]), {})
            for name, value in row.items():
                if one.get(name) is None:
                    one[name] = value
    return [periods[period] for period in sorted(periods, reverse=True)]


def _of_page(row: Row) -> Row:
    reported: Row = orjson.loads(row["indicators"])
    return {name: row[name] for name in ("code", "report_period", "ann_date")} | reported


def _read_detail(session: Session, code: str, as_of: str | None) -> tuple[list[Row], list[Row], list[Row]]:
    rows = newest_rows(session, queries.FINANCE, code, PERIODS + _COMPARED, as_of)
    if as_of is not None:
        return rows, [], []
    return rows, queries.changes(session, code, None), queries.indicators(session, code, 1)
