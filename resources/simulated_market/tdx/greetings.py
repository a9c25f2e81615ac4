"""Bodies without market data: hello 1 and 2, heartbeat, server info."""

import struct
from datetime import datetime

from resources.simulated_market.tdx.encoding import cell

SERVER_NAME = "模拟行情主站"
_CATEGORY = "#模拟"
# Opening and closing minutes of the trading sessions, as current servers repeat them.
_SESSIONS = struct.pack("<8H", 570, 690, 780, 900, 900, 900, 900, 900)
_FLAGS = bytes.fromhex("ff00e700000101 01ff")


def hello(now: datetime) -> bytes:
    """189 bytes; the server's clock and name are what clients use."""
    day, clock = _day(now), now.hour * 10_000 + now.minute * 100 + now.second
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
    return bytes(6) + struct.pack("<I", _day(now))


def server_info(now: datetime) -> bytes:
    day, clock = _day(now), now.hour * 10_000 + now.minute * 100 + now.second
    return struct.pack(
        "<IH8sH55s10s255s20sIHH6s19sHHHHIIIIIIIH",
        *(1797, 0, b"", 1, cell("simulated", 55), b"", b"", b"", day, 0, 1, b"", b""),
        *(100, 200, 0, 1),
        *(day, clock, day, day, day, day, day, 0),
    )


def _day(now: datetime) -> int:
    return now.year * 10_000 + now.month * 100 + now.day
