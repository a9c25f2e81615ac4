"""Stored data about the market before a session: listed stocks, closes of the previous session,
industries.

They complete live quotes (limits, caps, industries) and validate them (the wrong session, a part of the
market).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.calendar import TradeCalendar
from platform_assets.datasets.index_daily import IndexDaily
from platform_assets.datasets.kline_daily import KlineDaily
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.live.queries import BLOCKS, MASTER, industry_boards, listed_stocks
from serving_api.live.symbols import Listed, listed

BARS = stored("fusion_kline_daily", KlineDaily)
INDEX_BARS = stored("fusion_index_daily", IndexDaily)
INDUSTRIES = stored("fusion_stock_industry")
MAIN_INDEX = "sh000001"
MONTH_SESSIONS = 22
_BYTES_PER_STOCK = 600


@dataclass(frozen=True)
class Board:
    """An industry: the portal's board code when one is known, else the name identifies it."""

    code: str
    name: str


@dataclass(frozen=True)
class Facts:
    """Data of one session. `closes` are unadjusted closes (CNY) of the previous session, by code;
    `amount_before` its turnover (CNY); `month_base` the main index's close 22 sessions before. Missing
    values are empty or None."""

    session: str
    stocks: Mapping[str, Listed] = field(default_factory=dict)
    closes: Mapping[str, float] = field(default_factory=dict)
    amount_before: float | None = None
    boards: Mapping[str, Board] = field(default_factory=dict)
    month_base: float | None = None


def read_facts(session: Session, day: str, before: str, month_before: str) -> Facts:
    """`before` and `month_before`: the session before `day`, and the one 22 sessions before it."""
    stocks = {one.symbol: one for one in map(listed, listed_stocks(session)) if one is not None}
    bars = session.rows(
        BARS, BARS.c.date == before, BARS.c.sec_type == "stock", columns=("code", "close", "amount")
    )
    amounts = [float(amount) for _, _, amount in bars if amount]
    base = session.rows(
        INDEX_BARS, INDEX_BARS.c.code == MAIN_INDEX, INDEX_BARS.c.date == month_before, columns=("close",)
    )
    return Facts(
        session=day,
        stocks=stocks,
        closes={str(code): float(close) for code, close, _ in bars if close},
        amount_before=round(sum(amounts), 2) if amounts else None,
        boards=_boards(session),
        month_base=float(base[0][0]) if base and base[0][0] else None,
    )


def _boards(session: Session) -> dict[str, Board]:
    """Code of a stock -> its industry."""
    named = industry_boards(session)
    # The portal's codes take precedence over the terminal's.
    code_of = {
        str(name): str(code) for name, code, src in sorted(named, key=lambda row: row[2] == "eastmoney")
    }
    rows = session.rows(INDUSTRIES, columns=("code", "em_industry"))
    return {str(code): Board(code_of.get(str(name), str(name)), str(name)) for code, name in rows if name}


class FactReads:
    """Facts of the session, cached while the versions of their tables do not change."""

    TABLES = (MASTER, BARS, INDEX_BARS, INDUSTRIES, BLOCKS)

    def __init__(self, state: State) -> None:
        self._state = state

    async def of(self, day: str) -> Facts:
        """Raises StorageError when the database is unavailable."""
        state = self._state
        calendar: TradeCalendar = state.calendar
        stand = await state.versions.version_of(self.TABLES)
        before, month = calendar.offset(day, -1), calendar.offset(day, -MONTH_SESSIONS)
        found = await state.cache.one(
            "live facts",
            day,
            stand.token,
            lambda: state.reading.scan(read_facts, day, before, month),
            lambda facts: _BYTES_PER_STOCK * (len(facts.stocks) + 1),
        )
        return found or Facts(day)
