"""RPT_PUBLIC_BS_APPOIN: planned and actual disclosure dates of a quarter end.

Plans are known from five days after the quarter's end; one company in five has moved its date once. The
actual date is published from that day on.
"""

import zlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from resources.simulated_market.eastmoney.fields import TRADE_MARKETS
from resources.simulated_market.wire import View
from resources.simulated_market.world.model import Security

_DEADLINES = {331: 430, 630: 831, 930: 1031, 1231: 430}
_PLANNED_AFTER = timedelta(days=5)


def schedule_rows(view: View, clauses: Sequence[tuple[str, str, list[str]]]) -> list[dict[str, Any]]:
    """Rows of the quarter end that the clauses name; none without one."""
    periods = [values[0][:10] for name, how, values in clauses if (name, how) == ("REPORT_DATE", "=")]
    try:
        end = date.fromisoformat(periods[0])
    except (IndexError, ValueError):
        return []
    if end.month * 100 + end.day not in _DEADLINES or view.now < _at(end) + _PLANNED_AFTER:
        return []
    found = []
    for security in view.world.securities(view.now):
        actual = _published(view, security, end) if security.kind == "stock" else None
        if actual is not None:
            found.append(_row(view, security, end, actual))
    return found


def _published(view: View, security: Security, end: date) -> date | None:
    """When the company publishes its report of this quarter end, within its term."""
    deadline = _DEADLINES[end.month * 100 + end.day]
    year = end.year + (end.month == 12)
    asked = datetime(year, deadline // 100, deadline % 100, 23)
    for _ in range(2):
        known = view.world.finance(security, asked)
        if known is None or known.report_date < int(end.strftime("%Y%m%d")):
            return None
        day = datetime.strptime(str(known.published), "%Y%m%d")
        if known.report_date == int(end.strftime("%Y%m%d")):
            return day.date()
        # The report of the quarter after it came out in the same weeks: look before that.
        asked = day - timedelta(hours=1)
    return None


def _row(view: View, security: Security, end: date, actual: date) -> dict[str, Any]:
    moved = zlib.crc32(f"{security.symbol} {end}".encode()) % 5 == 0
    first = actual + timedelta(days=3) if moved else actual
    return {
        "SECURITY_CODE": security.code,
        "SECUCODE": f"{security.code}.{security.market}",
        "SECURITY_NAME_ABBR": view.world.name(security, view.now),
        "SECURITY_TYPE_CODE": "058001001",
        "TRADE_MARKET_CODE": TRADE_MARKETS[security.board][security.market != "SH"],
        "REPORT_DATE": _shown(end),
        "FIRST_APPOINT_DATE": _shown(first),
        "FIRST_CHANGE_DATE": _shown(actual) if moved else None,
        "SECOND_CHANGE_DATE": None,
        "THIRD_CHANGE_DATE": None,
        "ACTUAL_PUBLISH_DATE": _shown(actual) if _at(actual) <= view.now else None,
    }


def _at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _shown(day: date) -> str:
    return f"{day} 00:00:00"
