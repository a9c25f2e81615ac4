"""The list of securities in memory: the light index and the search over it.

Built once per version of the master table. A keyword is searched in codes and names; a keyword of
letters without a match there is searched in pinyin: initials prefix, spelling prefix, initials inside,
spelling inside. For a name with polyphones every plausible reading is searched; among equal matches the
usual one comes first.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import orjson

from core.text_keys import search_key

_LETTERS = re.compile(r"[a-z]+")


class Listing(NamedTuple):
    """One security as search and index return it."""

    code: str
    name: str
    market: str | None
    sec_type: str | None
    initials: str
    spelling: str
    industry: str | None
    others: tuple[tuple[str, str], ...] = ()
    """other plausible readings of the name: (initials, spelling)"""


@dataclass(frozen=True)
class Lines:
    """Pairs of texts as one text, one per line: one scan of it finds those that contain a keyword."""

    pairs: Sequence[tuple[str, str]]
    joined: str
    starts: Sequence[int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> "Lines":
        listed = list(pairs)
        lines = [f"{first}\t{second}\n" for first, second in listed]
        return cls(listed, "".join(lines), list(accumulate(map(len, lines), initial=0)))

    def holding(self, sought: str) -> Iterator[tuple[int, tuple[str, str]]]:
        """(position, pair) of every pair with `sought` (without blanks, so within one text) in either
        text."""
        find, starts, pairs = self.joined.find, self.starts, self.pairs
        place, found = 0, find(sought)
        while found >= 0:
            if found >= starts[place + 1]:
                place = bisect_right(starts, found, place + 1) - 1
            yield place, pairs[place]
            place += 1
            found = find(sought, starts[place])


@dataclass(frozen=True)
class Directory:
    """Securities by code."""

    listings: Sequence[Listing]
    names: "Lines"
    pinyin: "Lines"
    read_by: Sequence[int]
    """the listing of each line of `pinyin`; its usual reading comes first"""
    index_json: bytes

    @classmethod
    def of(cls, listings: Iterable[Listing]) -> "Directory":
        ordered = sorted(listings, key=lambda listing: listing.code)
        index = [
            {
                "code": listing.code,
                "name": listing.name,
                "market": listing.market,
                "py": listing.initials,
                "pinyin": listing.spelling,
                "secType": listing.sec_type,
                "pinyinOthers": [{"py": py, "pinyin": pinyin} for py, pinyin in listing.others],
            }
            for listing in ordered
        ]
        names = Lines.of((listing.code.casefold(), search_key(listing.name)) for listing in ordered)
        readings = [
            (at, reading)
            for at, listing in enumerate(ordered)
            for reading in ((listing.initials, listing.spelling), *listing.others)
        ]
        pinyin = Lines.of(reading for _, reading in readings)
        return cls(ordered, names, pinyin, [at for at, _ in readings], orjson.dumps(index))

    @property
    def size(self) -> int:
        """Bytes, about."""
        return 2 * len(self.index_json) + 400 * len(self.listings)

    def find(self, keyword: str) -> list[Listing]:
        """All matches, best first; equal ones by code."""
        sought = search_key(keyword)
        if not sought:
            return []
        hits = self._by_code_or_name(sought)
        if not hits and _LETTERS.fullmatch(sought):
            hits = self._by_pinyin(sought)
        return [self.listings[at] for *_, at in sorted(hits)]

    def _by_code_or_name(self, sought: str) -> list[tuple[int, ...]]:
        hits: list[tuple[int, ...]] = []
        for at, (code, name) in self.names.holding(sought):
            leading = code.startswith(sought) or name.startswith(sought)
            hits.append((2 if not leading else 0 if sought in {code, name} else 1, at))
        return hits

    def _by_pinyin(self, sought: str) -> list[tuple[int, ...]]:
        """(rank, 1 when only a less usual reading matches, listing), each listing once."""
        best: dict[int, tuple[int, int]] = {}
        for line, (initials, spelling) in self.pinyin.holding(sought):
            if initials.startswith(sought):
                rank = 0
            elif spelling.startswith(sought):
                rank = 1
            else:
                rank = 2 if sought in initials else 3
            at = self.read_by[line]
            found = (rank, int(line > 0 and self.read_by[line - 1] == at))
            best[at] = min(found, best.get(at, found))
        return [(*found, at) for at, found in best.items()]


def search_row(listing: Listing) -> dict[str, Any]:
    """A search hit; live values are always 0 here."""
    return {
        "code": listing.code,
        "name": listing.name,
        "industry": listing.industry,
        "market": listing.market,
        "price": 0,
        "changePercent": 0,
    }
