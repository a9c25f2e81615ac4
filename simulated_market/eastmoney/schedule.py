"""RPT_PUBLIC_BS_APPOIN: planned and actual disclosure dates of a quarter end.

Plans are known from five days after the quarter's end; one company in five has moved its date once. The
actual date is published from that day on.
"""

from datetime import date, datetime, timedelta

from simulated_market.draws import drawn
from simulated_market.eastmoney.columns import SHARE, identity, trade_market
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.wire import Row, View
from simulated_market.world.dates import date_of
from simulated_market.world.model import Security

_DEADLINES = {331: 430, 630: 831, 930: 1031, 1231: 430}
_PLANNED_AFTER = timedelta(days=5)


def schedule_rows(view: View, conditions: Conditions) -> list[Row]:
    """Rows of the quarter end that the conditions name; none without one."""
    number = conditions.day("REPORT_DATE")
    if number is None or number % 10_000 not in _DEADLINES:
        return []
    end = date_of(number)
    if view.now < _at(end) + _PLANNED_AFTER:
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


def _row(view: View, security: Security, end: date, actual: date) -> Row:
    moved = drawn(security.symbol, end) % 5 == 0
    first = actual + timedelta(days=3) if moved else actual
    return {
        **identity(security, view.world.name(security, view.now), code_first=True),
        "SECURITY_TYPE_CODE": SHARE,
        "TRADE_MARKET_CODE": trade_market(security),
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
