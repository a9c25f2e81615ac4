"""Framing: 12-byte request headers, 16-byte response headers, zlib.

Request  `<BIBHHH`  prefix 0x0C, seq, type 1, payload length + 2 (twice), method; then the payload.
Response `<IBIBHHH` magic, flag, seq echo, unknown, method echo, bytes on the wire, bytes inflated.
"""

import struct
import zlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.errors import PayloadError
from resources.upstreams.tdx.primitives import SOURCE, accepted, gbk_text, require, require_end

REQUEST = struct.Struct("<BIBHHH")
RESPONSE = struct.Struct("<IBIBHHH")
MAGIC = b"\xb1\xcb\x74\x00"
_MAGIC_NUMBER = int.from_bytes(MAGIC, "little")
_PREFIX = 0x0C
_NORMAL = 0x01


class Kind(StrEnum):
    """What a server serves or does not: servers that answer lists may answer nothing else."""

    LISTS = "lists"
    BARS = "bars"
    QUOTES = "quotes"
    TRANSACTIONS = "transactions"
    FILES = "files"


#: Kind of each method; all others read lists: securities, ex-rights, finance, texts of companies.
_KINDS = {
    0x052D: Kind.BARS,
    0x0523: Kind.BARS,
    0x053E: Kind.QUOTES,
    0x054C: Kind.QUOTES,
    0x051D: Kind.TRANSACTIONS,
    0x0537: Kind.TRANSACTIONS,
    0x0FB4: Kind.TRANSACTIONS,
    0x0FC5: Kind.TRANSACTIONS,
    0x0FB5: Kind.TRANSACTIONS,
    0x0FC6: Kind.TRANSACTIONS,
    0x056A: Kind.TRANSACTIONS,
    0x02C5: Kind.FILES,
    0x06B9: Kind.FILES,
}


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

    @property
    def kind(self) -> Kind:
        return _KINDS.get(self.method, Kind.LISTS)


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


# -- Calls that keep a connection, without market data: hello 1 and 2, heartbeat, server info.

HELLO_1 = Call("hello", 0x000D, b"\x01", "tdx://hello?step=1")
#: The broker tag of a common client (GBK), its version 2.59 as float32 and opaque bytes.
HELLO_2 = Call(
    "hello2",
    0x0FDB,
    bytes.fromhex("d5d0c9ccd6a4a8af0000008fc22540130000d500c9ccbdf0d7ea00000002"),
    "tdx://hello?step=2",
)
HEARTBEAT = Call("heartbeat", 0x0004, b"", "tdx://heartbeat")
SERVER_INFO = Call("server_info", 0x0015, b"", "tdx://server_info")
_HELLO_SIZE = 189
_INFO = struct.Struct("<IH8sH55s10s255s20sIHH6s19sHHHHIIIIIIIH")


@dataclass(frozen=True)
class Greeting:
    """The answer to hello 1: the server's clock and name."""

    time: datetime
    server_name: str


@dataclass(frozen=True)
class ServerInfo:
    """The answer to 0x0015; `time` is the server's own."""

    time: datetime
    info: str
    content: str


@accepted("hello")
def parse_hello(body: bytes) -> Greeting:
    """The 189-byte answer of current servers. Old servers answer other lengths: not an error of the
    connection, so the connection itself does not parse it."""
    require(len(body) >= _HELLO_SIZE, f"{len(body)} bytes, {_HELLO_SIZE} expected")
    year, day, month, minute, hour, _zero, second = struct.unpack_from("<HBBBBBB", body, 1)
    return Greeting(datetime(year, month, day, hour, minute, second), gbk_text(body[68:89]))


@accepted("heartbeat")
def parse_heartbeat(body: bytes) -> int:
    """YYYYMMDD of the server; 0 from older ones."""
    require_end(body, 10)
    day: int = struct.unpack_from("<I", body, 6)[0]
    return day


@accepted("server info")
def parse_server_info(body: bytes) -> ServerInfo:
    require_end(body, _INFO.size)
    fields = _INFO.unpack(body)
    day, clock = fields[17], fields[18]
    moment = datetime(
        day // 10000, day // 100 % 100, day % 100, clock // 10000, clock // 100 % 100, clock % 100
    )
    return ServerInfo(moment, gbk_text(fields[4]), gbk_text(fields[6]))
