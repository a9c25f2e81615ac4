"""Server files: 0x02c5 meta, 0x06b9 content, and the block files that the platform reads from them.

block_zs.dat (index), block_gn.dat (concept), block_fg.dat (style): 386 bytes of head, records of 2,813
bytes, at most 400 members a block (a block that holds 400 may be cut). tdxhy.cfg: industry of each
security. tdxzs.cfg: codes of the block indices.
"""

import struct
from dataclasses import dataclass

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.primitives import Columns, accepted, code_text, gbk_text, require, require_end

FILE_META = 0x02C5
CHUNK = 30_000
BLOCK_CAPACITY = 400
MEMBER_SCHEMA = {
    "block_type": "str",
    "block_code": "str",
    "block_name": "str",
    "code": "str",
    "member_count": "int64",
}
_META = struct.Struct("<I1s32s1s")
_BLOCK_COUNT_AT = 384
_BLOCK_HEAD = struct.Struct("<9sHH")
_BLOCK_SIZE = _BLOCK_HEAD.size + BLOCK_CAPACITY * 7
_INDUSTRY_TYPES = {"2", "12"}


@dataclass(frozen=True)
class FileMeta:
    """`size` in bytes and the server's 32-character hash of one file."""

    size: int
    digest: str


@dataclass(frozen=True)
class BlockIndex:
    """One line of tdxzs.cfg: a block's name, its index code, its type number and its key (T code of an
    industry)."""

    name: str
    code: str
    type_number: str
    key: str


def meta_call(name: str) -> Call:
    return Call(
        "file_meta", FILE_META, struct.pack("<40s", name.encode()), f"tdx://file_meta?file={name}", name
    )


@accepted("file meta")
def parse_meta(body: bytes) -> FileMeta:
    require_end(body, _META.size)
    size, _, digest, _ = _META.unpack(body)
    return FileMeta(size, digest.split(b"\0", 1)[0].decode("ascii"))


def content_call(name: str, start: int) -> Call:
    payload = struct.pack("<II100s", start, CHUNK, name.encode())
    return Call(
        "file_content",
        0x06B9,
        payload,
        f"tdx://file_content?file={name}&start={start}",
        f"{name} start={start}",
    )


@accepted("file content")
def parse_content(body: bytes) -> bytes:
    """One chunk; empty at the end of the file."""
    if body == b"\0\0":
        return b""
    (length,) = struct.unpack_from("<I", body, 0)
    require(length <= CHUNK, f"a chunk of {length} bytes, {CHUNK} asked for")
    require_end(body, 4 + length)
    return body[4:]


@accepted("block file")
def parse_blocks(content: bytes) -> list[tuple[str, list[str]]]:
    """block_*.dat -> [(name, member codes)]. Codes have no market: 000001 in a stock block is the stock."""
    (number,) = struct.unpack_from("<H", content, _BLOCK_COUNT_AT)
    first = _BLOCK_COUNT_AT + 2
    require_end(content, first + number * _BLOCK_SIZE)
    blocks = []
    for pos in range(first, len(content), _BLOCK_SIZE):
        raw_name, count, _type = _BLOCK_HEAD.unpack_from(content, pos)
        name = gbk_text(raw_name)
        require(count <= BLOCK_CAPACITY, f"{name}: {count} members in {BLOCK_CAPACITY} places")
        members = pos + _BLOCK_HEAD.size
        codes = [code_text(content[at : at + 6]) for at in range(members, members + 7 * count, 7)]
        require(len(set(codes)) == count, f"{name}: a member twice")
        blocks.append((name, codes))
    return blocks


@accepted("tdxhy.cfg")
def parse_industries(content: bytes) -> list[tuple[int, str, str]]:
    """[(market byte, code, T code)] of every security that has an industry."""
    rows = []
    for line in _lines(content):
        market, code, key, *rest = line.split("|")
        require(len(rest) == 3, f"{line!r} has {3 + len(rest)} fields")
        if key:
            rows.append((int(market), code_text(code.encode()), key))
    return rows


@accepted("tdxzs.cfg")
def parse_block_indices(content: bytes) -> list[BlockIndex]:
    """The map of block names and industry codes to index codes (880xxx, 881xxx)."""
    indices = []
    for line in _lines(content):
        fields = line.split("|")
        require(len(fields) == 6, f"{line!r} has {len(fields)} fields")
        indices.append(BlockIndex(fields[0], code_text(fields[1].encode()), fields[2], fields[5]))
    return indices


def _lines(content: bytes) -> list[str]:
    text = content.decode("gb18030")
    return [line for line in text.replace("\r", "\n").split("\n") if line.strip()]


def block_members(kind: str, blocks: list[tuple[str, list[str]]], indices: list[BlockIndex]) -> Columns:
    """Members of a block file; `block_code` is None for blocks without an index of their own."""
    codes = {index.name: index.code for index in indices if index.type_number not in _INDUSTRY_TYPES}
    return _members(kind, [(name, codes.get(name), members) for name, members in blocks])


def industry_members(rows: list[tuple[int, str, str]], indices: list[BlockIndex]) -> Columns:
    """Members of the terminal's industries. An unnamed T code keeps the code as its name."""
    named = {index.key: index for index in indices if index.type_number in _INDUSTRY_TYPES}
    grouped: dict[str, list[str]] = {}
    for _market, code, key in rows:
        grouped.setdefault(key, []).append(code)
    return _members(
        "hy",
        [
            (named[key].name if key in named else key, named[key].code if key in named else None, codes)
            for key, codes in sorted(grouped.items())
        ],
    )


def _members(kind: str, blocks: list[tuple[str, str | None, list[str]]]) -> Columns:
    columns: Columns = {name: [] for name in MEMBER_SCHEMA}
    for name, block_code, codes in blocks:
        columns["block_type"] += [kind] * len(codes)
        columns["block_code"] += [block_code] * len(codes)
        columns["block_name"] += [name] * len(codes)
        columns["code"] += codes
        columns["member_count"] += [len(codes)] * len(codes)
    return columns
