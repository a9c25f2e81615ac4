"""Calls about the list of securities: 0x044e count, 0x0450 list, 0x044d list with long names."""

import struct

from resources.upstreams.tdx import primitives
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import MARKET_NAMES

PAGE = 1000
PAGE_NEW = 1600
SCHEMA = {
    "code": "str",
    "market": "str",
    "symbol": "str",
    "name": "str",
    "volume_unit": "int64",
    "decimals": "int64",
    "pre_close": "float64",
}
# code, volume unit, name (8 bytes GBK, may cut a character), 4 unknown, decimals, pre_close, 4 unknown
_RECORD = struct.Struct("<6sH8s4sBf4s")
# code, volume unit, name (16 bytes), float, decimals, pre_close, two u16
_RECORD_NEW = struct.Struct("<6sH16sfBfHH")
_MAX_DECIMALS = 5


def count_call(market: int, yyyymmdd: int) -> Call:
    """Any client date works; it is left out of the canonical request."""
    return Call(
        "count", 0x044E, struct.pack("<HI", market, yyyymmdd), f"tdx://count?market={MARKET_NAMES[market]}"
    )


@primitives.accepted("security count")
def parse_count(body: bytes) -> int:
    primitives.require_end(body, 2)
    return primitives.read_count(body)


def list_call(market: int, start: int, *, new: bool = False) -> Call:
    name, method, payload = (
        ("list_new", 0x044D, struct.pack("<HIII", market, start, PAGE_NEW, 0))
        if new
        else ("list", 0x0450, struct.pack("<HH", market, start))
    )
    return Call(
        name, method, payload, f"tdx://{name}?market={MARKET_NAMES[market]}&start={start}", f"start={start}"
    )


@primitives.accepted("security list")
def parse_list(body: bytes, market: int, *, new: bool = False) -> primitives.Columns:
    """Rows of one page. `volume_unit` is the lot (100; bonds 10), `pre_close` in the list's decimals."""
    record, limit = (_RECORD_NEW, PAGE_NEW) if new else (_RECORD, PAGE)
    number = primitives.read_count(body)
    primitives.require(number <= limit, f"{number} rows on a page of {limit}")
    primitives.require_end(body, 2 + number * record.size)
    columns: primitives.Columns = {name: [] for name in SCHEMA}
    market_name = MARKET_NAMES[market]
    close_at = 29 if new else 21
    for pos in range(2, len(body), record.size):
        fields = record.unpack_from(body, pos)
        code, decimals = primitives.code_text(fields[0]), int(fields[4])
        primitives.require(decimals <= _MAX_DECIMALS, f"{code}: {decimals} decimals")
        columns["code"].append(code)
        columns["market"].append(market_name.upper())
        columns["symbol"].append(market_name + code)
        columns["name"].append(primitives.gbk_text(fields[2]))
        columns["volume_unit"].append(fields[1])
        columns["decimals"].append(decimals)
        columns["pre_close"].append(round(primitives.read_float(body, pos + close_at), decimals))
    return columns
