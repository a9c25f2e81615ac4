"""Compression of JSON answers: zstd where it is accepted, else gzip, at levels that cost little."""

import gzip
from functools import lru_cache

import zstandard

MIN_BYTES = 1024
ZSTD_LEVEL, GZIP_LEVEL = 3, 1
ZSTD, GZIP = b"zstd", b"gzip"


@lru_cache(maxsize=256)
def chosen(accept: bytes) -> bytes | None:
    """The encoding that an Accept-Encoding header allows and we prefer; None = as it is."""
    weights: dict[bytes, float] = {}
    for part in accept.lower().split(b","):
        name, _, parameters = part.partition(b";")
        weights[name.strip()] = _weight(parameters)
    rest = weights.get(b"*", 0.0)
    return next((name for name in (ZSTD, GZIP) if weights.get(name, rest) > 0), None)


def _weight(parameters: bytes) -> float:
    name, _, value = parameters.strip().partition(b"=")
    if name.strip() != b"q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def compressed(body: bytes, encoding: bytes) -> bytes:
    """`body` in `encoding`; the same bytes for the same body."""
    if encoding == ZSTD:
        return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(body)
    return gzip.compress(body, GZIP_LEVEL, mtime=0)
