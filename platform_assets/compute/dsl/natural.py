"""A sentence to a query, by rules: known names of fields, numbers, words of comparison, set phrases.

What the rules do not understand is listed, never guessed.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.phrases import FILLERS
from platform_assets.compute.dsl.spoken import (
    LINK,
    NEGATIVE,
    Names,
    condition_at,
    field_names,
    word_end,
)
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import LanguageError
from platform_assets.compute.parameters.screener import MAX_LIMIT

EVERYTHING = "code is not null"
_FULL_WIDTH = str.maketrans("（），。＞＜＝％；：！０１２３４５６７８９　", "(),,><=%;:!0123456789 ")
_FALLING = re.compile(rf"{LINK}(?:由|从)?(?:高到低|大到小|多到少|降序|最高|最大|最多)(?:排序|排列)?")
_RISING = re.compile(rf"{LINK}(?:由|从)?(?:低到高|小到大|少到多|升序|最低|最小|最少)(?:排序|排列)?")
_SORTED = re.compile(rf"{LINK}(?:排序|排名|排列)")
_FIRST = re.compile(r"(?:排名)?(?:前|top\s*)(\d+)\s*(?:名|只|个|位)?")
_FILLERS = Names(FILLERS)


@dataclass(frozen=True)
class Translation:
    """`query` is '' where nothing was understood."""

    query: str
    unmatched: tuple[str, ...]


@dataclass
class _Heard:
    """What was understood so far; `joins[i]` stands before the condition i. `gap`: where the words began that
    were not, -1 behind one that was."""

    text: str
    industries: Names
    conditions: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    limit: int | None = None
    join: str = "and"
    unmatched: list[str] = field(default_factory=list)
    at: int = 0
    gap: int = -1

    def words(self) -> None:
        """Take what comes next: understood, or into the gap."""
        before = self.at
        found = condition_at(self.text, before, self.industries)
        if found is not None and self._is_turned():
            self.at = found.end
        elif found is not None:
            self.conditions.append(found.condition)
            self.joins.append(self.join)
            self.join = "and"
            self._understood(found.end)
        elif end := self._order() or self._first() or self._filler():
            self._understood(end)
        else:
            self.gap = before if self.gap < 0 else self.gap
            self.at = word_end(self.text, before)

    def _is_turned(self) -> bool:
        """Whether words that were not understood may say the opposite of what follows (不太可能涨停)."""
        return self.gap >= 0 and not NEGATIVE.isdisjoint(self.text[self.gap : self.at])

    def _understood(self, end: int) -> None:
        self.close_gap()
        self.at = end

    def close_gap(self) -> None:
        if self.gap >= 0:
            self.unmatched.append(self.text[self.gap : self.at].strip())
            self.gap = -1

    def _order(self) -> int | None:
        name = field_names().at(self.text, self.at)
        if name is None:
            return None
        known, behind = catalogue().names[name], self.at + len(name)
        for pattern, way in ((_FALLING, "desc"), (_RISING, "asc"), (_SORTED, "desc")):
            match = pattern.match(self.text, behind)
            if match:
                self.order.append(f"{known.name} {way}")
                return match.end()
        if _FIRST.match(self.text, behind):
            self.order.append(f"{known.name} desc")
            return behind
        return None

    def _first(self) -> int | None:
        match = _FIRST.match(self.text, self.at)
        if match is None or not 1 <= int(match[1][:6]) <= MAX_LIMIT:
            return None
        self.limit = int(match[1])
        return match.end()

    def _filler(self) -> int | None:
        for word, join in (("或者", "or"), ("或", "or")):
            if self.text.startswith(word, self.at):
                self.join = join
                return self.at + len(word)
        filler = _FILLERS.at(self.text, self.at)
        if filler is None and not self.text[self.at].isspace():
            return None
        return self.at + len(filler or " ")

    def query(self) -> str:
        if not (self.conditions or self.order or self.limit):
            return ""
        where = EVERYTHING
        for at, (join, condition) in enumerate(zip(self.joins, self.conditions, strict=True)):
            where = f"({condition})" if at == 0 else f"{where} {join} ({condition})"
        order = f" order by {', '.join(dict.fromkeys(self.order))}" if self.order else ""
        limit = "" if self.limit is None else f" limit {self.limit}"
        return written(parse(where + order + limit))


def translated(sentence: str, industries: Collection[str] = ()) -> Translation:
    """The query of a sentence. `industries` are the names that stand for an industry."""
    text = sentence.translate(_FULL_WIDTH).lower()
    heard = _Heard(text, Names(industries))
    while heard.at < len(text):
        heard.words()
    heard.close_gap()
    try:
        query = heard.query()
    except LanguageError:  # too long
        return Translation("", (sentence.strip(),))
    return Translation(query, tuple(dict.fromkeys(word for word in heard.unmatched if word)))
