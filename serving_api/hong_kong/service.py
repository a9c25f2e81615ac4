"""Hong Kong reads: stored figures first, else the portal's, shared for an hour."""

from collections.abc import Awaitable, Callable
from typing import Any

from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.hong_kong import queries
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, Answered
from serving_api.live.frame_values import is_empty, number, records, text

TTL = 3600.0
PAIRS_TTL = 60.0
PAIR_PAGES = 2
Row = dict[str, Any]
FIGURES = ("revenue", "revenue_yoy", "net_profit", "net_profit_yoy", "eps", "bvps", "roe", "gross_margin",
           "net_margin", "debt_ratio")  # fmt: skip
_MOST_ASKED = 5
"""Period ends per request to the portal for statements."""
_TEXTS = ("name", "full_name", "industry", "listing_date", "website", "intro")


class HongKong:
    """Reads of one app. Every read returns its empty structure when nothing is known."""

    def __init__(self, state: State) -> None:
        self._reading = state.reading
        self._live = state.part(live_of)

    async def figures(self, code: str, periods: int) -> Answered:
        """Report periods newest first: stored, else from the portal."""
        stored = await self._stored(code, periods)
        if stored:
            return Answered(stored)
        answer = await self._reported(
            ("hk_figures", code), lambda: self._asked(lambda c: c.hk_indicators(code)), TTL
        )
        return answer.shaped([_figures(row) for row in answer.value[:periods]])

    async def statement(self, code: str, statement: str, periods: int) -> Answered:
        """(period ends newest first, [{item, values}]): stored, else from the portal."""
        stored = await read_or([], self._reading.point(queries.statements, code, statement))
        if stored:
            return Answered(_table({row["report_period"]: row["items"] for row in stored[:periods]}))
        known = await self.figures(code, min(periods, _MOST_ASKED))
        ends = [row["report_period"] for row in known.value]
        if not ends:
            return Answered(([], []))
        answer = await self._reported(
            ("hk_statement", code, statement, tuple(ends)),
            lambda: self._asked(lambda c: c.hk_statement(code, statement, ends)),
            TTL,
        )
        asked: dict[str, list[Row]] = {}
        for row in answer.value:
            asked.setdefault(row["report_period"], []).append(
                {"item": row["item"], "value": number(row["value"])}
            )
        return answer.shaped(_table(asked))

    async def dividends(self, code: str) -> Answered:
        answer = await self._reported(
            ("hk_dividends", code), lambda: self._asked(lambda c: c.hk_dividends(code)), TTL
        )
        return answer.shaped([_dividend(row) for row in answer.value])

    async def profile(self, code: str) -> Answered:
        """One row, or none."""
        answer = await self._reported(
            ("hk_profile", code), lambda: self._asked(lambda c: c.hk_profile(code)), TTL
        )
        return answer.shaped([{name: text(row[name]) for name in _TEXTS} for row in answer.value])

    async def premium(self, code: str) -> Answered:
        """Both prices of a company and the A/H premium, now; None for a company that is listed once."""
        answer = await self._reported(
            ("ah_pairs",), lambda: self._asked(lambda c: c.ah_pairs(), PAIR_PAGES), PAIRS_TTL
        )
        row = next((row for row in answer.value if row["a_code"] == code), None)
        return answer.shaped(None if row is None else _premium(row))

    # -- the two places ------------------------------------------------------------------------------

    async def _stored(self, code: str, periods: int) -> list[Row]:
        return await read_or([], self._reading.point(queries.periods, code, periods))

    async def _reported(
        self, key: tuple[Any, ...], make: Callable[[], Awaitable[Answered]], ttl: float
    ) -> Answered:
        nothing: list[Row] = []
        landed = await read_or(None, self._live.single_flight.take(key, ttl, make))
        reported: Answered = Answered(nothing) if landed is None else landed.value
        return reported

    async def _asked(self, question: Callable[[Any], Any], pages: int = 1) -> Answered:
        answer = await self._live.clients.ask(
            {EASTMONEY: question}, order=(EASTMONEY,), pages=pages, empty=is_empty
        )
        return answer.shaped(records(answer.value))


def hong_kong_of(state: State) -> HongKong:
    """The app's Hong Kong reads."""
    return HongKong(state)


def _figures(row: Row) -> Row:
    words = {name: text(row[name]) for name in ("code", "report_period", "name", "currency")}
    return {**words, **{name: number(row[name]) for name in FIGURES}}


def _dividend(row: Row) -> Row:
    words = {name: text(row[name]) for name in ("ann_date", "ex_date", "currency", "plan")}
    return {**words, "dividend_ps": number(row["dividend_ps"])}


def _premium(row: Row) -> Row:
    figures = {name: number(row[name]) for name in ("a_price", "h_price", "fx_rate", "premium_pct")}
    return {
        "code": row["a_code"],
        "h_code": row["h_code"],
        "name": text(row["name"]),
        **figures,
        "history": [],  # no source has the exchange rates of past dates
    }


def _table(held: dict[str, list[Row]]) -> tuple[list[str], list[Row]]:
    """Period ends newest first, and every item with its value at each of them, in the order of the newest."""
    ends = sorted(held, reverse=True)
    values = {end: {row["item"]: row["value"] for row in held[end]} for end in ends}
    items = list(dict.fromkeys(row["item"] for end in ends for row in held[end]))
    return ends, [{"item": item, "values": [values[end].get(item) for end in ends]} for item in items]
