"""How a stored value is said in Chinese: the number with the unit that readers of this market expect."""

import re

from platform_assets.compute.evidence.facts import COUNT, Fact

_YI, _WAN = 1e8, 1e4
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


_GROUP = re.compile(r"[\[【［(（]\s*(E\d+(?:\s*[,，、;；/和及&\s]\s*E\d+)*)\s*[\]】］)）]")
_ID = re.compile(r"E\d+")
_AFTER_THE_END = re.compile(r"([。！？；!?]+)\s*((?:\[E\d+\]\s*)+)")


def plain_citations(text: str) -> str:
    """`收于3000点。【E1、E2】` -> `收于3000点[E1][E2]。`"""
    text = _GROUP.sub(lambda found: "".join(f"[{one}]" for one in _ID.findall(found[1])), text)
    return _AFTER_THE_END.sub(lambda found: found[2].strip() + found[1], text)
