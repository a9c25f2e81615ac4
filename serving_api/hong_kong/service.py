"""Hong Kong reads: stored figures first, else the portal's, shared for an hour. RAW tables keep no
versions."""

from typing import Any

from platform_assets.datasets.hk_finance import HkFinance
from resources.warehouse.stored import stored
from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import Answered
from serving_api.live.frame_values import number, shown, text
from serving_api.table_lists import newest_rows

TABLE = stored("raw_hk_finance", HkFinance)
TTL = 3600.0
PAIRS_TTL = 60.0
PAIR_PAGES = 2
Row = dict[str, Any]
FIGURES = (
    HkFinance.revenue, HkFinance.revenue_yoy, HkFinance.net_profit, HkFinance.net_profit_yoy, HkFinance.eps,
    HkFinance.bvps, HkFinance.roe, HkFinance.gross_margin, HkFinance.net_margin, HkFinance.debt_ratio,
)  # fmt: skip
PROFILE = ("name", "full_name", "industry", "listing_date", "website", "intro")
_MOST_ASKED = 5
"""Period ends per request to the portal for statements."""
_ALL = 1000


class HongKong:
    """Reads of one app. Every read returns its empty structure when nothing is known."""

    def __init__(self, state: State) -> None:
        self._reading = state.reading
        self._portal = state.part(live_of).portal

    async def figures(self, code: str, periods: int) -> Answered:
        """Report periods newest first: stored, else from the portal."""
        stored = await read_or([], self._reading.point(newest_rows, TABLE, code, periods))
        if stored:
            return Answered(stored)
        answer = await self._portal(("hk_figures", code), TTL, lambda c: c.hk_indicators(code), _figures)
        return answer.shaped(answer.value[:periods])

    async def statement(self, code: str, statement: str, periods: int) -> Answered:
        """(period ends newest first, [{item, values}]): stored, else from the portal."""
        stored = await read_or([], self._reading.point(stored_statements, code, statement))
        if stored:
            return Answered(_table({row["report_period"]: row["items"] for row in stored[:periods]}))
        known = await self.figures(code, min(periods, _MOST_ASKED))
        ends = [row["report_period"] for row in known.value]
        if not ends:
            return Answered(([], []))
        key = ("hk_statement", code, statement, tuple(ends))
        answer = await self._portal(key, TTL, lambda c: c.hk_statement(code, statement, ends), dict)
        asked: dict[str, list[Row]] = {}
        for row in answer.value:
            item = {"item": row["item"], "value": number(row["value"])}
            asked.setdefault(row["report_period"], []).append(item)
        return answer.shaped(_table(asked))

    async def dividends(self, code: str) -> Answered:
        return await self._portal(("hk_dividends", code), TTL, lambda c: c.hk_dividends(code), _dividend)

    async def profile(self, code: str) -> Answered:
        """One row, or none."""
        return await self._portal(("hk_profile", code), TTL, lambda c: c.hk_profile(code), _profile)

    async def premium(self, code: str) -> Answered:
        """Both prices of a company and the A/H premium, now; None for a company that is listed once."""
        pairs = await self._portal(("ah_pairs",), PAIRS_TTL, lambda c: c.ah_pairs(), dict, pages=PAIR_PAGES)
        row = next((row for row in pairs.value if row["a_code"] == code), None)
        return pairs.shaped(None if row is None else _premium(row))


def stored_statements(session: Session, code: str, statement: str) -> list[Row]:
    """{report_period, items} of every period that holds a statement, newest first."""
    rows = newest_rows(session, TABLE, code, _ALL)
    return [
        {"report_period": row["report_period"], "items": row["items"][statement]}
        for row in rows
        if (row["items"] or {}).get(statement)
    ]


def first_period(session: Session, code: str, statement: str | None) -> str | None:
    """The first stored report period of a company; of a `statement` where one is given."""
    if statement is None:
        return first_date(session, TABLE, TABLE.c.code == code)
    rows = stored_statements(session, code, statement)
    return str(rows[-1]["report_period"]) if rows else None


def _figures(row: Row) -> Row:
    return shown(row, (HkFinance.code, HkFinance.report_period, HkFinance.name, HkFinance.currency, *FIGURES))


def _profile(row: Row) -> Row:
    return {name: text(row[name]) for name in PROFILE}


def _dividend(row: Row) -> Row:
    texts = {name: text(row[name]) for name in ("ann_date", "ex_date", "currency", "plan")}
    return {**texts, "dividend_ps": number(row["dividend_ps"])}


def _premium(row: Row) -> Row:
    return {
        "code": row["a_code"],
        "h_code": row["h_code"],
        "name": text(row["name"]),
        **{name: number(row[name]) for name in ("a_price", "h_price", "fx_rate", "premium_pct")},
        "history": [],  # no source has the exchange rates of past dates
    }


def _table(held: dict[str, list[Row]]) -> tuple[list[str], list[Row]]:
    """Period ends newest first, and every item with its value at each of them, in the order of the newest."""
    ends = sorted(held, reverse=True)
    values = {end: {row["item"]: row["value"] for row in held[end]} for end in ends}
    items = list(dict.fromkeys(row["item"] for end in ends for row in held[end]))
    return ends, [{"item": item, "values": [values[end].get(item) for end in ends]} for item in items]
