"""A sentence to a query, by rules: known names of fields, numbers, words of comparison, set phrases.

What the rules do not understand is listed, never guessed.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache

from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.phrases import FILLERS, PHRASES
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import LanguageError
from platform_assets.compute.parameters.screener import MAX_LIMIT

EVERYTHING = "code is not null"
_FULL_WIDTH = str.maketrans("（），。＞＜＝％；：、０１２３４５６７８９　", "(),,><=%;:,0123456789 ")
_NUMBER = r"(-?\d+(?:\.\d+)?)\s*(%|亿|万|倍|元|块|天|日|手|次|个|只|分|点)?"
_AT_LEAST = "大于等于|不低于|不少于|不小于|大于|超过|高于|多于|至少|>=|≥|>"
_AT_MOST = "小于等于|不超过|不高于|不大于|小于|低于|少于|至多|<=|≤|<"
_LINK = r"(?:的|在|为|是|:|\s)*"
_BETWEEN = re.compile(rf"{_LINK}(?:介于)?{_NUMBER}\s*(?:到|至|~|-|和)\s*{_NUMBER}(?:之间)?")
_BEFORE = re.compile(rf"{_LINK}({_AT_LEAST}|{_AT_MOST}|等于|=)\s*{_NUMBER}")
_BEHIND = re.compile(rf"{_LINK}{_NUMBER}\s*(及以上|以上|及以下|以下|以内)")
_FALLING = re.compile(rf"{_LINK}(?:由|从)?(?:高到低|大到小|多到少|降序|最高|最大|最多)(?:排序|排列)?")
_RISING = re.compile(rf"{_LINK}(?:由|从)?(?:低到高|小到大|少到多|升序|最低|最小|最少)(?:排序|排列)?")
_SORTED = re.compile(rf"{_LINK}(?:排序|排名|排列)")
_FIRST = re.compile(r"(?:排名)?(?:前|top\s*)(\d+)\s*(?:名|只|个|位)?")
_ABOVE = frozenset(_AT_LEAST.split("|")) | {"以上", "及以上"}
_UNITS = {"%": "%", "亿": "亿", "万": "万"}
_ALNUM = re.compile(r"[a-z0-9_]")


@dataclass(frozen=True)
class Translation:
    """`query` is '' where nothing was understood."""

    query: str
    unmatched: tuple[str, ...]


@dataclass
class _Heard:
    """What was understood so far; `joins[i]` stands before the condition i."""

    conditions: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    limit: int | None = None
    join: str = "and"
    unmatched: list[str] = field(default_factory=list)
    at: int = 0
    gap: int = -1

    def add(self, condition: str) -> bool:
        """Whether it is a condition indeed (an amount beside a percent is none)."""
        try:
            parse(condition)
        except LanguageError:
            return False
        self.conditions.append(condition)
        self.joins.append(self.join)
        self.join = "and"
        return True

    def query(self) -> str:
        if not (self.conditions or self.order or self.limit):
            return ""
        where = EVERYTHING
        for at, (join, condition) in enumerate(zip(self.joins, self.conditions, strict=True)):
            held = f"({condition})" if " and " in condition and "between" not in condition else condition
            where = held if at == 0 else f"{where} {join} {held}"
        order = f" order by {', '.join(dict.fromkeys(self.order))}" if self.order else ""
        limit = "" if self.limit is None else f" limit {self.limit}"
        return written(parse(where + order + limit))


def translated(sentence: str, industries: Collection[str] = ()) -> Translation:
    """The query of a sentence. `industries` are the names that stand for an industry."""
    text = sentence.translate(_FULL_WIDTH).lower()
    heard = _Heard()
    while heard.at < len(text):
        before = heard.at
        if (
            _phrase(text, heard)
            or _about_field(text, heard)
            or _first(text, heard)
            or _industry(text, heard, industries)
            or _filler(text, heard)
        ):
            if heard.gap >= 0:
                heard.unmatched.append(text[heard.gap : before].strip())
                heard.gap = -1
            continue
        if heard.gap < 0:
            heard.gap = heard.at
        heard.at += _word(text, heard.at)
    if heard.gap >= 0:
        heard.unmatched.append(text[heard.gap :].strip())
    try:
        query = heard.query()
    except LanguageError:  # too long
        return Translation("", (sentence.strip(),))
    return Translation(query, tuple(dict.fromkeys(word for word in heard.unmatched if word)))


def _word(text: str, at: int) -> int:
    """Characters of what stands here: a Latin word or number as a whole."""
    end = at + 1
    while _ALNUM.match(text[at]) and end < len(text) and _ALNUM.match(text[end]):
        end += 1
    return end - at


def _longest(text: str, at: int, names: Collection[str], longest: int) -> str | None:
    """The longest of the names that stands here; a Latin one as a whole word."""
    for length in range(min(longest, len(text) - at), 0, -1):
        name = text[at : at + length]
        if name not in names:
            continue
        opens = at > 0 and _ALNUM.match(name[0]) and _ALNUM.match(text[at - 1])
        closes = at + length < len(text) and _ALNUM.match(name[-1]) and _ALNUM.match(text[at + length])
        if not opens and not closes:
            return name
    return None


def _phrase(text: str, heard: _Heard) -> bool:
    name = _longest(text, heard.at, PHRASES, _most(tuple(PHRASES)))
    if name is None:
        return False
    known = _longest(text, heard.at, _names(), _most(_names()))
    if known is not None and len(known) > len(name):
        return False
    # `连板大于3` is about the field, `连板` alone is the phrase.
    if known == name and _about_field(text, heard):
        return True
    heard.at += len(name)
    return heard.add(PHRASES[name])


def _about_field(text: str, heard: _Heard) -> bool:
    name = _longest(text, heard.at, _names(), _most(_names()))
    if name is None:
        return False
    known = catalogue().names[name]
    behind = heard.at + len(name)
    if known.kind == "number":
        for pattern, build in ((_BETWEEN, _range), (_BEFORE, _compared), (_BEHIND, _compared_behind)):
            match = pattern.match(text, behind)
            if match and heard.add(build(known.name, match)):
                heard.at = match.end()
                return True
    for pattern, way in ((_FALLING, "desc"), (_RISING, "asc"), (_SORTED, "desc")):
        match = pattern.match(text, behind)
        if match:
            heard.order.append(f"{known.name} {way}")
            heard.at = match.end()
            return True
    if _FIRST.match(text, behind):
        heard.order.append(f"{known.name} desc")
        heard.at = behind
        return True
    return False


def _range(name: str, match: re.Match[str]) -> str:
    low, low_unit, high, high_unit = match.groups()
    unit = high_unit or low_unit
    return f"{name} between {_amount(low, low_unit or unit)} and {_amount(high, unit)}"


def _compared(name: str, match: re.Match[str]) -> str:
    word, number, unit = match.groups()
    sign = "=" if word in {"等于", "="} else ">=" if word in _ABOVE else "<="
    return f"{name} {sign} {_amount(number, unit)}"


def _compared_behind(name: str, match: re.Match[str]) -> str:
    number, unit, word = match.groups()
    return f"{name} {'>=' if word in _ABOVE else '<='} {_amount(number, unit)}"


def _amount(number: str, unit: str | None) -> str:
    return number + _UNITS.get(unit or "", "")


def _first(text: str, heard: _Heard) -> bool:
    match = _FIRST.match(text, heard.at)
    if match is None or not 1 <= int(match[1][:6]) <= MAX_LIMIT:
        return False
    heard.limit = int(match[1])
    heard.at = match.end()
    return True


def _industry(text: str, heard: _Heard, industries: Collection[str]) -> bool:
    name = _longest(text, heard.at, industries, _most(tuple(industries)))
    if name is None or "'" in name:
        return False
    heard.at += len(name)
    return heard.add(f"industry = '{name}'")


def _filler(text: str, heard: _Heard) -> bool:
    for word, join in (("或者", "or"), ("或", "or")):
        if text.startswith(word, heard.at):
            heard.join = join
            heard.at += len(word)
            return True
    filler = _longest(text, heard.at, FILLERS, _most(tuple(FILLERS)))
    if filler is None and not text[heard.at].isspace():
        return False
    heard.at += len(filler or " ")
    return True


@cache
def _names() -> tuple[str, ...]:
    return tuple(catalogue().names)


def _most(names: tuple[str, ...]) -> int:
    return max((len(name) for name in names), default=0)
