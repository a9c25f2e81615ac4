"""Conditions in a sentence: the one that begins at a place, and whether it is denied."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from core.market.names import plain_industry
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.technical_fields import DIRECTIONS
from platform_assets.compute.language import LanguageError, end_of

_DIF = "ema(close, 12) - ema(close, 26)"
_DEA = f"ema({_DIF}, 9)"
_MACD_UP = f"{_DIF} > {_DEA} and ref({_DIF}, 1) <= ref({_DEA}, 1)"
_MACD_DOWN = f"{_DIF} < {_DEA} and ref({_DIF}, 1) >= ref({_DEA}, 1)"
_MEANS_UP = "ma(close, 5) > ma(close, 20) and ref(ma(close, 5), 1) <= ref(ma(close, 20), 1)"
_MEANS_DOWN = "ma(close, 5) < ma(close, 20) and ref(ma(close, 5), 1) >= ref(ma(close, 20), 1)"

# All but MACD, 低估值, 小盘, 超跌, 放量, 多头排列 and 非ST are ours.
PHRASES = {
    "金叉": _MACD_UP,
    "macd金叉": _MACD_UP,
    "死叉": _MACD_DOWN,
    "macd死叉": _MACD_DOWN,
    "均线金叉": _MEANS_UP,
    "均线死叉": _MEANS_DOWN,
    "低估值": "pe_ttm between 0 and 20",
    "小盘": "float_market_cap < 50亿",
    "大盘股": "float_market_cap >= 500亿",
    "超跌": "rsi6 < 20",
    "超买": "rsi6 > 80",
    "放量": "volume_ratio >= 1.5",
    "缩量": "volume_ratio <= 0.8",
    "多头排列": "ma5 > ma10 and ma10 > ma20 and ma20 > ma60",
    "空头排列": "ma5 < ma10 and ma10 < ma20 and ma20 < ma60",
    "st": "st",
    "非st": "not st",
    "破净": "pb between 0 and 1",
    "高股息": "dividend_yield >= 4%",
    "次新": "listed_days < 365",
    "涨停": "limit_days_today >= 1",
    "连板": "limit_days_today >= 2",
    "20日新高": "price >= hhv(high, 20)",
    "60日新高": "price >= hhv(high, 60)",
    "科创板": "code like '688%'",
    "创业板": "code like '30%'",
    "北交所": "market = 'BJ'",
    "沪市": "market = 'SH'",
    "深市": "market = 'SZ'",
    **{one.label: one.example for one in DIRECTIONS},
}
FILLERS = frozenset({
    "且", "并且", "而且", "同时", "和", "与", "及", "以及", "还有", ",", ";", "(", ")", ".", "!", "?", "的",
    "股票", "个股", "股", "公司", "选出", "找出", "查找", "筛选", "搜索", "选股", "、", "请", "帮我", "给我",
    "我要", "我想要", "我想", "哪些", "有哪些", "按", "按照", "根据", "行业", "板块", "形态", "最近", "近",
    "今日", "今天", "当前", "目前", "列出", "所有", "全部", "满足", "条件", "要求", "出现",
})  # fmt: skip
"""Words that say nothing about which stocks are meant."""
JOINING = frozenset({"且", "并且", "而且", "同时", "和", "与", "及", "以及"})
"""Those that join two conditions closer than `或` does."""
SEPARATING = frozenset({",", ";", ".", "!", "?", ")"})
"""Those behind which something new begins, of which all must hold too."""


_NUMBER = r"(-?\d+(?:\.\d+)?)\s*(%|亿|万|倍|元|块|天|日|手|次|个|只|分|点)?"
_AT_LEAST = "大于等于|大于或等于|不低于|不少于|不小于|至少|>=|≥"
_AT_MOST = "小于等于|小于或等于|不超过|不高于|不大于|至多|<=|≤"
_ABOVE = "大于|超过|高于|多于|>"
_BELOW = "小于|低于|少于|不足|不到|<"
_UNLIKE = "不等于|!=|≠|<>"
LINK = r"(?:的|在|为|是|:|\s)*"
# Read as a part of the comparison where it is one: 不超过 is no denial of 超过.
_DENIED = rf"(?:(不是|并非|没有|没|未|不|非){LINK})??"
_BETWEEN = re.compile(rf"{LINK}{_DENIED}(?:介于)?{_NUMBER}\s*(?:到|至|~|-|和)\s*{_NUMBER}(?:之间)?")
_BEFORE = re.compile(
    rf"{LINK}{_DENIED}({_AT_LEAST}|{_AT_MOST}|{_UNLIKE}|{_ABOVE}|{_BELOW}|等于|=)\s*{_NUMBER}"
)
_BEHIND = re.compile(rf"{LINK}{_DENIED}{_NUMBER}\s*(及以上|以上|及以下|以下|以内)")
_SIGNS = {
    **dict.fromkeys((*_AT_LEAST.split("|"), "以上", "及以上"), ">="),
    **dict.fromkeys((*_AT_MOST.split("|"), "以下", "及以下", "以内"), "<="),
    **dict.fromkeys(_UNLIKE.split("|"), "!="),
    **dict.fromkeys(_ABOVE.split("|"), ">"),
    **dict.fromkeys(_BELOW.split("|"), "<"),
    **{"=": "=", "等于": "="},
}
_UNITS = {"%": "%", "亿": "亿", "万": "万"}
_ALNUM = re.compile("[a-z0-9_]+")

_EXCEPT = "除了|除去|除"
_DENIAL = re.compile(
    rf"(?P<except>{_EXCEPT})|不属于|不处于|不包括|不包含|不是|不含|不要|不在|并非|没有|剔除|排除|去除|去掉"
    "|非|不|没|无|未"
)
_BEHIND_DENIAL = re.compile(r"(?:\s|是|在|有|最近|近|今日|今天|当前|目前|出现|行业|板块|形态)*")
_STOCKS = r"(?:股票|个股|股|行业|板块|的|\s)*"
_LIST = re.compile(rf"{_STOCKS}(?:或者|或|以及|和|与|及|、)\s*")
_OTHERS = re.compile(
    rf"{_STOCKS}(?:除外|以外|之外|外(?=的|[,;.!\s]|$)|(?:不要|剔除|排除|去掉)(?=[,;.!\s]|$))"
)
NEGATIVE = frozenset("不非没无未勿别除")
"""Characters of which one makes unknown words a possible denial of the condition after them."""


@dataclass(frozen=True)
class Spoken:
    """A condition of the language, and where in the sentence it ends."""

    condition: str
    end: int


class Names:
    """Words of which the longest counts."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._longest = max(map(len, self._names), default=0)

    def at(self, text: str, at: int) -> str | None:
        """The longest name at this position; a Latin one as a whole word."""
        for length in range(min(self._longest, len(text) - at), 0, -1):
            name = text[at : at + length]
            if name not in self._names:
                continue
            opens = at > 0 and _ALNUM.match(name[0]) and _ALNUM.match(text[at - 1])
            closes = at + length < len(text) and _ALNUM.match(name[-1]) and _ALNUM.match(text[at + length])
            if not opens and not closes:
                return name
        return None


class Industries(Names):
    """Names of industries, each with the mark of its level (白酒Ⅱ) and without; a sentence has them in small
    letters."""

    def __init__(self, names: Collection[str]) -> None:
        self._plain = {
            form.lower(): plain_industry(name) for name in names for form in (name, plain_industry(name))
        }
        super().__init__(self._plain)

    def plain_at(self, text: str, at: int) -> tuple[str, int] | None:
        """(the plain name of the industry that is named here, where its name ends)."""
        name = self.at(text, at)
        return None if name is None else (self._plain[name], at + len(name))


@cache
def field_names() -> Names:
    return Names(catalogue().names)


@cache
def _phrases() -> Names:
    return Names(PHRASES)


def word_end(text: str, at: int) -> int:
    """End of the word at this position: a Latin word or number as a whole, else one character."""
    return max(at + 1, end_of(_ALNUM, text, at))


def condition_at(text: str, at: int, industries: Industries) -> Spoken | None:
    """The condition that begins here, with its denial before or behind it. None where there is none, or
    where it is not clear what a denial covers."""
    found = _compared_at(text, at) or _among_at(text, at, industries) or _named_at(text, at, industries)
    if found is not None:
        others = _OTHERS.match(text, found.end)
        return found if others is None else Spoken(f"not ({found.condition})", others.end())
    denial = _DENIAL.match(text, at)
    if denial is None:
        return None
    start = end_of(_BEHIND_DENIAL, text, denial.end())
    only = _compared_at(text, start) or _named_at(text, start, industries)
    if only is None:
        return None
    denied, end = [only.condition], only.end
    # 不是银行或白酒 denies both.
    while (more := _LIST.match(text, end)) and (next_ := _named_at(text, more.end(), industries)):
        denied.append(next_.condition)
        end = next_.end
    others = _OTHERS.match(text, end)
    if others is not None and not denial["except"]:
        return None
    return Spoken(
        f"not ({' or '.join(f'({one})' for one in denied)})", end if others is None else others.end()
    )


def _named_at(text: str, at: int, industries: Industries) -> Spoken | None:
    """A set phrase, or the name of an industry."""
    phrase = _phrase_at(text, at)
    if phrase is not None:
        return Spoken(PHRASES[phrase], at + len(phrase))
    found = _industry_at(text, at, industries)
    return None if found is None else _if_one(f"industry = '{found[0]}'", found[1])


def _among_at(text: str, at: int, industries: Industries) -> Spoken | None:
    """Several industries in a row (银行和白酒): a stock has one, so it is any of them, however joined."""
    names: list[str] = []
    end, start = at, at
    while found := _industry_at(text, start, industries):
        names.append(found[0])
        end = found[1]
        more = _LIST.match(text, end)
        if more is None:
            break
        start = more.end()
    several = list(dict.fromkeys(names))
    if len(several) < 2:
        return None
    quoted = "', '".join(several)
    return _if_one(f"industry in ('{quoted}')", end)


def _phrase_at(text: str, at: int) -> str | None:
    """A set phrase that is no part of a longer field's name."""
    phrase, field = _phrases().at(text, at), field_names().at(text, at)
    return phrase if phrase is None or field is None or len(field) <= len(phrase) else None


def _industry_at(text: str, at: int, industries: Industries) -> tuple[str, int] | None:
    """(an industry's plain name, where it ends), where nothing else is meant."""
    found = industries.plain_at(text, at)
    if found is None or "'" in found[0] or _phrase_at(text, at) is not None:
        return None
    field = field_names().at(text, at)
    return None if field is not None and at + len(field) > found[1] else found


def _compared_at(text: str, at: int) -> Spoken | None:
    """A field of numbers with what it is compared with. `连板大于3` is about the field; `连板` alone, and any
    phrase that is longer than the field's name, is the phrase."""
    name = field_names().at(text, at)
    if name is None or len(name) < len(_phrases().at(text, at) or ""):
        return None
    known = catalogue().names[name]
    if known.kind != "number":
        return None
    for pattern, build in ((_BETWEEN, _range), (_BEFORE, _before), (_BEHIND, _behind)):
        match = pattern.match(text, at + len(name))
        if match:
            condition = f"{known.name} {build(*match.groups()[1:])}"
            found = _if_one(f"not ({condition})" if match[1] else condition, match.end())
            if found is not None:
                return found
    return None


def _if_one(condition: str, end: int) -> Spoken | None:
    """Only what the language takes is a condition: an amount compared with a percent is none."""
    try:
        parse(condition)
    except LanguageError:
        return None
    return Spoken(condition, end)


def _range(low: str, low_unit: str | None, high: str, high_unit: str | None) -> str:
    unit = high_unit or low_unit
    return f"between {_amount(low, low_unit or unit)} and {_amount(high, unit)}"


def _before(word: str, number: str, unit: str | None) -> str:
    return f"{_SIGNS[word]} {_amount(number, unit)}"


def _behind(number: str, unit: str | None, word: str) -> str:
    return _before(word, number, unit)


def _amount(number: str, unit: str | None) -> str:
    return number + _UNITS.get(unit or "", "")
