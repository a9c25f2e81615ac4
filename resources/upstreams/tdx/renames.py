"""Former names of every security: `profile.dat` in the package `zhb.zip` that the servers hand out.

Records of 64 bytes: u8 market, 6s code, a zero, 9s old name (GBK, at most 8 bytes, zero padded), u32 date
from which the next name is shown, zeros. The current name of a security is not among them. The package is
that of the day before: a change of today is not in it yet.
"""

import io
import struct
import zipfile
import zlib

from core.errors import PayloadError
from resources.upstreams.tdx.instruments import MARKET_NAMES
from resources.upstreams.tdx.primitives import (
    SOURCE,
    Columns,
    accepted,
    code_text,
    date_text,
    gbk_text,
    require,
)

PACKAGE = "zhb.zip"
MEMBER = "profile.dat"
SCHEMA = {"code": "str", "market": "str", "symbol": "str", "old_name": "str", "renamed_on": "str"}
_RECORD = struct.Struct("<B6s1s9sI43s")
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    LookupError,
    ValueError,
    OSError,
    EOFError,
    RuntimeError,  # encrypted
    ArithmeticError,
)
_MOST_BYTES = 16 << 20
"""Some 6,000 records are 400 kB; whatever unpacks to more than this is no file of the settings."""


def unpacked(package: bytes, name: str = MEMBER) -> bytes:
    """One file of the package; PayloadError when there is no such package or no such file."""
    if not package:
        raise PayloadError(f"the server has no {PACKAGE}", source=SOURCE)
    try:
        with zipfile.ZipFile(io.BytesIO(package)) as archive:
            how = archive.getinfo(name).compress_type
            require(how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), f"{name} is packed in way {how}")
            with archive.open(name) as member:
                content = member.read(_MOST_BYTES + 1)
    except _UNREADABLE as error:
        raise PayloadError(f"{PACKAGE}: {error}", source=SOURCE) from error
    if len(content) > _MOST_BYTES:
        raise PayloadError(f"{name} holds more than {_MOST_BYTES} bytes", source=SOURCE)
    return content


@accepted("former names")
def parse_renames(content: bytes) -> Columns:
    """One row per change of a name. `renamed_on` is the first date of the next name; markets that the
    terminal serves elsewhere are left out."""
    require(len(content) % _RECORD.size == 0, f"{len(content)} bytes are no whole records")
    columns: Columns = {name: [] for name in SCHEMA}
    for market, raw_code, _, raw_name, date, _rest in _RECORD.iter_unpack(content):
        code, name, day = code_text(raw_code), gbk_text(raw_name), date_text(date)
        require(bool(name), f"{code} without a name up to {day}")
        if market not in MARKET_NAMES:
            continue
        columns["code"].append(code)
        columns["market"].append(MARKET_NAMES[market].upper())
        columns["symbol"].append(MARKET_NAMES[market] + code)
        columns["old_name"].append(name)
        columns["renamed_on"].append(day)
    return columns
