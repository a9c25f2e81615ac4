"""A sentence to a query, by rules: known names of fields, numbers, words of comparison, set phrases.

What the rules do not understand is listed, never guessed.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from platform_assets.compute.dsl import spoken
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.written import written
from platform_assets.compute.language import LanguageError
from platform_assets.compute.parameters.screener import MAX_LIMIT

EVERYTHING = "code is not null"
_FULL_WIDTH = str.maketrans("（），。＞＜＝％；：！０１２３４５６７８９　", "(),,><=%;:!0123456789 ")
_FALLING = re.compile(rf"{spoken.LINK}(?:由|从)?(?:高到低|大到小|多到少|降序|最高|最大|最多)(?:排序|排列)?")
_RISING = re.compile(rf"{spoken.LINK}(?:由|从)?(?:低到高|小到大|少到多|升序|最低|最小|最少)(?:排序|排列)?")
_SORTED = re.compile(rf"{spoken.LINK}(?:排序|排名|排列)")
_FIRST = re.compile(r"(?:排名)?(?:前|top\s*)(\d+)\s*(?:名|只|个|位)?")
_FILLERS = spoken.Names(spoken.FILLERS)


@dataclass(frozen=True)
class Translation:
    """`query` is '' where nothing was understood."""

    query: str
    unmatched: tuple[str, ...]


@dataclass
class _Heard:
    """Conditions understood so far. All of `conditions` must hold, of each of these one, and of that all
    parts: a written `and` binds closest, as in the language, then `or`; a comma, or nothing at all, sets
    apart. `join`: what was said since the last condition. `gap`: where the words began that were not
    understood, -1 behind one that was."""

    text: str
    industries: spoken.Industries
    conditions: list[list[list[str]]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    limit: int | None = None
    join: Literal["", "apart", "and", "or"] = ""
    unmatched: list[str] = field(default_factory=list)
    at: int = 0
    gap: int = -1

    def words(self) -> None:
        """Take what comes next: understood, or into the gap."""
        before = self.at
        found = spoken.condition_at(self.text, before, self.industries)
        if found is not None and self._is_turned():
            self.at = found.end
        elif found is not None:
            self._add(found.condition)
            self._understood(found.end)
        elif end := self._order() or self._first() or self._filler():
            self._understood(end)
        else:
            self.gap = before if self.gap < 0 else self.gap
            self.at = spoken.word_end(self.text, before)

    def _add(self, condition: str) -> None:
        if self.join == "or" and self.conditions:
            self.conditions[-1].append([condition])
        elif self.join == "and" and self.conditions:
            self.conditions[-1][-1].append(condition)
        else:
            self.conditions.append([[condition]])
        self.join = ""

    def _is_turned(self) -> bool:
        """Whether words that were not understood may say the opposite of what follows (不太可能涨停)."""
        return self.gap >= 0 and not spoken.NEGATIVE.isdisjoint(self.text[self.gap : self.at])

    def _understood(self, end: int) -> None:
        self.close_gap()
        self.at = end

    def close_gap(self) -> None:
        if self.gap >= 0:
            self.unmatched.append(self.text[self.gap : self.at].strip())
            self.gap = -1

    def _order(self) -> int | None:
        name = spoken.field_names().at(self.text, self.at)
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
        for word in ("或者", "或"):
            if self.text.startswith(word, self.at):
                self.join = "or"
                return self.at + len(word)
        filler = _FILLERS.at(self.text, self.at)
        if filler is None and not self.text[self.at].isspace():
            return None
        # Behind a comma, or before a bracket, a word for `and` sets apart as they do.
        if not self.join and filler in spoken.JOINING:
            self.join = "and"
        elif (not self.join and filler in spoken.SEPARATING) or (self.join == "and" and filler == "("):
            self.join = "apart"
        return self.at + len(filler or " ")

    def query(self) -> str:
        if not (self.conditions or self.order or self.limit):
            return ""
        where = (
            " and ".join(_any_of([_all_of(part) for part in one]) for one in self.conditions) or EVERYTHING
        )
        order = f" order by {', '.join(dict.fromkeys(self.order))}" if self.order else ""
        limit = "" if self.limit is None else f" limit {self.limit}"
        return written(parse(where + order + limit))


def _all_of(conditions: Sequence[str]) -> str:
    return " and ".join(f"({one})" for one in conditions)


def _any_of(conditions: Sequence[str]) -> str:
    return f"({' or '.join(conditions)})" if len(conditions) > 1 else conditions[0]


def translated(sentence: str, industries: Collection[str] = ()) -> Translation:
    """The query of a sentence. `industries` are the names of industries as they are stored."""
    text = sentence.translate(_FULL_WIDTH).lower()
    heard = _Heard(text, spoken.Industries(industries))
    while heard.at < len(text):
        heard.words()
    heard.close_gap()
    try:
        query = heard.query()
    except LanguageError:  # too long
        return Translation("", (sentence.strip(),))
    return Translation(query, tuple(dict.fromkeys(word for word in heard.unmatched if word)))
