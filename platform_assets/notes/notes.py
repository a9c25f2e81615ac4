"""The notes of the day, each from one pack of evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from platform_assets.compute.evidence.binding import check
from platform_assets.compute.note_days import RULES
from platform_assets.notes import before_open, market
from platform_assets.notes.sources import Section, Sources

LABEL = "规则预填，非模型生成"
"""The label that readers see on a note of rules."""


@dataclass(frozen=True)
class Note:
    """A note, ready to be stored."""

    title: str
    content: str
    sections: list[dict[str, Any]]
    summary: dict[str, Any]
    source: str = RULES


def morning(sources: Sources) -> Note | None:
    """Before the session: what happened overnight, what is due, how the last session was."""
    day = sources.last_session
    return _note(
        sources,
        f"{sources.today} 早报",
        (
            before_open.overnight,
            before_open.due_today,
            before_open.headlines,
            *_session(day, market.indices, market.breadth, market.extremes, market.leaders),
        ),
    )


def review(sources: Sources) -> Note | None:
    """The note after the session."""
    day = sources.last_session
    return _note(sources, f"{day} 复盘", _session(day))


def report(sources: Sources, watched: Section | None, codes: Sequence[str]) -> Note | None:
    """The note on the watched stocks and the newest stored session: the day's own bars come after the
    report's time. `codes` are the user's own words."""
    day = sources.last_session
    makers = (lambda _: watched, *_session(day))
    return _note(sources, f"{sources.today} 日报（市场数据：{day}）", makers, words=" ".join(codes))


Maker = Callable[[Sources], Section | None]


def _session(day: str, *makers: Callable[..., Section | None]) -> list[Maker]:
    """Sections of one session, by default all."""
    every = (market.indices, market.breadth, market.extremes, market.money, market.leaders)
    return [partial(make, day=day) for make in makers or every]


def _note(sources: Sources, title: str, makers: Sequence[Maker], *, words: str = "") -> Note | None:
    """None where nothing at all is stored of what it would speak of. `words`: what the user said."""
    sections = [section for make in makers if (section := make(sources)) is not None]
    if not sections:
        return None
    unbound: list[str] = []
    for place, section in enumerate(sections):
        checked = [check(line, sources.pack, cited=False, words=words) for line in section.lines]
        unbound += [number for one in checked for number in one.unbound]
        sections[place] = replace(section, lines=tuple(one.text for one in checked))
    content = "\n\n".join("\n".join((f"## {one.title}", *one.lines)) for one in sections)
    summary = {
        "source": RULES,
        "label": LABEL,
        "as_of": sources.pack.as_of,
        "tables": sorted({fact.table for fact in sources.pack.facts}),
        "missing": sources.pack.missing,
        "unbound": unbound,
        "evidence": [fact.plain() for fact in sources.pack.facts],
    }
    return Note(title, content, [section.plain() for section in sections], summary)
