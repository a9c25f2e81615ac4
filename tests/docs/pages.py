"""The documentation as tests read it: fenced blocks, links, headings."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str


def pages() -> list[Path]:
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def everything() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in pages())


def blocks(page: Path) -> list[Block]:
    return [Block(found["language"], found["text"]) for found in _FENCE.finditer(_text(page))]


def links(page: Path) -> list[str]:
    return [found["target"] for found in _LINK.finditer(_FENCE.sub("", _text(page)))]


def anchors(page: Path) -> set[str]:
    """Headings as the hosting sites name them."""
    found = set()
    for heading in _HEADING.finditer(_FENCE.sub("", _text(page))):
        kept = re.sub(r"[^\w\- ]", "", heading["text"].lower())
        found.add(kept.replace(" ", "-"))
    return found


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")
