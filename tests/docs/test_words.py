"""Words that were given up (Architecture, "Old and new words") do not come back.

Pages that people write and the README have none of them. The packages still have some: `MOST` holds how many,
a bound that may only fall: a change that removes some lowers it.
"""

import itertools
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

OLD = {
    "desk": "fetch context",
    "desks": "fetch contexts",
    "leash": "parent watchdog",
    "pulse": "heartbeat",
    "hearts?": "heartbeat",
    "anew": "again; replace='snapshot', replace='code'",
    "whoever": "the source, process or person that",
    "lying": "corrupted",
    "liars?": "corrupted responses",
    "told": "reported, stated, carried; distinguished",
    "believ(?:e|es|ed)": "accepted",
    "doubted": "flagged",
    "wish(?:es|ed)?": "request",
    "fading": "column retention",
    "scenes?": "scenarios",
    "flights?": "single-flight cache",
    "sweeps?": "per-code fetch, reconciliation",
    "stands? in": "is the fallback",
    "stand-ins?": "fallback",
    "stood in": "was the fallback",
    "the house": "services",
    "finance portal": "portal",
    "second[ _]site": "second quote site",
    "East ?[Mm]oney(?= )": "portal",
}
"""Old word as a regex -> what to write instead."""
ONLY_PAGES = {
    "tells?": "reports, has, gives",
    "slots?": "scheduled run",
    "stands": "is, is kept",
    "lies": "is, is stored; corrupted responses",
}
"""Looked for in pages alone: the code has them as names on the wire, or as ordinary verbs."""
EXCEPTIONS = re.compile(
    r"single[-_ ]?flight|flight to safety|in[- ]house|clearing house|concurrency slot|sys_slot|test_words"
    r"|pulse_?(?:width|rate)|`slot`",
    re.IGNORECASE,
)
MOST = {
    "core": 0,
    "platform_assets": 13,
    "resources": 0,
    "schedules": 0,
    "serving_api": 0,
}
"""Old words in the `.py` files of a package, in names, comments and texts. Only ever lowered."""
KEPT_FOR_A_RELEASE = ("moved-modules.md",)


def pattern(words: dict[str, str]) -> re.Pattern[str]:
    """Any of the words, alone or as a part of a name: `desk_of`, `open_desk`, `OpenDesk`, "the desk"."""
    parts = [
        rf"(?<![A-Za-z]){word}(?![a-z])|(?<![A-Z]){word[0].upper()}{word[1:]}(?![a-z])" for word in words
    ]
    return re.compile("|".join(parts))


def found(text: str, words: re.Pattern[str]) -> list[str]:
    """The old words of a text, without those of the terms that keep them."""
    return [hit[0] for hit in words.finditer(EXCEPTIONS.sub(" ", text))]


def written_pages() -> list[Path]:
    """README and the pages that are not derived as a whole."""
    derived = {ROOT / "docs/client-calls.md", ROOT / "docs/vocabulary.md"}
    folders = ("docs", "docs/calculations", "docs/decisions")
    files = [page for folder in folders for page in sorted((ROOT / folder).glob("*.md"))]
    return [
        *sorted(ROOT.glob("*.md")),
        *(page for page in files if page not in derived and page.name not in KEPT_FOR_A_RELEASE),
    ]


def hand_written(page: Path) -> str:
    """A page without its derived blocks and the table of old words."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!-- derived: .*?<!-- end -->", "", text, flags=re.DOTALL)
    return re.sub(r"^## Old and new words$.*?(?=^## |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", written_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_uses_an_old_word(page: Path) -> None:
    words = pattern(OLD | ONLY_PAGES)
    lines = hand_written(page).splitlines()

    assert [f"{hit}: {line}" for line in lines for hit in found(line, words)] == []


@pytest.mark.parametrize("page", written_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_says_a_sentence_twice_in_a_row(page: Path) -> None:
    sentences = re.split(r"(?<=[.!?])\s+", re.sub(r"```.*?```", "", hand_written(page), flags=re.DOTALL))
    pairs = itertools.pairwise(sentences)

    assert [one for one, two in pairs if one == two and len(one) > 15] == []


@pytest.mark.parametrize("package", sorted(MOST))
def test_old_words_of_a_package_only_become_fewer(package: str) -> None:
    words = pattern(OLD)
    hits = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for hit in found(path.read_text(encoding="utf-8"), words)
    ]

    assert len(hits) <= MOST[package], hits


def test_old_words_are_seen_and_terms_that_keep_them_are_not() -> None:
    words = pattern(OLD)
    text = "def open_desk(): the desk of OpenDesk is made anew; whoever believed it was told"

    assert found(text, words) == ["desk", "desk", "Desk", "anew", "whoever", "believed", "told"]
    assert found("single_flight, a flight to safety, the clearing house, in-house desktop", words) == []
