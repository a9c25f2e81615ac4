"""Numbers that belong to a fact: equal on every machine, untouched by other facts."""

import zlib
from random import Random


def drawn(*parts: object) -> int:
    """A number below 2**32 for a fact that the parts name."""
    return zlib.crc32(" ".join(map(str, parts)).encode())


def draws(*parts: object) -> Random:
    """Random numbers for a fact that the parts name."""
    return Random(zlib.crc32("|".join(map(str, parts)).encode()))
