"""The first sheet of an .xlsx workbook as rows of texts: no styles, no formulas, no dates."""

import io
import re
import zipfile
import zlib
from xml.etree import ElementTree

from core.errors import PayloadError
from resources.upstreams.parsing.payload import present

_MOST_BYTES = 64 * 1024 * 1024
_MOST_COLUMNS = 200
_SHEET = re.compile(r"\Axl/worksheets/sheet([1-9][0-9]{0,3})\.xml\Z")
_CELL = re.compile(r"\A([A-Z]{1,3})[0-9]+\Z")


def sheet_rows(body: bytes, what: str, *, most_bytes: int = _MOST_BYTES) -> list[list[str]]:
    """Rows with one text per column, '' where there is none; of a formula, the value it had. PayloadError
    for no workbook, and for one whose unpacked sheet or texts are larger than `most_bytes`."""
    present(body)
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            names = set(book.namelist())
            sheet = _member(book, _first_sheet(names), what, most_bytes)
            shared = (
                _shared(_member(book, "xl/sharedStrings.xml", what, most_bytes))
                if "xl/sharedStrings.xml" in names
                else []
            )
        return [_row(row, shared, what) for row in sheet.iter() if _tag(row) == "row"]
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
        ValueError,
        ElementTree.ParseError,
    ) as error:
        raise PayloadError(f"{what}: no workbook ({type(error).__name__})") from error


def _first_sheet(names: set[str]) -> str:
    """The sheet of the lowest number; a KeyError of the first one's name when there is none."""
    numbers = [int(found.group(1)) for found in map(_SHEET.match, names) if found]
    return f"xl/worksheets/sheet{min(numbers, default=1)}.xml"


def _member(book: zipfile.ZipFile, name: str, what: str, most_bytes: int) -> ElementTree.Element:
    if book.getinfo(name).file_size > most_bytes:
        raise PayloadError(f"{what}: {name} is too large")
    with book.open(name) as file:
        text = file.read(most_bytes + 1)
    # A workbook declares no entities; what does is an attack on the parser, in UTF-16 (NUL bytes) as well.
    if len(text) > most_bytes or any(sign in text for sign in (b"<!DOCTYPE", b"<!ENTITY", b"\0")):
        raise PayloadError(f"{what}: {name} is not plausible")
    return ElementTree.fromstring(text)  # noqa: S314  no document type gets here


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _texts(node: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in node.iter() if _tag(part) == "t")


def _shared(root: ElementTree.Element) -> list[str]:
    # Stripped once: a cell's own copy of a long text for each of its uses would fill the memory.
    return [_texts(item).strip() for item in root if _tag(item) == "si"]


def _row(row: ElementTree.Element, shared: list[str], what: str) -> list[str]:
    values: list[str] = []
    for cell in row:
        at = _column(cell.get("r", ""), len(values))
        if at >= _MOST_COLUMNS:
            raise PayloadError(f"{what}: a row of {at + 1} columns")
        values += [""] * (at + 1 - len(values))
        values[at] = _value(cell, shared, what)
    return values


def _column(reference: str, following: int) -> int:
    found = _CELL.match(reference)
    if found is None:
        return following
    at = 0
    for letter in found.group(1):
        at = at * 26 + ord(letter) - 64
    return at - 1


def _value(cell: ElementTree.Element, shared: list[str], what: str) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _texts(cell).strip()
    text = next((part.text or "" for part in cell if _tag(part) == "v"), "").strip()
    if kind != "s":
        return text
    place = int(text)
    if not 0 <= place < len(shared):
        raise PayloadError(f"{what}: text {place} of {len(shared)}")
    return shared[place]
