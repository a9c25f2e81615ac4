"""What a text says of cited facts beside their values: comparisons, superlatives, trends, and texts such as
the largest holder or a mark of risk. Words that the facts deny are found here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.evidence.terms import places, terms
from platform_assets.compute.parameters.analysis import QUADRANT_WORDS

Span = tuple[int, int]


@dataclass(frozen=True)
class Figure:
    """A figure of a sentence that is bound to one fact."""

    start: int
    end: int
    fact: Fact


_COMPARED = re.compile(
    r"(?P<more>高于|大于|多于|高过|超过|强于|优于|跑赢|站上|(?:higher|more|greater|larger) than|(?<!\w)above)"
    r"|(?P<less>低于|小于|少于|不及|弱于|不如|跑输|跌破|(?:lower|less|smaller) than|(?<!\w)below)"
    r"|(?P<most>更[高大多强贵]|领先|占优|胜出)|(?P<least>更[低小少弱]|更便宜|落后)"
)
_CLAUSE = re.compile(r"[，。；,;\n|]")
_SUPERLATIVE = re.compile(
    r"最[高低大小好差强弱优](?!价|连板|点|限度|程度|回撤|风险|股东)|新[高低](?!点)|历史(?:同期)?最\w|居首|首位|榜首"
    r"|首屈一指|独占鳌头|遥遥领先|名列前茅|数一数二|垫底"
    r"|第一(?=[，。；、\s]|位|名|$)|(?:排名?|位居|位列|名列)\w{0,6}?第\s?[\d一二三四五六七八九十]+[位名]?"
    r"|扭亏为盈|(?i:\b(?:highest|lowest|largest|smallest|record high)\b(?! (?:share)?holder))"
)
_TREND = re.compile(
    r"连续\S{1,4}?[年季月周日天期]|逐[年季月]|(?<!可)持续(?=[上提增下改走回])|节节|一路(?=[上下走])"
)
_ST = r"(?:ST|风险警示)"
_NO_ST = re.compile(
    rf"(?:不是|并非|非|没有|未|不属于|不存在|not|isn't|no)[^，。,]{{0,6}}{_ST}|{_ST}[^，。]{{0,3}}已?撤销"
)
_IS_ST = re.compile(rf"(?<![不否])(?:是(?!否)|为|被|实施|属于|\bis an?)[^，。,“”]{{0,6}}{_ST}(?![”一标状])")
_NOT = re.compile(r"(?:(?:已经?)?不[是在属为]于?|并非|不再是?|没有|\bnot)\s?[“\"]?$")
_SAYS = re.compile(r"(?<!不)是(?!否)|为(?!什么)|属于|处于|给予|[：:“\"《]|\bis\b")
_NTH = re.compile(r"第([一二三四五六七八九十]|\d+)大|最大的?(?=股东)|[Ll]argest")
_NUMERALS = "一二三四五六七八九十"
_SHORTEST = 2
_COMPANY = re.compile("股份|有限责任公司|有限公司|集团|控股|投资")


def denied(whole: str, text: str, figures: Sequence[Figure], pack: Pack, spoken: Sequence[str]) -> list[Span]:
    """Places of words that the facts deny. `whole`: the sentence; `text`: with blanks for quotations;
    `spoken`: whom the text spoke of before."""
    found = list(_comparisons(text, figures, pack, spoken))
    if re.search(r"\[E\d|[{｛]E", whole):
        found += [span for span in _superlatives(text, figures) if span not in found]
        found += _trends(text, figures)
    return [*found, *_texts(whole, pack, spoken)]


def _comparisons(text: str, figures: Sequence[Figure], pack: Pack, spoken: Sequence[str]) -> Iterator[Span]:
    for one in _COMPARED.finditer(text):
        behind = _CLAUSE.split(text[one.end() :])[0]
        before = text[: one.start()]
        left = [f for f in figures if f.end <= one.start()]
        right = [f for f in figures if one.end() <= f.start < one.end() + len(behind)]
        if one["most"] or one["least"]:
            pair = _rivals(before, left if len(left) > 1 else figures, pack)
        else:
            pair = _sides(before, behind, left, right, pack, spoken)
        if pair is None or pair[0].number is None or pair[1].number is None or pair[0].unit != pair[1].unit:
            continue
        is_more = bool(one["more"] or one["most"])
        if pair[0].number != pair[1].number and (pair[0].number > pair[1].number) != is_more:
            yield one.span()


def _rivals(before: str, left: Sequence[Figure], pack: Pack) -> tuple[Fact, Fact] | None:
    """Of A, 3; B, 5; A is higher: (A, B)."""
    alike = [f for f in left if f.fact.label == left[-1].fact.label][-2:] if left else []
    if len(alike) < 2:
        return None
    one, two = alike[0].fact, alike[1].fact
    after = before[alike[1].end :] if alike[1].end <= len(before) else before
    named = [name for name, *_ in places(after, list(pack.subjects))]
    is_second = (named[-1:] == [two.subject] and two.subject != one.subject) or "后者" in after
    return (two, one) if is_second else (one, two)


def _sides(
    before: str,
    behind: str,
    left: Sequence[Figure],
    right: Sequence[Figure],
    pack: Pack,
    spoken: Sequence[str],
) -> tuple[Fact, Fact] | None:
    if before.endswith("前者") and behind.startswith("后者"):
        alike = [f for f in left if f.fact.unit == left[-1].fact.unit][-2:] if left else []
        return (alike[0].fact, alike[1].fact) if len(alike) == 2 else None
    clause = _CLAUSE.split(before)[-1]
    subjects = list(pack.subjects)
    names = [name for name, *_ in places(clause, subjects)] or [name for name, *_ in places(before, subjects)]
    subject = names[-1] if names else spoken[-1] if spoken else ""
    in_clause = [f for f in left if f.start >= len(before) - len(clause)]
    said = max(terms(clause), default=None)
    other_said = max(terms(behind), default=None)
    first: Fact | None = None
    second: Fact | None = None
    if in_clause:
        first = in_clause[-1].fact
    elif said is not None:
        first = _stored(pack, subject, said[2], left)
    elif left and right and not clause.strip():
        first = left[-1].fact
    elif left and "行业" in behind:
        first = next((f.fact for f in reversed(left) if not f.fact.label.startswith("行业")), None)
    if first is None:
        return None
    if right:
        return first, right[0].fact
    others = [name for name, *_ in places(behind, subjects)]
    if others:
        second = _stored(pack, others[0], (first.label,), left)
    elif "行业" in behind:
        second = _stored(pack, first.subject, (f"行业{first.label.removesuffix('TTM')}",), left)
    elif other_said is not None:
        second = _stored(pack, first.subject, other_said[2], left)
    return None if second is None or second == first else (first, second)


def _stored(pack: Pack, subject: str, stems: tuple[str, ...], cited: Sequence[Figure]) -> Fact | None:
    """The fact that a name and a term mean: one that the sentence cites, else the newest of the pack."""
    for fact in (*(one.fact for one in cited), *pack.facts):
        if fact.subject == subject and fact.number is not None and fact.label.removesuffix("TTM") in (
            *stems, *(f"归母{stem}" for stem in stems), *(stem.removesuffix("TTM") for stem in stems),
            *(f"布林{stem}" for stem in stems), *(f"资产{stem}" for stem in stems),
        ):  # fmt: skip
            return fact
    return None


def _superlatives(text: str, figures: Sequence[Figure]) -> Iterator[Span]:
    """Those that no comparison of cited figures supports."""
    for one in _SUPERLATIVE.finditer(text):
        if any(one.group() in f.fact.label for f in figures):
            continue
        labels = {f.fact.label for f in figures}
        groups = ([f.fact for f in figures if f.fact.label == label] for label in labels)
        alike = max(groups, key=len, default=[])
        before = [f.fact for f in figures if f.end <= one.start()]
        if len(alike) > 1 and before and before[-1] in alike:
            least = re.search("低|小|弱|lowest|smallest", one.group()) is not None
            best = (min if least else max)(alike, key=lambda fact: fact.number or 0.0)
            if before[-1] == best and not re.search("历史|行业|市场|全", text):
                continue
        yield one.span()


def _trends(text: str, figures: Sequence[Figure]) -> Iterator[Span]:
    """Those without three cited values of one figure, in order."""
    for one in _TREND.finditer(text):
        values = [
            f.fact.number or 0.0 for f in sorted(figures, key=lambda f: f.fact.as_of)
            if f.fact.label == figures[-1].fact.label
        ]  # fmt: skip
        if len(values) < 3 or values not in (sorted(values), sorted(values, reverse=True)):
            yield one.span()


def _texts(whole: str, pack: Pack, spoken: Sequence[str]) -> Iterator[Span]:
    known = {fact.id: fact for fact in pack.facts}
    names = [name for name, *_ in places(whole, list(pack.subjects))] or list(spoken)
    for fact in pack.facts:
        if fact.label == "是否ST" and (fact.subject in names[-1:] or f"[{fact.id}]" in whole):
            plain = whole
            for name in (fact.label, fact.subject):
                plain = plain.replace(name, " " * len(name))
            if fact.value == "是" or not _NO_ST.search(plain):
                wrong = _NO_ST if fact.value == "是" else _IS_ST
                yield from (one.span() for one in wrong.finditer(plain))
    start = 0
    for one in re.finditer(r"[{｛]{1,2}(E\d+)[}｝]{1,2}|\[(E\d+)\]", whole):
        cited = known.get(one[1] or one[2])
        clause_at = max(start, *(whole.rfind(mark, 0, one.start()) + 1 for mark in "，。；\n|"))
        start = one.end()
        if cited is None or not isinstance(cited.value, str) or cited.label == "是否ST":
            continue
        before = whole[clause_at : one.start()]
        nth = list(_NTH.finditer(before))
        rows = [f for f in pack.facts if f.label == cited.label and f.subject == cited.subject]
        place = _NUMERALS.find(nth[-1][1]) if nth and nth[-1][1] else 0
        if nth and len(rows) > 1 and rows.index(cited) != place:
            yield clause_at + nth[-1].start(), clause_at + nth[-1].end()
        at = before.find(cited.value) if one[2] else len(before)
        if at >= 0 and (refused := _NOT.search(before[:at].rstrip('“"《'))):
            yield clause_at + refused.start(), clause_at + refused.end()
        says = list(_SAYS.finditer(before)) if one[2] else []
        if says and at < 0:
            claimed = before[says[-1].end() :].strip('”"》’阶段行业评级的 ')
            if len(claimed) >= _SHORTEST and not _shares(claimed, cited):
                begin = clause_at + says[-1].end()
                yield begin, begin + len(before[says[-1].end() :].rstrip('”"》 '))


def _shares(claimed: str, fact: Fact) -> bool:
    """Whether a text holds a part of the stored one, what all companies are called aside; days are compared
    elsewhere."""
    stored = QUADRANT_WORDS.get(str(fact.value), str(fact.value))
    if stored.isascii() and stored.islower() and not claimed.isascii():
        return True  # a code without a known word in the language of the sentence
    value = _COMPANY.sub("", stored.replace(fact.subject, ""))
    if re.search(r"\d{4}-\d\d", value) or re.fullmatch(r"[\d年月日.\-]+", claimed):
        return True
    size = min(4, len(value))
    return any(value[at : at + size] in claimed for at in range(len(value) - size + 1))
