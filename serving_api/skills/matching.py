"""Which skills match a text, by a score that can be calculated by hand.

A trigger in the text gives as many points as it has characters, at most `MOST_POINTS`; one that only
occurs within a longer found trigger of the same skill gives none. The skill's name counts as a trigger.
A hint gives one point. Words of Latin letters and digits match as whole words, in either case;
full-width characters as their narrow ones. A skill needs `LEAST` points and half as many as the best;
equal ones are ordered by key.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Protocol, TypeVar

MOST_SKILLS = 3
"""Skills of one input (specification)."""
LEAST = 2
"""Points: one hint is not enough, a word of two characters is."""
MOST_POINTS = 4
"""Points of one trigger: a long name counts no more than a word of four characters."""
READ = 2000
"""Characters of an input that are searched."""
_LATIN = re.compile(r"[a-z0-9&.+ -]+")


class Matchable(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def triggers(self) -> Sequence[str]: ...
    @property
    def hints(self) -> Sequence[str]: ...


Skill = TypeVar("Skill", bound=Matchable)


def score(skill: Matchable, text: str) -> int:
    """Points of a skill for a text."""
    read = _folded(text[:READ])
    found = {word for word in map(_folded, (*skill.triggers, skill.name)) if _occurs(word, read)}
    longest = [word for word in found if not any(word != other and word in other for other in found)]
    hints = {word for word in map(_folded, skill.hints) if _occurs(word, read)}
    hints = {word for word in hints if not any(word in other for other in found)}
    return sum(min(len(word), MOST_POINTS) for word in longest) + len(hints)


def best(skills: Sequence[Skill], text: str) -> list[tuple[Skill, int]]:
    """At most `MOST_SKILLS` (skill, points), best first."""
    scored = [(skill, score(skill, text)) for skill in skills]
    top = max((points for _, points in scored), default=0)
    reported = [(skill, points) for skill, points in scored if points >= LEAST and points * 2 >= top]
    return sorted(reported, key=lambda one: (-one[1], one[0].key))[:MOST_SKILLS]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _occurs(word: str, text: str) -> bool:
    if _LATIN.fullmatch(word):
        return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None
    return word in text
