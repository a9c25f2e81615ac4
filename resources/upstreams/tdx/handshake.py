"""Calls that keep a connection, without market data: hello 1 and 2, heartbeat, server info."""

import struct
from dataclasses import dataclass
from datetime import datetime

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.primitives import accepted, gbk_text, require, require_end

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
