"""Result of a rule on a pack: a value with its score, the words for it and the facts behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.evidence.wording import said
from platform_assets.compute.parameters.analysis import Points

_COARSE = 0.2
"""Below it a value with two decimals may be off by more than the checker forgives."""


@dataclass(frozen=True)
class Found:
    """`score` 0..5; `text` cites its facts as `[E1]`."""

    score: float
    text: str
    facts: tuple[Fact, ...]


Finder = Callable[[Pack, str], Found | None]
"""(pack, name of the company) -> what the rule finds; None where its facts are missing."""


@dataclass(frozen=True)
class Rule:
    """One input of a dimension. `label`: its name for users, without digits; `reason`: why it counts."""

    key: str
    dimension: str
    label: str
    find: Finder
    reason: str


def on_line(points: Points, value: float) -> float:
    """Score of a value: straight between the points, flat beyond them."""
    before = points[0]
    if value <= before[0]:
        return before[1]
    for point in points[1:]:
        if value <= point[0]:
            share = (value - before[0]) / (point[0] - before[0])
            return before[1] + share * (point[1] - before[1])
        before = point
    return before[1]


def facts_of(pack: Pack, table: str, column: str, subject: str = "") -> list[Fact]:
    """Values of a column, of the company where it is named, in the order of the pack: newest first."""
    return [
        fact
        for fact in pack.facts
        if fact.table == table and fact.column == column and subject in ("", fact.subject)
    ]


def newest(pack: Pack, table: str, column: str, subject: str = "") -> Fact | None:
    return next(iter(facts_of(pack, table, column, subject)), None)


def printed(value: float, unit: str) -> str:
    """A calculated value with the digits that the checker asks for: near zero two round too far."""
    if abs(value) >= _COARSE:
        return f"{value:.2f}{unit}"
    return f"{value:.4f}{unit}" if abs(value) >= _COARSE / 100 else "接近零"


def reported(fact: Fact) -> str:
    """A fact's value; one near zero with more digits."""
    if fact.unit == "pct" and fact.number and abs(fact.number) < _COARSE:
        return printed(fact.number, "%")
    return said(fact)


def cite(*facts: Fact) -> str:
    return "".join(f"[{fact.id}]" for fact in facts)


def level(table: str, column: str, points: Points, words: str) -> Finder:
    """The newest value on a line of points."""

    def find(pack: Pack, name: str) -> Found | None:
        fact = newest(pack, table, column, name)
        if fact is None or fact.number is None:
            return None
        return Found(on_line(points, fact.number), f"{words}{reported(fact)}{cite(fact)}", (fact,))

    return find


def first_level(table: str, columns: Sequence[str], points: Points, words: str) -> Finder:
    """`level` of the first of the columns that has a value."""
    finders = [level(table, column, points, words) for column in columns]

    def find(pack: Pack, name: str) -> Found | None:
        return next((found for one in finders if (found := one(pack, name)) is not None), None)

    return find


def turn(table: str, column: str, points: Points, words: str) -> Finder:
    """The newest value against the one before it, in percentage points."""

    def find(pack: Pack, name: str) -> Found | None:
        found = [fact for fact in facts_of(pack, table, column, name) if fact.number is not None]
        if len(found) < 2:
            return None
        now, before = found[0], found[1]
        change = (now.number or 0.0) - (before.number or 0.0)
        if abs(change) < _COARSE:
            text = f"{words}与上一报告期基本持平"
        else:
            text = f"{words}较上一报告期{'加快' if change > 0 else '放缓'}{abs(change):.2f}个百分点"
        return Found(on_line(points, change), f"{text}{cite(now, before)}", (now, before))

    return find


def ratio(table: str, over: str, under: str, points: Points, words: str, *, change: bool = False) -> Finder:
    """One value over another of a row, as times or as a change in percent; the lower one is positive."""

    def find(pack: Pack, name: str) -> Found | None:
        upper, lower = newest(pack, table, over, name), newest(pack, table, under, name)
        if upper is None or lower is None or upper.number is None or not lower.number or lower.number <= 0:
            return None
        if upper.as_of != lower.as_of:
            return None
        value = upper.number / lower.number
        scored = (value - 1) * 100 if change else value
        text = f"{words}{printed(scored, '%' if change else '倍')}{cite(upper, lower)}"
        return Found(on_line(points, scored), text, (upper, lower))

    return find


def word(
    table: str, column: str, scores: Mapping[str, float], words: str, shown: Mapping[str, str] | None = None
) -> Finder:
    """The newest stored text that holds a word of a list."""

    def find(pack: Pack, name: str) -> Found | None:
        for fact in facts_of(pack, table, column, name):
            hit = next((one for one in scores if one in str(fact.value)), None)
            if hit is not None:
                text = shown[hit] if shown else fact.value
                return Found(scores[hit], f"{words}{text}{cite(fact)}", (fact,))
        return None

    return find
