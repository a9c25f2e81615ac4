"""Every number of a text held against a pack of evidence.

A figure is one that the text points at (`{{E9}}`), or that it writes with a citation (`21.53倍[E9]`): the
citation says which fact it is. It is bound when it equals the fact within the precision that it is printed
with, and the words around it do not contradict: another metric, company, day, period or direction. Arithmetic
over several cited facts and words of the user are bound too. What is not bound is replaced by a dash.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from platform_assets.compute.evidence.arithmetic import arithmetic, in_unit
from platform_assets.compute.evidence.claims import Figure, denied
from platform_assets.compute.evidence.facts import COUNT, RATIO, Fact, Pack
from platform_assets.compute.evidence.numbers import Kind, Mention, day_of, mentions
from platform_assets.compute.evidence.terms import (
    TableHead,
    is_of_named_time,
    places,
    says_what_it_is,
    terms,
    words_of_cell,
)
from platform_assets.compute.evidence.wording import ABSENT, IN_CNY, IN_SHARES, said

CITATION = re.compile(r"\[(E\d+)\]")
_POINTER = re.compile(
    r"[{｛]{1,2}\s*(E\d+)\s*[}｝]{1,2}(?:\[\1\])?(?P<unit>\s?(?:[万亿]+[元股]?|元|股|%|[¥￥]))?"
)
_CITED_BEHIND = re.compile(
    r"[\s*”》\"」]{0,3}(?:[（(][^（）()\n]{0,12}[)）])?[\s*”》\"」]{0,3}((?:\[E\d+\])+)"
)
_SENTENCE = re.compile(r"(?:[^。！？；\n.]|\.(?! [A-Z]))*(?:\n|[。！？；.](?:\[E\d+\])*|$)")
"""Citations right behind its end belong to a sentence."""
_DOWN = re.compile(
    r"跌(?![破穿停])|降|减|下滑|下挫|流出|亏|回落|萎缩|净卖|缩量"
    r"|(?i:\b(?:down|fell|falls?|drops?|dropped|lost|loses|declin|outflow))"
)
_UP = re.compile(
    r"涨(?![停])|升|增(?![速幅])|上扬|流入|盈(?!率)|反弹|净买|放量|(?i:\b(?:up|rose|rises?|gain|added|climb|inflow))"
)
_TO_LEVEL = re.compile(r"[跌降升涨落减增][少加长低高]?(?:至|到)")
_FOR = re.compile(r"(?:\[E\d+\]|[\s()])*(?:for|at|by)\s")
_RISES = re.compile(r"(?:上|大|收|跟|普|领)涨(?:了|约|近|逾)?$")
_CHANGED = re.compile(
    r"(?:提升|上升|增加|增长|上涨|下降|减少|下跌|回落|上行|下行|扩大|收窄|提高)(?:了|约|近|超|逾|为)*$"
)
_IS_CHANGE = re.compile("同比|环比|变化|增|净[额流买占卖]|幅|家数|[涨跌]")
_SHARE = re.compile(r"占比|比例")
"""A share has no direction, whatever it is a share of."""
_ONLY_NUMBER = re.compile(r"[\d\s.,%+-]*.?")
"""No text that a quotation could hide numbers in."""
_PRICE_CHANGE = "涨跌幅"
_NEAR_LABEL = 32
"""So many characters before a number the label of a fact is looked for, up to the number before it."""
_NEAR = 8
"""So many characters before a number a word for its direction is looked for."""
_MOST_OFF = 0.25
"""A rounded number may be off by so much of the value, however coarse it is printed."""
_MOST_CITED = 6
_OPENING = '“"「『《‘'
_WORDS_OF_OTHERS = frozenset({"title", "content", "summary"})
"""Columns of news, announcements and flashes."""
_SHORTEST_NAME = 3
_SHORTEST_HEADLINE = 8
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Bound:
    """A number that has its evidence: ids of facts, or none where the user said it."""

    start: int
    end: int
    text: str
    facts: tuple[str, ...]
    how: str


@dataclass
class Checked:
    """`text` as it may be shown, what was bound in the text as it came, and what was not."""

    text: str
    bound: list[Bound] = field(default_factory=list)
    unbound: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    """Whom its last sentence that names somebody speaks of."""


def check(
    text: str,
    pack: Pack,
    *,
    cited: bool = True,
    words: str = "",
    names: Collection[str] = (),
    spoken: Sequence[str] = (),
) -> Checked:
    """`cited`: numbers bind to facts that their own sentence cites as `[E1]`; else to all of the pack.
    `words`: what the user said. `names`: all names of securities; one that neither pack nor user speaks of is
    not shown. `spoken`: whom the text before speaks of."""
    checked = Checked(text, spoken=list(spoken))
    given = {mention.text for mention in mentions(words)}
    out: list[tuple[int, int, str]] = []
    read = _without_quotes(text, pack, marked=cited)
    table, head, row = TableHead(), list[str](), 0
    for start, end in (found.span() for found in _SENTENCE.finditer(read) if found.group()):
        if start == 0 or read[start - 1] == "\n":
            head, row = table.before(read[start:].partition("\n")[0]), start
        sentence = _Sentence(
            read[start:end], text[start:end], pack, cited, checked.spoken, head, read[row:start]
        )
        gone = list(_strangers(sentence.text, pack, words, names))
        for mention in sentence.numbers():
            how = ("user", ()) if mention.text in given else sentence.bind(mention)
            if how is None:
                gone.append((mention.start, mention.end))
            else:
                checked.bound.append(
                    Bound(start + mention.start, start + mention.end, mention.text, how[1], how[0])
                )
        gone += sentence.denied() if cited else []
        gone += [one.span() for one in _POINTER.finditer(sentence.text) if one[1] not in sentence.known]
        gone = _merged(gone)
        for pointer in _POINTER.finditer(sentence.text):
            if any(a < pointer.end() and pointer.start() < b for a, b in gone):
                continue
            value = _written(sentence.known[pointer[1]], sentence, pointer)
            out.append((start + pointer.start(), start + pointer.end(), value))
        for a, b in gone:
            checked.unbound.append(text[start + a : start + b])
            out.append((start + a, start + b, ABSENT))
        checked.spoken = sentence.subjects_now or checked.spoken
    for a, b, shown in sorted(out, reverse=True):
        checked.text = checked.text[:a] + shown + checked.text[b:]
    return checked


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _written(fact: Fact, sentence: "_Sentence", pointer: re.Match[str]) -> str:
    """The stored value with its unit, its day where that is not the pack's, and the citation."""
    before, day = sentence.text[: pointer.start()], fact.as_of[:10]
    value = said(fact)
    if fact.number is not None and fact.number < 0 and _direction(before) < 0:
        value = value.removeprefix("-")  # 下跌-1.23% says it twice
    is_told = day == sentence.today or fact.number is None or not _DAY.fullmatch(day)
    line = sentence.line_before + before
    is_told = is_told or day in line or f"{day[5:7].lstrip('0')}月{day[8:].lstrip('0')}日" in line
    unit = pointer["unit"] if pointer["unit"] and fact.unit in (RATIO, COUNT) else ""
    return f"{value}{'' if is_told else f'（{day}）'}[{fact.id}]{unit}"


def _without_quotes(text: str, pack: Pack, *, marked: bool) -> str:
    """The text with blanks in the place of stored texts that it quotes, as long as before. `marked`: words
    of others (headlines) are a quotation only between quotation marks or behind their label, as in 快讯：;
    stated as the writer's own they are statements without evidence."""
    subjects = pack.subjects
    for fact in pack.facts:
        if isinstance(fact.value, str) and fact.value not in subjects and _is_quotation(fact.value):
            is_marked = marked and fact.column in _WORDS_OF_OTHERS
            before = rf"([{_OPENING}]|{re.escape(fact.label)}[：:]\s*)" if is_marked else "()"
            whole = rf"{before}(?<![\d.,]){re.escape(fact.value)}(?![\d.,]*\d)"
            blank = rf"\g<1>{' ' * len(fact.value)}"
            text = re.sub(whole, blank, text)
    return text


def _is_quotation(text: str) -> bool:
    """Whether a stored text may be blanked as a quotation: a headline, say. A short one without digits, an
    industry say, hides nothing and may be a part of a name."""
    has_digit = any(char.isdigit() for char in text)
    return (has_digit and not _ONLY_NUMBER.fullmatch(text)) or len(text) >= _SHORTEST_HEADLINE


def _strangers(text: str, pack: Pack, words: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Places of names of securities without evidence; a name within a longer known one is none."""
    spoken = {name for name in names if name in words} | pack.subjects
    candidates = [name for name in names if len(name) >= _SHORTEST_NAME and name in text]
    found = places(text, list({*candidates, *spoken}))
    return [(start, end) for name, start, end in found if name not in spoken]


class _Sentence:
    """One sentence with what it may speak of. `text`: with blanks for quotations; `whole`: as it came."""

    def __init__(
        self, text: str, whole: str, pack: Pack, cited: bool, spoken: list[str], head: list[str], before: str
    ) -> None:
        self.text, self.line_before, self.today = text, before, pack.as_of[:10]
        self._whole, self._head, self._pack, self._cited, self._spoken = whole, head, pack, cited, spoken
        self.known = {fact.id: fact for fact in pack.facts}
        self._companies = {fact.subject for fact in pack.facts if "code" in fact.key and fact.subject}
        ids = list(dict.fromkeys([*CITATION.findall(text), *_POINTER_IDS.findall(text)]))
        self._facts = list(pack.of(ids)) if cited else pack.facts
        self._subjects = places(text, list(pack.subjects))
        names = [name for name, *_ in self._subjects]
        self.subjects_now = list(dict.fromkeys(names))
        hidden = [span for _, *span in self._subjects] + [list(m.span()) for m in CITATION.finditer(text)]
        self._labels = {fact.label for fact in pack.facts if len(fact.label) > 1}
        for label in sorted(self._labels, key=len, reverse=True):
            if any(char.isdigit() for char in label):
                hidden += [[m.start(), m.end()] for m in re.finditer(re.escape(label), text)]
        pointers = [self._pointed(found) for found in _POINTER.finditer(text) if found[1] in self.known]
        hidden += [[one.start(), one.end()] for one in _POINTER.finditer(text)]
        figures = [
            one for one in mentions(text)
            if not any(start < one.end and one.start < end for start, end in hidden)
        ]  # fmt: skip
        self._numbers = sorted((*figures, *pointers), key=lambda one: one.start)
        self._figures: list[Figure] = []

    def numbers(self) -> list[Mention]:
        """Those outside of names, labels and citations, and what the text points at."""
        return self._numbers

    def denied(self) -> list[tuple[int, int]]:
        """Places of words that the facts deny."""
        return denied(self._whole, self.text, self._figures, self._pack, self._spoken)

    def _pointed(self, found: re.Match[str]) -> Mention:
        fact = self.known[found[1]]
        kind: Kind = "pct" if fact.unit == "pct" else "cny" if fact.unit in IN_CNY else "plain"
        kind = "count" if fact.unit == COUNT else "share" if fact.unit in IN_SHARES else kind
        return Mention(found.start(), found.end(), found.group(), kind, 0.0, 0.0)

    def bind(self, mention: Mention) -> tuple[str, tuple[str, ...]] | None:
        """(how, facts), or None."""
        if pointer := _POINTER.fullmatch(mention.text):
            return self._pointed_at(self.known[pointer[1]], mention)
        behind = _CITED_BEHIND.match(self.text, mention.end)
        ids = dict.fromkeys(CITATION.findall(behind[1])) if behind and self._cited else ()
        adjacent = list(self._pack.of(list(ids)))
        if mention.kind == "date":
            return self._day(mention, adjacent)
        if mention.kind == "code":
            code = mention.text[:6]
            holders = [one.id for one in self._pack.facts if code in map(str, one.key.values())]
            if holders or len(mention.text) > len(code):
                return ("code", tuple(holders[:1])) if holders else None
            mention = replace(mention, kind="plain", value=float(code), step=1.0)  # a count of six digits
        return None if mention.kind == "opaque" else self._figure(mention, adjacent)

    def _pointed_at(self, fact: Fact, mention: Mention) -> tuple[str, tuple[str, ...]] | None:
        has_sign = fact.number and mention.kind in ("pct", "cny") and not _SHARE.search(fact.label)
        direction = self._direction(mention, fact.label) if has_sign else 0
        is_denied = direction * (fact.number or 0.0) < 0
        if is_denied or not self._speaks_of(fact, mention) or not self._is_named(fact, mention, alone=True):
            return None
        return self._took(fact, mention)

    def _day(self, mention: Mention, cited: Sequence[Fact]) -> tuple[str, tuple[str, ...]] | None:
        days = [one for one in cited if isinstance(one.value, str) and _DAY.fullmatch(one.value)]
        year = re.fullmatch(r"(20\d\d)年?", mention.text)
        # The years beside the present one need no fact: a forecast of the next, a report of the last.
        is_near = year is not None and abs(int(year[1]) - int(self.today[:4])) <= 1
        known = {str(one.value) for one in days} or self._pack.days
        is_known = (is_near and not days) or self._is_known_day(mention.text, known)
        return ("date", tuple(one.id for one in days)) if is_known else None

    def _figure(self, mention: Mention, adjacent: list[Fact]) -> tuple[str, tuple[str, ...]] | None:
        facts = adjacent or self._facts
        alone = len(facts) == 1 or not adjacent
        for fact in facts:
            if (
                self._equals(fact, mention)
                and self._speaks_of(fact, mention)
                and self._is_named(fact, mention, alone=alone)
            ):
                return self._took(fact, mention)
        if not self._cited or len(facts) > _MOST_CITED:
            return None
        for name, ids, value in arithmetic([one for one in facts if one.number is not None], mention.kind):
            if self._agrees(value, mention):
                return name, ids
        return None

    def _took(self, fact: Fact, mention: Mention) -> tuple[str, tuple[str, ...]]:
        self._figures.append(Figure(mention.start, mention.end, fact))
        return "fact", (fact.id,)

    # -- one fact ------------------------------------------------------------------------------------

    def _speaks_of(self, fact: Fact, mention: Mention) -> bool:
        """Whom and which day the number is of."""
        cell = self._cell(mention)
        of_cell = [name for name, *_ in places(" ".join(reversed(cell)), list(self._pack.subjects))]
        before = [name for name, _, end in self._subjects if end <= mention.start]
        clause = re.split("[；;]", self.text[: mention.start])[-1]
        if fact.subject and "分别" in clause and len(pair := list(dict.fromkeys(before or self._spoken))) > 1:
            place = len(_POINTER.findall(said := clause.rsplit("分别")[-1])) + len(CITATION.findall(said))
            return place >= len(pair) or fact.subject == pair[place]
        behind = _FOR.match(self.text, mention.end)
        after = [name for name, start, _ in self._subjects if behind and start == behind.end()]
        reported = after or of_cell[-1:] or before[-1:] or self._spoken
        # Nobody is named: the citation says whose figure it is.
        if fact.subject and reported and fact.subject not in reported:
            return False
        if fact.subject and not reported and not self._cited:
            return False
        if fact.number is None:
            return True
        now = self._pack.as_of
        return all(is_of_named_time(part, fact, now) for part in (*cell, self.text[: mention.start]))

    def _cell(self, mention: Mention) -> tuple[str, str]:
        """The heads of row and column of a number in a table."""
        return words_of_cell(self._head, self.line_before + self.text[: mention.start])

    def _is_named(self, fact: Fact, mention: Mention, *, alone: bool) -> bool:
        """False where the words before the number are the label of another fact: 市净率21.5倍 is no P/E. A
        part of the label, or more than it, will do; other words say nothing."""
        if fact.number is None:
            return True
        ends = [one.end for one in self._numbers if one.end <= mention.start]
        near = self.text[max([0, mention.start - _NEAR_LABEL, *ends]) : mention.start]
        near = " ".join((*self._cell(mention), CITATION.sub("", near)))
        clause = re.split(r"[，；]", near)[-1]
        if alone and _CHANGED.search(clause) and not _IS_CHANGE.search(fact.label):
            return False
        sentence = " ".join((*self._head, self.line_before, self.text))
        if not says_what_it_is(fact, near, sentence, is_companys=fact.subject in self._companies):
            return False
        if mention.kind == "count":
            for one, other in (("上涨", "下跌"), ("涨停", "跌停"), ("下跌", "上涨"), ("跌停", "涨停")):
                if fact.label.startswith(other) and near.rfind(one) > near.rfind(other):
                    return False
        if _PRICE_CHANGE in fact.label and (moves := list(re.finditer("[涨跌]", clause))):
            near = clause[moves[-1].start() :]  # 成交额放大，下跌1.2%: what fell is no turnover
        reported = [
            (near.rfind(label) + len(label), len(label), (label,)) for label in self._labels if label in near
        ]
        *_, stems = max((*reported, *terms(near)), default=(0, 0, (fact.label,)))
        return any(stem in fact.label or fact.label in stem for stem in stems)

    def _equals(self, fact: Fact, mention: Mention) -> bool:
        value = in_unit(fact, mention.kind)
        return value is not None and self._agrees(value, mention, fact.label)

    def _agrees(self, value: float, mention: Mention, label: str = "") -> bool:
        printed = mention.value
        if mention.kind in ("pct", "cny") and not mention.signed and not _SHARE.search(label):
            printed = -printed if self._direction(mention, label) < 0 else printed
        off = abs(value - printed)
        if mention.signed and printed < 0 and _RISES.search(self.text[: mention.start][-_NEAR:]):
            return False
        if off > mention.step / 2 * (1 + 1e-9):
            return False
        return (printed == 0) == (value == 0) and off <= max(_MOST_OFF * abs(value), 0.005)

    def _direction(self, mention: Mention, label: str) -> int:
        """The sign that the words before it give: 下跌1.2% is -1.2. What its label says gives none."""
        near = self.text[max(0, mention.start - _NEAR - len(label)) : mention.start]
        return _direction(near.replace(label, "") if label else near)

    def _is_known_day(self, text: str, days: Collection[str]) -> bool:
        year, month, day = day_of(text)
        if year is None and month is None:  # a time of day
            return any(text in fact.as_of for fact in self._pack.facts) or text in self._pack.as_of
        return any(_is_day(known, year, month, day) for known in days)


_POINTER_IDS = re.compile(r"[{｛]\s*(E\d+)\s*[}｝]")


def _direction(before: str) -> int:
    """1, -1 or 0: what the last words before a number say of its sign."""
    near = re.split(r"[，、：:（(]", before[-_NEAR:])[-1].replace("涨跌", "")
    near = _TO_LEVEL.sub("", near)
    down, up = list(_DOWN.finditer(near)), list(_UP.finditer(near))
    if down and (not up or down[-1].start() > up[-1].start()):
        return -1
    return 1 if up else 0


def _is_day(known: str, year: int | None, month: int | None, day: int | None) -> bool:
    requested = ((year, known[:4]), (month, known[5:7]), (day, known[8:10]))
    return all(want is None or (part.isdigit() and int(part) == want) for want, part in requested)
