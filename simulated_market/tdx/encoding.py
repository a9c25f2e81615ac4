"""How the terminal protocol writes values: varints, float32, packed dates, server times, GBK cells.

Written from the wire document alone and independent of the client's readers, so that an error in one is not
repeated in the other.
"""

import struct
import zlib
from datetime import datetime
from functools import lru_cache

from simulated_market.world.dates import number_of

MAGIC = b"\xb1\xcb\x74\x00"
STORED = 0x0C
COMPRESSED = 0x1C
#: Smaller bodies travel as they are.
COMPRESS_FROM = 180
MAX_BODY = 0xFFFF
NO_DATA = b"\x00\x00"


@lru_cache(maxsize=1 << 16)
def varint(value: int) -> bytes:
    """Six bits, sign and continuation flag in the first byte, seven bits in each further one."""
    magnitude = abs(value)
    out = bytearray([(magnitude & 0x3F) | (0x40 if value < 0 else 0)])
    magnitude >>= 6
    while magnitude:
        out[-1] |= 0x80
        out.append(magnitude & 0x7F)
        magnitude >>= 7
    return bytes(out)


def varints(*values: int) -> bytes:
    return b"".join(map(varint, values))


def float32(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def u16(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def packed_minute(yyyymmdd: int, minutes: int) -> bytes:
    """Day and minute of an intraday bar: two u16, years counted from 2004."""
    year, rest = divmod(yyyymmdd, 10_000)
    return u16(((year - 2004) << 11) + rest, minutes)


def server_time(moment: datetime) -> int:
    """The quote's time number. Two ways of counting below the hour occur on the wire: minutes with
    ten-thousandths of a minute, and (seen in the last minute of an hour) millionths of the hour."""
    if moment.minute == 59:
        seconds = moment.minute * 60 + moment.second
        return moment.hour * 1_000_000 + -(-seconds * 1_000_000 // 3600)
    return moment.hour * 1_000_000 + moment.minute * 10_000 + -(-moment.second * 10_000 // 60)


def cell(text: str, size: int) -> bytes:
    """GBK in a fixed width, NUL padded; a character at the edge is cut in the middle."""
    return text.encode("gb18030")[:size].ljust(size, b"\0")


def frame(seq: int, method: int, body: bytes) -> bytes:
    """A response frame; bodies of some size are compressed when that makes them shorter."""
    if len(body) > MAX_BODY:
        raise ValueError(f"a body of {len(body)} bytes does not fit into a frame")
    flag, wire = STORED, body
    if len(body) >= COMPRESS_FROM:
        packed = zlib.compress(body)
        if len(packed) < len(body):
            flag, wire = COMPRESSED, packed
    return MAGIC + struct.pack("<BIBHHH", flag, seq, 0, method, len(wire), len(body)) + wire


# -- Bodies without market data: hello 1 and 2, heartbeat, server info.

SERVER_NAME = "模拟行情主站"
_CATEGORY = "#模拟"
# Opening and closing minutes of the trading sessions, as current servers repeat them.
_SESSIONS = struct.pack("<8H", 570, 690, 780, 900, 900, 900, 900, 900)
_FLAGS = bytes.fromhex("ff00e700000101 01ff")


def hello(now: datetime) -> bytes:
    """189 bytes; the server's clock and name are what clients use."""
    day, clock = number_of(now), now.hour * 10_000 + now.minute * 100 + now.second
    body = struct.pack("<BHBBBBBB", 0, now.year, now.day, now.month, now.minute, now.hour, 0, now.second)
    body += _SESSIONS + _SESSIONS + b"\0" + struct.pack("<IIII", day, clock, day, clock)
    body += (
        _FLAGS.ljust(9, b"\0") + b"\0" + cell(SERVER_NAME, 21) + bytes(64) + bytes(6) + cell(_CATEGORY, 30)
    )
    return body


def hello_2() -> bytes:
    """No notice: flag 0, then the empty cells of tips and link."""
    return struct.pack("<BH50s5s120s", 0, 0, b"", b"", b"")


def heartbeat(now: datetime) -> bytes:
    return bytes(6) + struct.pack("<I", number_of(now))


def server_info(now: datetime) -> bytes:
    day, clock = number_of(now), now.hour * 10_000 + now.minute * 100 + now.second
    return struct.pack(
        "<IH8sH55s10s255s20sIHH6s19sHHHHIIIIIIIH",
        *(1797, 0, b"", 1, cell("simulated", 55), b"", b"", b"", day, 0, 1, b"", b""),
        *(100, 200, 0, 1),
        *(day, clock, day, day, day, day, day, 0),
    )
