"""Outlines of characters, so that a picture is readable without an installed Chinese font.

`resources/data/glyphs_sc.json.xz`: GB 2312 and ASCII. Other characters are drawn as text in a font of
the reader.
"""

import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
