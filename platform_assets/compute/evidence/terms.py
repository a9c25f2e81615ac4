"""Words of a text beside its numbers: terms of finance and the labels of facts that they may precede, words
for days, cells of tables."""

import re
from datetime import date, timedelta

_TERMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("市盈率|PE(?![A-Za-z])", ("市盈率",)),
    ("市净率|PB(?![A-Za-z])", ("市净率",)),
    ("市销率|PS(?![A-Za-z])", ("市销率",)),
    ("净资产收益率|ROE", ("净资产收益率",)),
    ("总资产收益率|ROA", ("总资产收益率",)),
    ("净利润率|净利率", ("净利率",)),
    ("净利润(?!率)|净利(?![润率])", ("净利润",)),
    ("营业收入|营收", ("营业收入",)),
    ("毛利率", ("毛利率",)),
    ("负债率", ("负债率",)),
    ("股息率", ("股息率",)),
    ("换手率", ("换手",)),
    ("成交额|成交金额", ("成交额", "成交金额")),
    ("成交量", ("成交量",)),
    ("市值", ("市值",)),
    ("现金流", ("现金流",)),
    ("每股收益|EPS", ("每股收益",)),
)
"""(words of texts, what the label of a fact has to hold)."""
_COUNTED = (("上涨", "下跌"), ("涨停", "跌停"))
"""Counts that a text names by the first half of their label: 上涨3000家."""


def terms(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """(end, length, what a label has to hold) of every term in the text."""
    return [
        (found.end(), found.end() - found.start(), stems)
        for words, stems in _TERMS for found in re.finditer(words, text, re.IGNORECASE)
    ]  # fmt: skip


def is_the_other_count(near: str, label: str) -> bool:
    """Whether the text counts those that rise and the label those that fall, or the other way round."""
    for pair in _COUNTED:
        reported = max(pair, key=near.rfind)
        other = pair[1 - pair.index(reported)]
        if reported in near and label.startswith(other):
            return True
    return False


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


class TableHead:
    """Reads a text line by line and keeps the head of the table that a line is in."""

    def __init__(self) -> None:
        self._head: list[str] | None = None

    def before(self, line: str) -> list[str]:
        """Cells of the head above this line; [] for the head itself and outside a table."""
        if not line.lstrip().startswith("|"):
            self._head = None
            return []
        if self._head is None:
            self._head = cells(line)
            return []
        return self._head


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def words_of_cell(head: list[str], line_before: str) -> tuple[str, str]:
    """(first cell of the row, cell of the head) for the text after `line_before`; '' where there is none."""
    column = line_before.count("|") - 1
    if not 0 < column < len(head):
        return "", ""
    return cells(line_before)[0], head[column]
