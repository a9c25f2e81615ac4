"""Single pledges of a company, which are not stored: requested from the portal, shared for an hour."""

from typing import Any

from serving_api.framework.read_failures import read_or
from serving_api.live.admin_reads.service import Live
from serving_api.live.clients import EASTMONEY, Answered
from serving_api.live.frame_values import is_empty, number, records, text, whole

TTL = 3600.0
_NOTHING: list[dict[str, Any]] = []


async def pledge_events(live: Live, code: str) -> Answered:
    """Every pledge of shares of a company, newest notice first; [] when the portal does not answer."""
    landed = await read_or(None, live.single_flight.take(("pledges", code), TTL, lambda: _asked(live, code)))
    found: Answered = Answered(_NOTHING) if landed is None else landed.value
    return found


async def _asked(live: Live, code: str) -> Answered:
    answer = await live.clients.ask(
        {EASTMONEY: lambda client: client.pledge_events(code)}, order=(EASTMONEY,), empty=is_empty
    )
    return answer.shaped([_shown(row) for row in records(answer.value)])


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "holder": text(row["holder"]),
        "pledge_shares": whole(row["pledge_shares"]),
        "ratio_total_pct": number(row["ratio_total_pct"]),
        "ratio_hold_pct": number(row["ratio_hold_pct"]),
        "pledgee": text(row["pledgee"]),
        "start_date": text(row["start_date"]),
        "release_date": None,
        "status": text(row["status"]),
    }
