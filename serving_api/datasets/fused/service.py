"""Fused reads: which rows are returned, what is missing, what is a 404."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

from core.calendar import TradeCalendar
from core.days import is_closed
from core.errors import NotFound
from serving_api.datasets.fused import queries, records
from serving_api.datasets.fused.periods import resampled
from serving_api.db.sessions import Reading, Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.interfaces.queries import Row
from serving_api.stocks import queries as stock_queries

FINANCE_PERIODS = 8
DAYS_OF = {"week": 5, "month": 23, "quarter": 66, "year": 250}
"""Largest number of trade dates in a period."""
MOST_DAILY = 10_000
MOST_DIVIDENDS = 1000
"""More periods than any company has."""

T = TypeVar("T")


class Fused:
    """Reads of fused records. While the database is unavailable every read returns its empty structure;
    reads with a 404 return that."""

    def __init__(self, reading: Reading, calendar: TradeCalendar) -> None:
        self._reading = reading
        self._calendar = calendar

    async def stock(self, code: str, as_of: str | None) -> tuple[dict[str, Any], dict[str, bool]]:
        """(record, data availability). NotFound when no fused record of the code exists."""
        nothing: dict[str, Any] = {"master": None, "profile": None, "finance": []}
        found = await self._point(
            (nothing, dict.fromkeys(stock_queries.AVAILABILITY, False)), _read_stock, code, as_of
        )
        if not any(found[0].values()):
            raise NotFound(f"no fused record of {code}")
        return records.stock(code, found[0]), found[1]

    async def valuation(self, code: str, snapshots: int, as_of: str | None) -> dict[str, Any]:
        nothing: tuple[list[Row], int] = ([], 0)
        rows, total = await self._point(nothing, queries.valuations, code, snapshots, as_of)
        if not rows:
            raise NotFound(f"no valuation of {code}")
        return records.valuation(code, rows, total)

    async def finance(self, code: str, periods: int, as_of: str | None) -> list[dict[str, Any]]:
        """The newest report periods, oldest first; none when nothing was reported."""
        nothing: list[Row] = []
        rows = await self._point(
            nothing, queries.newest_of_code, queries.FINANCE, code, "report_period", periods, as_of
        )
        return [records.shaped("finance", row) for row in reversed(rows)]

    async def industry(self, code: str, as_of: str | None) -> dict[str, Any]:
        row = await self._point(None, queries.of_code, queries.INDUSTRY, code, as_of)
        if row is None:
            raise NotFound(f"no fused industry of {code}")
        return records.shaped("industry", row)

    async def margin(self, code: str, periods: int, as_of: str | None) -> list[dict[str, Any]]:
        """The newest margin rows, oldest first; none when a code is not eligible for margin trading."""
        nothing: list[Row] = []
        rows = await self._point(
            nothing, queries.newest_of_code, queries.MARGIN, code, "date", periods, as_of
        )
        return [records.shaped("margin", row) for row in reversed(rows)]

    async def holder(self, code: str, periods: int, as_of: str | None) -> list[dict[str, Any]]:
        """The newest holder counts, oldest first."""
        nothing: list[Row] = []
        rows = await self._point(
            nothing, queries.newest_of_code, queries.HOLDER, code, "date", periods, as_of
        )
        return [records.shaped("holder", row) for row in reversed(rows)]

    async def dividend(self, code: str, as_of: str | None) -> list[dict[str, Any]]:
        """Every known dividend, newest plan first; two plans of one day by their period."""
        nothing: list[Row] = []
        order = "ann_date DESC, report_period"
        rows = await self._point(
            nothing, queries.newest_of_code, queries.DIVIDEND, code, order, MOST_DIVIDENDS, as_of
        )
        return [records.shaped("dividend", row) for row in rows]

    async def announcements(self, code: str, periods: int, as_of: str | None) -> list[dict[str, Any]]:
        """The newest notices, newest first."""
        nothing: list[Row] = []
        rows = await self._point(
            nothing, queries.headlines_of_code, queries.ANNOUNCEMENT, code, periods, as_of
        )
        return [records.shaped("announcement", row) for row in rows]

    async def news(self, code: str, periods: int, as_of: str | None) -> list[dict[str, Any]]:
        """The newest news and research, newest first; one row per headline, as it is stored."""
        nothing: list[Row] = []
        rows = await self._point(nothing, queries.headlines_of_code, queries.NEWS, code, periods, as_of)
        return [records.shaped("news", row) for row in rows]

    async def events(
        self, kind: str, table: str, code: str, periods: int, as_of: str | None
    ) -> list[dict[str, Any]]:
        """The newest rows of a table with several rows a date, newest first."""
        nothing: list[Row] = []
        rows = await self._point(nothing, queries.newest_events, table, code, periods, as_of)
        return [records.shaped(kind, row) for row in rows]

    async def lockup(self, code: str, today: date, forward_days: int) -> list[dict[str, Any]]:
        """Releases from today to so many days ahead, oldest first."""
        nothing: list[Row] = []
        until = today + timedelta(days=forward_days)
        rows = await self._point(nothing, queries.releases, code, today.isoformat(), until.isoformat())
        return [records.release(row) for row in rows]

    async def period_bars(
        self, code: str, period: str, periods: int, adjust: str, as_of: str | None, moment: str
    ) -> list[dict[str, Any]]:
        """The newest bars, oldest first, closed or not at `moment`. `none` returns the stored rows;
        adjusted ones are made of adjusted daily bars, as far back as those reach."""
        nothing: list[dict[str, Any]] = []
        if adjust != "none":
            read = self._reading.scan(_read_resampled, code, period, periods, adjust, as_of, self._calendar)
            bars = await read_or(nothing, read)
        else:
            bars = (await self._point(nothing, queries.period_bars, code, period, periods, as_of))[::-1]
        return [records.only("period", {**bar, "is_closed": is_closed(bar["date"], moment)}) for bar in bars]

    async def stocks(self, codes: Sequence[str], as_of: str | None) -> list[dict[str, Any]]:
        found = await read_or([], self._reading.scan(queries.cores, codes, as_of))
        return [records.core(one) for one in found]

    async def index_daily(
        self, codes: Sequence[str], periods: int, ascending: bool, as_of: str | None
    ) -> list[dict[str, Any]]:
        """Bars of every index, grouped by index."""
        rows = await read_or([], self._reading.scan(queries.index_bars, codes, periods, as_of))
        place = {code: at for at, code in enumerate(codes)}
        rows.sort(key=lambda row: row["date"], reverse=not ascending)
        rows.sort(key=lambda row: place[row["code"]])
        return [records.only("index", row) for row in rows]

    def _point(self, empty: T, work: Callable[..., T], *args: Any) -> Awaitable[T]:
        return read_or(empty, self._reading.point(work, *args))


def fused_of(state: State) -> Fused:
    """The app's fused reads (`state.part(fused_of)`)."""
    return Fused(state.reading, state.calendar)


def _read_stock(session: Session, code: str, as_of: str | None) -> tuple[dict[str, Any], dict[str, bool]]:
    found = queries.stock_record(session, code, FINANCE_PERIODS, as_of)
    return found, stock_queries.availability(session, code, as_of)


def _read_resampled(
    session: Session,
    code: str,
    period: str,
    periods: int,
    adjust: str,
    as_of: str | None,
    calendar: TradeCalendar,
) -> list[dict[str, Any]]:
    # One more period than requested: the oldest one may be incomplete.
    days = min(MOST_DAILY, (periods + 1) * DAYS_OF[period])
    bars = stock_queries.bars(session, code, days, as_of)
    made = resampled(bars, queries.daily_qualities(session, code, as_of), period, adjust, calendar)
    whole = made[1:] if len(bars) == days else made
    return whole[-periods:]
