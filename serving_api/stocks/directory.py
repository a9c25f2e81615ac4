"""The list of securities in memory: the light index and the search over it.

Made once per version of the master table. A keyword is looked for in codes and names; a keyword of letters
that hits nothing there is looked for in pinyin: initials prefix, spelling prefix, initials inside, spelling
inside.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

_LETTERS = re.compile(r"[A-Za-z]+")


class Listing(NamedTuple):
    """One security as search and index show it."""

    code: str
    name: str
    market: str | None
    sec_type: str | None
    initials: str
    spelling: str
    industry: str | None


def search_key(text: str) -> str:
    """Text as it is compared: full width as half width, without blanks, without case."""
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


@dataclass(frozen=True)
class Directory:
    """Securities by code."""

    listings: Sequence[Listing]
    keys: Sequence[str]
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
            }
            for listing in ordered
        ]
        return cls(ordered, [search_key(listing.name) for listing in ordered], orjson.dumps(index))

    @property
    def size(self) -> int:
        """Bytes, about."""
        return 2 * len(self.index_json) + 400 * len(self.listings)

    def find(self, keyword: str) -> list[Listing]:
        """All hits, best first; equal ones by code."""
        sought = search_key(keyword)
        if not sought:
            return []
        hits = self._by_code_or_name(sought)
        if not hits and _LETTERS.fullmatch(keyword.strip()):
            hits = self._by_pinyin(sought)
        return [self.listings[at] for _, at in sorted(hits)]

    def _by_code_or_name(self, sought: str) -> list[tuple[int, int]]:
        hits = []
        for at, (listing, key) in enumerate(zip(self.listings, self.keys, strict=True)):
            code = listing.code.casefold()
            if sought in code or sought in key:
                exact, leading = sought in (code, key), code.startswith(sought) or key.startswith(sought)
                hits.append((0 if exact else 1 if leading else 2, at))
        return hits

    def _by_pinyin(self, sought: str) -> list[tuple[int, int]]:
        hits = []
        for at, listing in enumerate(self.listings):
            if listing.initials.startswith(sought):
                hits.append((0, at))
            elif listing.spelling.startswith(sought):
                hits.append((1, at))
            elif sought in listing.initials:
                hits.append((2, at))
            elif sought in listing.spelling:
                hits.append((3, at))
        return hits


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
