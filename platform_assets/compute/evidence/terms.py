"""Words of a text beside its numbers: what a figure is of, which day or period, cells of tables."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from platform_assets.compute.evidence.facts import Fact

_TERMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"市盈率|P/?E(?![A-Za-z])", ("市盈率",)),
    (r"市净率|P/?B(?![A-Za-z])", ("市净率",)),
    (r"市销率|P/?S(?![A-Za-z])", ("市销率",)),
    (r"净资产收益率|ROE", ("净资产收益率",)),
    ("总资产收益率|ROA", ("总资产收益率",)),
    ("净利润率|净利率|net margin", ("净利率",)),
    ("净利润(?!率)|净利(?![润率])|net profit", ("净利润",)),
    ("营业收入|营收|revenue", ("营业收入",)),
    ("毛利率|gross margin", ("毛利率",)),
    ("负债率|debt ratio", ("负债率",)),
    ("股息率|dividend yield", ("股息率",)),
    ("换手率|turnover rate", ("换手",)),
    ("成交额|成交金额", ("成交额", "成交金额")),
    ("成交量", ("成交量",)),
    ("流通市值", ("流通市值",)),
    ("市值|market cap", ("市值",)),
    ("现金流", ("现金流",)),
    ("每股收益|EPS", ("每股收益",)),
    ("股价|现价|最新价|收盘价", ("最新价", "收盘价")),
    *((word, (word,)) for word in ("开盘", "上轨", "下轨", "点位", "质押比例", "商誉")),
    ("最高(?![点位])", ("最高",)),
    ("最低(?![点位])", ("最低",)),
    ("CPI", ("居民消费价格",)),
    ("PPI", ("工业品出厂价格",)),
    ("(?<!非)制造业PMI|manufacturing PMI", ("制造业采购",)),
    ("非制造业", ("非制造业",)),
    (r"5\s?年期以?上?\s?LPR|五年期|five-year LPR", ("五年期贷款",)),
    (r"1\s?年期\s?LPR|一年期|one-year LPR", ("一年期",)),
)
"""(words of texts, what the label of a fact has to hold)."""
_AVERAGE = re.compile(r"(\d{1,3})[日天]均线|(?<![A-Za-z])MA\s?[(（]?(\d{1,3})", re.IGNORECASE)
ALIASES = {
    "上证指数": "沪指|上证综指|Shanghai Composite", "深证成指": "深成指|Shenzhen Component",
    "创业板指": "创业板(?!指)|ChiNext",
}  # fmt: skip
"""Name of an index -> how texts name it as well."""
_NEEDED = tuple(
    (label, re.compile(words, re.IGNORECASE))
    for label, words in (
        ("分位", "分位|percentile"),
        ("预期|预测", r"预期|预计|预测|一致|估计|\d[Ee]|FY|forecast|expect|estimat|consensus"),
        ("同比", "同比|增|降|变化|year|yoy|grow|grew|rose|fell"),
    )
)
"""(part of a label, what a text about such a figure says): a forecast is no figure yet."""
_INDUSTRY = re.compile("行业|同业|板块|industry|sector|peers", re.IGNORECASE)
_OF_INDUSTRY = re.compile("(?:行业|同业|板块)[^，。；、：:]{0,8}$")


def terms(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """(end, length, what a label has to hold) of every term in the text."""
    found = [
        (one.end(), one.end() - one.start(), stems)
        for words, stems in _TERMS for one in re.finditer(words, text, re.IGNORECASE)
    ]  # fmt: skip
    return found + [(m.end(), m.end() - m.start(), (f"MA{m[1] or m[2]}",)) for m in _AVERAGE.finditer(text)]


def says_what_it_is(fact: Fact, near: str, sentence: str, *, is_companys: bool) -> bool:
    """False where a forecast, a percentile, a rate of growth or the industry's figure is said as the figure
    itself, or the other way round. `near`: the words before the figure, `sentence`: all of them."""
    if any(re.search(label, fact.label) and not words.search(sentence) for label, words in _NEEDED):
        return False
    if not is_companys:
        return True
    return bool(_INDUSTRY.search(near)) if fact.label.startswith("行业") else not _OF_INDUSTRY.search(near)


_Q = "一二三四"
_TIMES = re.compile(
    r"(?P<date>(?<!\d)\d{4}-\d{1,2}-\d{1,2}|(?<!\d)(?:\d{4}年)?\d{1,2}月\d{1,2}日)"
    r"|(?:(?P<year>(?:20|19)\d{2})年?)?"
    r"(?:(?P<half>上半年|前六个月|1[-—~至到]6月|中报|半年报|半年度|(?<![A-Za-z])H1(?!\d))"
    r"|(?P<first>第?一季[度报]|前三个月|1[-—~至到]3月|(?<![A-Za-z])Q1|一季度末)"
    r"|(?P<nine>三季报|前九个月|前三季度|三季度末)"
    r"|(?P<whole>全年|年报|年度(?=\S{0,4}(?:净利|营收|营业|利润))|full[- ]year)"
    rf"|(?P<single>第?[{_Q}]季度(?!末)|单季|(?<![A-Za-z])Q[234]))"
    r"|(?P<span>(?:近|过去|最近)\s?[\d一二两三四五六七八九十半]+\s?个?(?:交易日|日|天|周|月|季度|年)"
    r"|年初至今|今年以来|年内|本月|本周|累计)"
    r"|(?<!\d)(?P<month>\d{1,2})月(?!\d)"
    r"|(?P<today>今日|今天|今早|当日|当天)|(?<![较比与和同])(?:(?P<before>昨日|昨天|前日|前天|[前上]一(?:个?交易)?日)"
    r"|(?P<last_week>上周)|(?P<last_month>上月|上个月)|(?P<later>明日|明天|后天|下周|下月|下个月))",
    re.IGNORECASE,
)
"""A day, a period of reports, a span, a word for a day. 较昨日 compares and says no day of its own."""
_JOINED = 3
"""Days and periods so close to each other are named together."""
_MONTHS = {"half": "06", "first": "03", "nine": "09", "whole": "12", "single": ""}
_NOTE = re.compile(r"\d[^，。；\s]{0,4}[（(]$")
"""Before a day in brackets that only explains the figure in front of it."""


def is_of_named_time(text: str, fact: Fact, now: str) -> bool:
    """Whether a figure is of the day, period or span that the text before it named last."""
    found = [one for one in _TIMES.finditer(text) if not _NOTE.search(text[: one.start()])]
    if not found or not (how := found[-1].lastgroup):
        return True
    is_joined = (
        len(found) > 1
        and (  # 上半年与一季度相比
            found[-1].start() - found[-2].end() <= _JOINED
            or re.search("分别|对应|依次", text[found[-1].end() :]) is not None
        )
    )
    if is_joined and is_of_named_time(text[: found[-1].start()], fact, now):
        return True
    last, day, today = found[-1], fact.as_of[:10], now[:10]
    is_report, is_series = "report_period" in fact.key, "period_date" in fact.key
    is_until = re.search(r"(?:截至|as of)\s?$", text[: last.start()], re.IGNORECASE) is not None
    if how == "date":
        return _same_day(day, last["date"], is_until=is_until)
    if how in _MONTHS:
        is_year = not last["year"] or day[:4] == last["year"]
        return not is_report or (is_year and day[5:7] == _MONTHS[how])
    if how != "month" and (is_report or is_series):
        return True
    monday = date.fromisoformat(today)
    return {
        "month": is_report or day[5:7] == (last["month"] or "").zfill(2),
        "span": re.search(r"\d|[年月日]|TTM", fact.label) is not None,
        "today": day == today,
        "before": day < today,
        "last_month": day[:7] < today[:7],
        "last_week": day < (monday - timedelta(days=monday.weekday())).isoformat(),
        "later": day > today,
    }[how]


def _same_day(day: str, said: str, *, is_until: bool) -> bool:
    parts = [part.zfill(2) for part in re.findall(r"\d+", said)]
    wanted = "-".join(parts)
    return day[-len(wanted) :] == wanted or (is_until and day <= f"{day[:4]}-{wanted}"[-10:])


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


def places(text: str, names: Iterator[str] | list[str]) -> list[tuple[str, int, int]]:
    """(name, start, end) of every name in the text, longer names first served, in their order."""
    found: list[tuple[str, int, int]] = []
    for name in sorted(names, key=len, reverse=True):
        pattern = re.escape(name) + (f"|{ALIASES[name]}" if name in ALIASES else "")
        for one in re.finditer(pattern, text):
            if not any(start < one.end() and one.start() < end for _, start, end in found):
                found.append((name, one.start(), one.end()))
    return sorted(found, key=lambda one: one[1])
