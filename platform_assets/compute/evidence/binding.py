"""Every number of a text held against a pack of evidence.

A number is bound when it is a fact within the precision that it is printed with, with its unit, its sign,
its day and the name of whom it is of; or arithmetic over the facts that its sentence cites; or a word of the
user. What is not bound is replaced by a dash.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from platform_assets.compute.evidence.facts import COUNT, RATIO, Fact, Pack
from platform_assets.compute.evidence.numbers import Kind, Mention, day_of, mentions
from platform_assets.compute.evidence.terms import (
    TableHead,
    is_of_named_day,
    is_the_other_count,
    terms,
    words_of_cell,
)
from platform_assets.compute.evidence.wording import ABSENT, IN_CNY, IN_SHARES

CITATION = re.compile(r"\[(E\d+)\]")
_SENTENCE = re.compile(r"[^。！？；\n]*(?:\n|[。！？；](?:\[E\d+\])*|$)")
"""Citations right behind its end belong to a sentence."""
_DOWN = re.compile(
    r"跌|降|减|下滑|下挫|流出|亏|回落|萎缩|净卖|缩量|(?i:\b(?:down|fell|falls?|drops?|dropped|lost|loses|declin|outflow))"
)
_UP = re.compile(r"涨|升|增|上扬|流入|盈|反弹|净买|放量|(?i:\b(?:up|rose|rises?|gain|added|climb|inflow))")
_RISES = re.compile(r"(?:上|大|收|跟|普|领)涨(?:了|约|近|逾)?$")
_SHARE = re.compile(r"占比|比例")
"""A share has no direction, whatever it is a share of."""
_ONLY_NUMBER = re.compile(r"[\d\s.,%+-]*.?")
"""No text that a quotation could hide numbers in."""
_PRICE_CHANGE = "涨跌幅"
_NEAR_LABEL = 24
"""So many characters before a number the label of a fact is looked for, up to the number before it."""
_NEAR = 8
"""So many characters before a number a word for its direction is looked for."""
_TWO_DECIMALS = re.compile(r"[.．][0-9０-９]{2}")
_MOST_OFF = 0.05
"""A rounded number may be off by so much of the value, however coarse it is printed."""
_MOST_CITED = 6
_OPENING = '“"「『《‘'
_WORDS_OF_OTHERS = frozenset({"title", "content", "summary"})
"""Columns of news, announcements and flashes."""
_SHORTEST_NAME = 3
_SHORTEST_HEADLINE = 8


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


def check(
    text: str, pack: Pack, *, cited: bool = True, words: str = "", names: Collection[str] = ()
) -> Checked:
    """`cited`: numbers bind to facts that their own sentence cites as `[E1]`; else to all of the pack.
    `words`: what the user said. `names`: all names of securities; one that neither pack nor user speaks of is
    not shown."""
    checked = Checked(text)
    given = {mention.text for mention in mentions(words)}
    out: list[tuple[int, int]] = []
    subject = ""
    read = _without_quotes(text, pack, marked=cited)
    table, head, row = TableHead(), list[str](), 0
    for start, end in (found.span() for found in _SENTENCE.finditer(read) if found.group()):
        if start == 0 or read[start - 1] == "\n":
            head, row = table.before(read[start:].partition("\n")[0]), start
        sentence = _Sentence(read[start:end], pack, cited, subject, head, read[row:start])
        for stranger_start, stranger_end in _strangers(sentence.text, pack, words, names):
            checked.unbound.append(sentence.text[stranger_start:stranger_end])
            out.append((start + stranger_start, start + stranger_end))
        for mention in sentence.numbers():
            how = ("user", ()) if mention.text in given else sentence.bind(mention)
            if how is None:
                checked.unbound.append(mention.text)
                out.append((start + mention.start, start + mention.end))
            else:
                checked.bound.append(
                    Bound(start + mention.start, start + mention.end, mention.text, how[1], how[0])
                )
        subject = "" if read[end - 1 : end] == "\n" else sentence.last_subject
    checked.text = _without(text, out)
    return checked


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


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + ABSENT + text[end:]
    return text


def _strangers(text: str, pack: Pack, words: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Places of names of securities without evidence; a name within a longer known one is none."""
    spoken = {name for name in names if name in words} | pack.subjects
    candidates = [name for name in names if len(name) >= _SHORTEST_NAME and name in text]
    longest_first = sorted({*candidates, *spoken}, key=len, reverse=True)
    return [(start, end) for name, start, end in _places(text, longest_first) if name not in spoken]


class _Sentence:
    """One sentence with what it may speak of."""

    def __init__(
        self, text: str, pack: Pack, cited: bool, subject: str, head: list[str], line_before: str
    ) -> None:
        self.text = text
        self._head = head
        self._line_before = line_before
        self._pack, self._cited = pack, cited
        ids = list(dict.fromkeys(CITATION.findall(text)))
        self._facts = list(pack.of(ids)) if cited else pack.facts
        self._sums = cited and len(ids) <= _MOST_CITED
        self._before = subject
        names = sorted(pack.subjects, key=len, reverse=True)
        self._subjects = _places(text, names)
        self._hidden = [span for _, *span in self._subjects] + [
            list(m.span()) for m in CITATION.finditer(text)
        ]
        self._labels = {fact.label for fact in pack.facts if len(fact.label) > 1}
        for label in sorted(self._labels, key=len, reverse=True):
            if any(char.isdigit() for char in label):
                self._hidden += [[m.start(), m.end()] for m in re.finditer(re.escape(label), text)]
        self._numbers = list(mentions(text))
        self._days = [m for m in self._numbers if m.kind == "date"]

    @property
    def last_subject(self) -> str:
        return self._subjects[-1][0] if self._subjects else self._before

    def numbers(self) -> list[Mention]:
        """Those outside of names, labels and citations."""
        return [
            one for one in self._numbers
            if not any(start < one.end and one.start < end for start, end in self._hidden)
        ]  # fmt: skip

    def bind(self, mention: Mention) -> tuple[str, tuple[str, ...]] | None:
        """(how, facts), or None."""
        if mention.kind == "date":
            return ("date", ()) if self._is_known_day(mention.text) else None
        if mention.kind == "opaque":
            return None
        if mention.kind == "code":
            code = mention.text[:6]
            holders = [one.id for one in self._pack.facts if code in map(str, one.key.values())]
            if holders or len(mention.text) > len(code):
                return ("code", tuple(holders[:1])) if holders else None
            mention = replace(mention, kind="plain", value=float(code), step=1.0)  # a count of six digits
        for fact in self._facts:
            if (
                self._speaks_of(fact, mention)
                and self._equals(fact, mention)
                and self._is_named(fact, mention)
            ):
                return "fact", (fact.id,)
        return self._computed(mention) if self._sums else None

    # -- one fact ------------------------------------------------------------------------------------

    def _speaks_of(self, fact: Fact, mention: Mention) -> bool:
        """Whom and which day the number is of."""
        of_column = _places(self._cell(mention)[1], sorted(self._pack.subjects, key=len, reverse=True))
        before = [name for name, _, end in self._subjects if end <= mention.start]
        before += [name for name, *_ in of_column]
        after = [name for name, *_ in self._subjects]
        reported = before[-1:] or after[:1] or [self._before]
        # Nobody is named: the citation says whose figure it is.
        anybody = self._cited and not reported[0]
        if fact.subject and fact.subject != reported[0] and not anybody:
            return False
        return self._is_of_its_day(fact, mention)

    def _cell(self, mention: Mention) -> tuple[str, str]:
        """The heads of row and column of a number in a table."""
        return words_of_cell(self._head, self._line_before + self.text[: mention.start])

    def _is_named(self, fact: Fact, mention: Mention) -> bool:
        """False where the words before the number are the label of another fact: 市净率21.5倍 is no P/E. A
        part of the label, or more than it, will do; other words say nothing."""
        ends = [one.end for one in self._numbers if one.end <= mention.start]
        near = self.text[max([0, mention.start - _NEAR_LABEL, *ends]) : mention.start]
        near = " ".join((*self._cell(mention), near))
        if mention.kind == "count" and is_the_other_count(near, fact.label):
            return False
        clause = re.split(r"[，；]", near)[-1]
        if _PRICE_CHANGE in fact.label and re.search("[涨跌]", clause):
            near = clause  # 成交额放大，下跌1.2%: what fell is no turnover
        reported = [
            (near.rfind(label) + len(label), len(label), (label,)) for label in self._labels if label in near
        ]
        *_, stems = max((*reported, *terms(near)), default=(0, 0, (fact.label,)))
        return any(stem in fact.label or fact.label in stem for stem in stems)

    def _is_of_its_day(self, fact: Fact, mention: Mention) -> bool:
        if not is_of_named_day(self.text, mention.start, fact.as_of, self._pack.as_of):
            return False
        days = [day_of(one.text) for one in self._days]
        full = [(y, m, d) for y, m, d in days if m is not None and d is not None]
        return not full or any(_is_day(fact.as_of, *day) for day in full)

    def _equals(self, fact: Fact, mention: Mention) -> bool:
        value = _in_unit(fact, mention.kind)
        return value is not None and self._agrees(value, mention, fact.label)

    def _agrees(self, value: float, mention: Mention, label: str = "") -> bool:
        printed = mention.value
        if mention.kind in ("pct", "cny") and not mention.signed and not _SHARE.search(label):
            printed = self._directed(mention, label)
        off = abs(value - printed)
        if mention.signed and printed < 0 and _RISES.search(self.text[: mention.start][-_NEAR:]):
            return False
        if off > mention.step / 2 * (1 + 1e-9):
            return False
        # Two decimals are as exact as figures are said; 0 % of 0.4 is not.
        if _TWO_DECIMALS.search(mention.text):
            return True
        return (printed == 0) == (value == 0) and off <= max(_MOST_OFF * abs(value), 1e-9)

    def _directed(self, mention: Mention, label: str) -> float:
        """With the sign that the words before it give: 下跌1.2% is -1.2. What its label says gives none."""
        near = self.text[max(0, mention.start - _NEAR - len(label)) : mention.start]
        near = near.replace(label, "")[-_NEAR:] if label else near
        near = re.split(r"[，、：:（(]", near)[-1].replace("涨跌", "")
        down, up = list(_DOWN.finditer(near)), list(_UP.finditer(near))
        is_down = bool(down) and (not up or down[-1].start() > up[-1].start())
        return -mention.value if is_down else mention.value

    def _is_known_day(self, text: str) -> bool:
        year, month, day = day_of(text)
        if year is None and month is None:  # a time of day
            return any(text in fact.as_of for fact in self._pack.facts) or text in self._pack.as_of
        return any(_is_day(known, year, month, day) for known in self._pack.days)

    # -- several facts ---------------------------------------------------------------------------------

    def _computed(self, mention: Mention) -> tuple[str, tuple[str, ...]] | None:
        facts = [
            fact for fact in self._facts if fact.number is not None and self._is_of_its_day(fact, mention)
        ]
        for name, ids, value in _arithmetic(facts, mention.kind):
            if self._agrees(value, mention):
                return name, ids
        return None


def _places(text: str, names: Sequence[str]) -> list[tuple[str, int, int]]:
    """(name, start, end) of every name in the text, longer names first served, in their order."""
    found: list[tuple[str, int, int]] = []
    for name in names:
        for one in re.finditer(re.escape(name), text):
            if not any(start < one.end() and one.start() < end for _, start, end in found):
                found.append((name, one.start(), one.end()))
    return sorted(found, key=lambda one: one[1])


def _is_day(known: str, year: int | None, month: int | None, day: int | None) -> bool:
    requested = ((year, known[:4]), (month, known[5:7]), (day, known[8:10]))
    return all(want is None or (part.isdigit() and int(part) == want) for want, part in requested)


def _in_unit(fact: Fact, kind: Kind) -> float | None:
    """The fact in the unit that a number of this kind is printed in; None where it cannot be."""
    value = fact.number
    if value is None:
        return None
    if kind == "pct":
        return value if fact.unit == "pct" else None
    if kind in ("cny", "share"):
        units = IN_CNY if kind == "cny" else IN_SHARES
        return value * units[fact.unit] if fact.unit in units else None
    if kind in ("count", "foreign"):
        return value if fact.unit == (COUNT if kind == "count" else RATIO) else None
    if kind in {"multiple", "plain"}:
        return value if fact.unit not in ("pct", *IN_SHARES) else None
    return None


def _arithmetic(facts: Sequence[Fact], kind: Kind) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Sums, differences, quotients and changes of facts, in the unit of `kind`."""
    like = [(fact, value) for fact in facts if (value := _in_unit(fact, kind)) is not None]
    if len(like) > 1:
        total = sum(value for _, value in like)
        ids = tuple(fact.id for fact, _ in like)
        yield "sum", ids, total
        yield "mean", ids, total / len(like)
    for (one, first), (two, second) in permutations(like, 2):
        yield "difference", (one.id, two.id), first - second
        yield "sum", (one.id, two.id), first + second
    for one, two in permutations(facts, 2):
        over, under = one.number, two.number
        if one.unit != two.unit or not over or not under:
            continue
        if kind == "multiple":
            yield "ratio", (one.id, two.id), over / under
        if kind == "pct" and one.unit != "pct":
            yield "share", (one.id, two.id), over / under * 100
            yield "change", (one.id, two.id), (over / under - 1) * 100
    if kind == "count":
        yield "count", tuple(fact.id for fact in facts), float(len(facts))
