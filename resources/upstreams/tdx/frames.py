"""Framing: 12-byte request headers, 16-byte response headers, zlib.

Request  `<BIBHHH`  prefix 0x0C, seq, type 1, payload length + 2 (twice), method; then the payload.
Response `<IBIBHHH` magic, flag, seq echo, unknown, method echo, bytes on the wire, bytes inflated.
"""

import struct
import zlib
from dataclasses import dataclass

from core.errors import PayloadError
from resources.upstreams.tdx.primitives import SOURCE

REQUEST = struct.Struct("<BIBHHH")
RESPONSE = struct.Struct("<IBIBHHH")
MAGIC = b"\xb1\xcb\x74\x00"
_MAGIC_NUMBER = int.from_bytes(MAGIC, "little")
_PREFIX = 0x0C
_NORMAL = 0x01


@dataclass(frozen=True)
class Call:
    """One request before it has a sequence number.

    `name` is what fetch logs and fault plans call it, `request` its canonical text, `page` the codes or
    the page for the reader of a log.
    """

    name: str
    method: int
    payload: bytes
    request: str
    page: str = ""


@dataclass(frozen=True)
class Header:
    """A response header. `zip_len` bytes follow on the wire, `raw_len` after inflation."""

    seq: int
    method: int
    zip_len: int
    raw_len: int


def request_frame(seq: int, method: int, payload: bytes) -> bytes:
    length = len(payload) + 2
    return REQUEST.pack(_PREFIX, seq, _NORMAL, length, length, method) + payload


def response_header(raw: bytes) -> Header | None:
    """The 16 bytes of a header, or None when they do not start with the magic."""
    magic, _flag, seq, _unknown, method, zip_len, raw_len = RESPONSE.unpack(raw)
    return Header(seq, method, zip_len, raw_len) if magic == _MAGIC_NUMBER else None


def inflate(header: Header, wire: bytes) -> bytes:
    """The body in clear. Lengths that differ mean zlib; the result must have the promised size exactly."""
    if header.zip_len == header.raw_len:
        return wire
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(wire, header.raw_len + 1)
    except zlib.error as error:
        raise PayloadError(
            f"method {header.method:#06x}: body does not inflate: {error}", source=SOURCE
        ) from error
    if len(body) != header.raw_len or not inflater.eof or inflater.unused_data:
        raise PayloadError(
            f"method {header.method:#06x}: {len(body)} bytes inflated, {header.raw_len} promised",
            source=SOURCE,
        )
    return body
