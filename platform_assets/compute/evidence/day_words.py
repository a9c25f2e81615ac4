"""Days that a text names relative to its own: today, yesterday, last week, tomorrow."""

import re
from datetime import date, timedelta

_TODAY = "今日|今天|今早|当日|当天"
_DAY_BEFORE = "昨日|昨天|前日|前天"
_WORDS = re.compile(
    rf"(?P<today>{_TODAY})|(?<![较比与和同])(?:(?P<before>{_DAY_BEFORE})|(?P<last_week>上周)"
    r"|(?P<last_month>上月|上个月)|(?P<later>明日|明天|后天|下周|下月|下个月))"
)
"""较昨日 compares and says no day of its own."""


def is_of_named_day(text: str, at: int, as_of: str, now: str) -> bool:
    """Whether a value of `as_of` is of the day that the text names for the value at `at`: by the last such
    word before it, else by 今日 anywhere. `now` is the day of the text."""
    words = list(_WORDS.finditer(text))
    before = [one for one in words if one.end() <= at] or [one for one in words if one["today"]]
    if not before:
        return True
    day, today = as_of[:10], now[:10]
    match before[-1].lastgroup:
        case "today":
            return day == today
        case "before":
            return day < today
        case "last_month":
            return day[:7] < today[:7]
        case "last_week":
            monday = date.fromisoformat(today)
            return day < (monday - timedelta(days=monday.weekday())).isoformat()
        case _:
            return day > today
