"""Money flow of one stock by date: stored, and requested when the newest session is not stored yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.calendar import CalendarHorizon
from serving_api.framework.cache_headers import ttl_at
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.queries import stored_flows
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, HISTORY, Answered
from serving_api.live.frame_values import Row, number, records, session_date
from serving_api.live.symbols import listed_of

FLOW_TTL = 30.0
_NETS = ("main_net", "super_net", "large_net", "medium_net", "small_net", "main_net_pct", "close")
_COLUMNS = ("date", *_NETS, "change_pct")


@dataclass(frozen=True)
class Flows:
    """Rows oldest first, and the source of the newest of them."""

    value: list[Row]
    source: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class DailyFlows:
    """Reads that return an empty list when neither the store nor the portal has data."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._live = state.part(live_of)

    async def of(self, code: str, days: int) -> Flows:
        """The stored rows alone when they include the session."""
        stored = await read_or([], self._state.reading.point(stored_flows, code, days, _COLUMNS))
        now, calendar = self._state.clock.now(), self._state.calendar
        try:
            newest = session_date(now, calendar)
        except CalendarHorizon:
            newest = ""
        if stored and str(stored[-1]["date"]) >= newest:
            return Flows(_shown(stored), HISTORY)
        answered = await self._live.shared_read(
            f"daily flow {code}", lambda: ttl_at(FLOW_TTL, now, calendar), lambda: self._ask(code), []
        )
        if not answered.value:
            return Flows(_shown(stored), HISTORY if stored else None)
        by_date = {str(row["date"]): row for row in (*answered.value, *_shown(stored))}
        rows = [by_date[day] for day in sorted(by_date)][-days:]
        return Flows(rows, answered.origin, answered.headers)

    async def _ask(self, code: str) -> Answered:
        one = (await listed_of(self._state.reading, [code])).get(code)
        if one is None:
            return Answered([])
        answer = await self._live.clients.ask(
            {EASTMONEY: lambda client: client.fund_flow_daily(one.symbol)}, order=(EASTMONEY,)
        )
        return answer.shaped(_shown(records(answer.value)))


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    return [
        {
            "date": str(row["date"]),
            **{name: number(row.get(name)) for name in _NETS},
            "change_percent": number(row.get("change_pct")),
        }
        for row in rows
    ]
