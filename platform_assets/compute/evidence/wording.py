"""How a stored value is said in Chinese: the number with the unit that readers of this market expect."""

import re
from dataclasses import replace

from platform_assets.compute.evidence.facts import COUNT, Fact, Pack

_YI, _WAN = 1e8, 1e4
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
IN_CNY = {"CNY": 1.0, "wan": _WAN, "yi": _YI}
"""Unit of a declaration -> CNY."""
IN_SHARES = {"sh": 1.0, "lot": 100.0, "yi_sh": _YI}
"""Unit of a declaration -> shares."""
ABSENT = "—"


def said(fact: Fact) -> str:
    """The value as text, two decimals where it is no count; a dash for what is not there."""
    value = fact.number
    if value is None:
        return ABSENT if fact.value is None else str(fact.value)
    if fact.unit == COUNT:
        return f"{value:.0f}"
    if fact.unit == "pct":
        return f"{value:.2f}%"
    for units, word in ((IN_CNY, "元"), (IN_SHARES, "股")):
        if fact.unit in units:
            return _scaled(value * units[fact.unit], word)
    return f"{value:.2f}"


def change(fact: Fact) -> str:
    """`上涨1.23%`, `下跌0.45%`, `持平`; of a change in percent."""
    value = fact.number
    if value is None:
        return f"涨跌幅{ABSENT}"
    if round(value, 2) == 0:
        return "持平"
    return f"{'上涨' if value > 0 else '下跌'}{abs(value):.2f}%"


def flow(fact: Fact) -> str:
    """`净流入1.23亿元`, `净流出0.45亿元`; of an amount with a sign."""
    value = fact.number
    if value is None:
        return f"资金流向{ABSENT}"
    size = _scaled(abs(value) * IN_CNY[fact.unit], "元")
    return f"{'净流入' if value >= 0 else '净流出'}{size}"


def _scaled(value: float, word: str) -> str:
    if abs(value) >= _YI:
        return f"{value / _YI:.2f}亿{word}"
    if abs(value) >= _WAN:
        return f"{value / _WAN:.2f}万{word}"
    return f"{value:.2f}{word}"


_PLACEHOLDER = re.compile(r"[{｛]{1,2}\s*(E\d+)\s*[}｝]{1,2}(?:\[\1\])?")
_FALLS = re.compile(r"(?:(?<!涨)跌|降|减少|流出|亏损|回落|净卖出)(?:了|约|近|幅为?|额为?)?$")


def filled(text: str, pack: Pack) -> str:
    """`市盈率{{E9}}` -> `市盈率21.53[E9]`: the stored value with its unit, its day where that is not the
    pack's, and the citation. An id that the pack does not have stays as a citation."""
    facts = {fact.id: fact for fact in pack.facts}

    def value(found: re.Match[str]) -> str:
        fact = facts.get(found[1])
        if fact is None:
            return f"[{found[1]}]"
        number, before = fact.number, found.string[max(0, found.start() - 6) : found.start()]
        if number is not None and number < 0 and _FALLS.search(before):
            fact = replace(fact, value=-number)  # 下跌-1.23% says it twice
        day = fact.as_of[:10]
        is_said = day == pack.as_of[:10] or not _DAY.fullmatch(day) or _says(found.string, found.start(), day)
        return f"{said(fact)}{'' if is_said else f'（{day}）'}[{found[1]}]"

    return _PLACEHOLDER.sub(value, text)


def _says(text: str, at: int, day: str) -> bool:
    """Whether the line up to a place names the day already."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    year, month, date = (str(int(part)) for part in day.split("-"))
    return day in line or f"{month}月{date}日" in line or f"{year}年{month}月{date}日" in line


_GROUP = re.compile(r"[\[【［(（]\s*(E\d+(?:\s*[,，、;；/和及&\s]\s*E\d+)*)\s*[\]】］)）]")
_ID = re.compile(r"E\d+")
_AFTER_THE_END = re.compile(r"([。！？；!?]+)\s*((?:\[E\d+\]\s*)+)")


def plain_citations(text: str) -> str:
    """`收于3000点。【E1、E2】` -> `收于3000点[E1][E2]。`"""
    text = _GROUP.sub(lambda found: "".join(f"[{one}]" for one in _ID.findall(found[1])), text)
    return _AFTER_THE_END.sub(lambda found: found[2].strip() + found[1], text)
