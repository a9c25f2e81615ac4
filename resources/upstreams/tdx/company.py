"""Company information (F10): 0x02cf sections, 0x02d0 text in slices of bytes."""

import struct
from dataclasses import dataclass

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import Instrument
from resources.upstreams.tdx.primitives import Columns, accepted, gbk_text, read_count, require, require_end

#: The answer's length field is u16, so long sections are read in slices.
SLICE = 30_000
SCHEMA = {"title": "str", "file_name": "str", "start": "int64", "length": "int64"}
_RECORD = struct.Struct("<64s80sII")
_CONTENT_HEAD = struct.Struct("<H6sHH")
_MAX_SECTIONS = 200


@dataclass(frozen=True)
class Section:
    """One section of a company's text file: bytes `start`..`start + length` of `file_name`."""

    title: str
    file_name: str
    start: int
    length: int


def sections_call(what: Instrument) -> Call:
    payload = struct.pack("<H6sI", what.market, what.code.encode(), 0)
    return Call(
        "company_sections", 0x02CF, payload, f"tdx://company_sections?symbol={what.symbol}", what.symbol
    )


@accepted("company sections")
def parse_sections(body: bytes) -> Columns:
    number = read_count(body)
    require(number <= _MAX_SECTIONS, f"{number} sections")
    require_end(body, 2 + number * _RECORD.size)
    columns: Columns = {name: [] for name in SCHEMA}
    for pos in range(2, len(body), _RECORD.size):
        title, file_name, start, length = _RECORD.unpack_from(body, pos)
        columns["title"].append(gbk_text(title))
        columns["file_name"].append(gbk_text(file_name))
        columns["start"].append(start)
        columns["length"].append(length)
    return columns


def text_call(what: Instrument, section: Section, offset: int) -> Call:
    """The slice of `section` that begins `offset` bytes into it."""
    start, length = section.start + offset, min(SLICE, section.length - offset)
    payload = struct.pack(
        "<H6sH80sIII",
        what.market,
        what.code.encode(),
        0,
        section.file_name.encode("gb18030"),
        start,
        length,
        0,
    )
    request = (
        f"tdx://company_text?symbol={what.symbol}&file={section.file_name}&start={start}&length={length}"
    )
    return Call("company_text", 0x02D0, payload, request, f"{what.symbol} {section.title} start={start}")


@accepted("company text")
def parse_text(body: bytes, what: Instrument, limit: int) -> bytes:
    """The raw bytes of one slice; decode only what was joined, slices may cut a character."""
    if body == b"\0\0":
        return b""
    market, code, _echo, length = _CONTENT_HEAD.unpack_from(body, 0)
    require(
        (market, code) == (what.market, what.code.encode()),
        f"{code!r} (market {market}) instead of {what.symbol}",
    )
    require(length <= limit, f"{length} bytes, {limit} asked for")
    require_end(body, _CONTENT_HEAD.size + length)
    return body[_CONTENT_HEAD.size :]
