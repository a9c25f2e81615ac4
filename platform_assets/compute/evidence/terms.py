"""Words of finance in a text, and the labels of facts that they may precede."""

import re

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
