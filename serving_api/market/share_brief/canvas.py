"""An SVG canvas of text and boxes. Every line of text has a maximum width: a longer one is set smaller,
then cut. Text from outside is escaped."""

import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from xml.sax.saxutils import escape, quoteattr

import orjson

EM = 1000
FONTS = (
    "'PingFang SC','Hiragino Sans GB','Microsoft YaHei','Noto Sans CJK SC','Source Han Sans SC',"
    "'WenQuanYi Micro Hei','Droid Sans Fallback',sans-serif"
)


@dataclass(frozen=True)
class Glyph:
    """`advance` in thousandths of the em; `path` is empty for a blank."""

    advance: int
    path: str


@cache
def glyphs() -> Mapping[str, Glyph]:
    """Unpacked at the first picture: about one megabyte on disk, ten in memory."""
    packed = files("resources").joinpath("data/glyphs_sc.json.xz").read_bytes()
    reported = orjson.loads(lzma.decompress(packed))
    return {character: Glyph(advance, path) for character, (advance, path) in reported.items()}


def advance(character: str) -> int:
    known = glyphs().get(character)
    return EM if known is None else known.advance


def width(text: str, size: float) -> float:
    """Width of a line, pixels."""
    return sum(map(advance, text)) * size / EM


SMALLEST = 0.6
"""Smallest font size, as a share of the normal one, for a line that is too long."""
CUT = "…"
_ASCENT, _DESCENT = 0.88, 0.22


@dataclass(frozen=True)
class Box:
    """The rectangle of a line of text, pixels."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass
class Canvas:
    width: int
    height: int
    boxes: list[Box] = field(default_factory=list)
    _body: list[str] = field(default_factory=list)
    _used: dict[str, str] = field(default_factory=dict)

    def rect(self, x: float, y: float, wide: float, high: float, fill: str, radius: float = 0) -> None:
        self._body.append(
            f'<rect x="{x:g}" y="{y:g}" width="{max(0.0, wide):g}" height="{high:g}" rx="{radius:g}" '
            f"fill={quoteattr(fill)}/>"
        )

    def text(
        self, x: float, y: float, text: str, size: float, fill: str, room: float, *, right: bool = False
    ) -> None:
        """Adds a line whose baseline is at `y`; `right`: it ends at `x`."""
        line, size = fitted(clean(text), size, room)
        wide = width(line, size)
        left = x - wide if right else x
        self.boxes.append(Box(line, left, y - _ASCENT * size, left + wide, y + _DESCENT * size))
        parts, at = [], 0
        for character in line:
            known = glyphs().get(character)
            if known is None:
                parts.append(
                    f'<text x="{at}" y="0" font-size="{EM}" font-family={quoteattr(FONTS)}>'
                    f"{escape(character)}</text>"
                )
            elif known.path:
                name = self._used.setdefault(character, f"g{len(self._used)}")
                parts.append(f'<use href="#{name}" x="{at}"/>')
            at += EM if known is None else known.advance
        scale = size / EM
        self._body.append(
            f'<g transform="translate({left:.1f} {y:g}) scale({scale:.4f})" fill={quoteattr(fill)}>'
            f"{''.join(parts)}</g>"
        )

    def svg(self, title: str, description: str) -> str:
        """The document. Title and description state the content of the picture as text."""
        paths = "".join(f'<path id="{name}" d="{glyphs()[one].path}"/>' for one, name in self._used.items())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">'
            f"<title>{escape(clean(title))}</title><desc>{escape(clean(description))}</desc>"
            f"<defs>{paths}</defs>{''.join(self._body)}</svg>"
        )


def clean(text: str) -> str:
    """Without characters that XML does not allow, and without line breaks."""
    return "".join(one if one.isprintable() else " " for one in text).strip()


def fitted(text: str, size: float, room: float) -> tuple[str, float]:
    """The line and its size within `room` pixels: smaller first, then cut."""
    wide = width(text, size)
    if wide <= room:
        return text, size
    size = max(size * room / wide, size * SMALLEST)
    while text and width(text, size) > room:
        text = text.removesuffix(CUT)[:-1] + CUT if text != CUT else ""
    return text, size
