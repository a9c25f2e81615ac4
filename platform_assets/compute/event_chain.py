"""Finds names in the flash news of a day and links between them. Pure.

Weights count flashes; they are no measure of importance.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

EVENT, THEME, SECTOR, STOCK = "event", "theme", "sector", "stock"
MOST_EVENTS, MOST_OTHERS = 60, 40
_ENDINGS = ("概念股", "概念", "板块", "行业")
_SHORTEST = 2
_ASCII_SHORTEST = 3


@dataclass(frozen=True)
class Flash:
    """`codes` are those that its source marks it with."""

    id: str
    time: str
    title: str
    content: str
    codes: tuple[str, ...]


class Words:
    """Names of themes, sectors and stocks as one pattern; of two names at one place the longer counts."""

    def __init__(
        self,
        themes: Mapping[str, str],
        sectors: Mapping[str, str],
        stocks: Mapping[str, str],
        industry_of: Mapping[str, str],
    ) -> None:
        """`themes`, `sectors`: name -> code; `stocks`: code -> name; `industry_of`: stock -> name of a
        sector. A name that is a sector and a theme is a sector."""
        self.stocks = stocks
        self.industry_of = industry_of
        self.sectors = sectors
        self._meant: dict[str, tuple[str, str, str]] = {}
        for kind, names in ((SECTOR, sectors), (THEME, themes)):
            for name, code in sorted(names.items()):
                for word in _spellings(name):
                    self._meant.setdefault(word, (kind, code, name))
        for code, name in sorted(stocks.items()):
            for word in _spellings(name)[:1]:
                self._meant[word] = (STOCK, code, name)
        longest = sorted(self._meant, key=lambda word: (-len(word), word))
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def named_in(self, text: str) -> set[tuple[str, str, str]]:
        """(kind, code, name) of everything that a text names."""
        if self._pattern is None:
            return set()
        return {self._meant[found] for found in self._pattern.findall(text)}


def _spellings(name: str) -> list[str]:
    """A name and, where it has one, its form without the ending; none where it is too short to be a word."""
    name = name.strip()
    short = next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)
    words = dict.fromkeys((name, short))
    return [word for word in words if len(word) >= (_ASCII_SHORTEST if word.isascii() else _SHORTEST)]


def chain(flashes: Sequence[Flash], words: Words) -> dict[str, Any]:
    """{nodes, edges, items}: newest flashes first; of many nodes those that most flashes mention."""
    weights: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], str] = {}
    edges: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    events: list[tuple[Flash, set[tuple[str, str]]]] = []
    for flash in sorted(flashes, key=lambda one: (one.time, one.id), reverse=True):
        direct, reported, members = _mentions(flash, words)
        if not direct:
            continue
        names.update(reported)
        events.append((flash, direct))
        weights.update(direct | {sector for _, sector in members})
        edges.update(members)
    kept = {key for key, _ in sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_OTHERS]}
    shown = [(flash, direct & kept) for flash, direct in events if direct & kept][:MOST_EVENTS]
    nodes = [_node((EVENT, flash.id), flash.title, 1) for flash, _ in shown]
    nodes += [_node(key, names[key], weights[key]) for key in sorted(kept, key=lambda k: (-weights[k], k))]
    lines = [_edge((EVENT, flash.id), key, 1) for flash, direct in shown for key in sorted(direct)]
    lines += [_edge(a, b, count) for (a, b), count in sorted(edges.items()) if a in kept and b in kept]
    items = [{"title": flash.title, "time": flash.time} for flash, _ in events]
    return {"nodes": nodes, "edges": lines, "items": items}


def _mentions(
    flash: Flash, words: Words
) -> tuple[set[tuple[str, str]], dict[tuple[str, str], str], set[tuple[tuple[str, str], tuple[str, str]]]]:
    """Names that a flash gives itself, all names in it, and (stock, its industry) pairs."""
    reported: dict[tuple[str, str], str] = {}
    for kind, code, name in words.named_in(f"{flash.title} {flash.content}"):
        reported[kind, code] = name
    for code in flash.codes:
        if code in words.stocks:
            reported[STOCK, code] = words.stocks[code]
    direct = set(reported)
    members = set()
    for kind, code in direct:
        industry = words.industry_of.get(code) if kind == STOCK else None
        if industry is not None and industry in words.sectors:
            sector = (SECTOR, words.sectors[industry])
            reported[sector] = industry
            members.add(((kind, code), sector))
    return direct, reported, members


def _node(key: tuple[str, str], name: str, weight: int) -> dict[str, Any]:
    return {"id": _id(key), "name": name, "type": key[0], "weight": weight}


def _edge(source: tuple[str, str], target: tuple[str, str], weight: int) -> dict[str, Any]:
    return {"source": _id(source), "target": _id(target), "weight": weight}


def _id(key: tuple[str, str]) -> str:
    return ":".join(key)
