"""The first sheet of an .xlsx workbook as rows of texts. Reads what the exchanges send, no more."""

import io
import re
import zipfile
import zlib
from xml.etree import ElementTree

from resources.errors import PayloadError
from resources.upstreams.payload import present

_MOST_BYTES = 64 * 1024 * 1024
_MOST_COLUMNS = 200
_CELL = re.compile(r"\A([A-Z]{1,3})[0-9]+\Z")


def sheet_rows(body: bytes, what: str) -> list[list[str]]:
    """Rows with one text per column, '' where there is none. PayloadError for no workbook."""
    present(body)
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            names = set(book.namelist())
            sheet = _member(book, "xl/worksheets/sheet1.xml", what)
            shared = (
                _shared(_member(book, "xl/sharedStrings.xml", what))
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


def _member(book: zipfile.ZipFile, name: str, what: str) -> ElementTree.Element:
    if book.getinfo(name).file_size > _MOST_BYTES:
        raise PayloadError(f"{what}: {name} is too large")
    with book.open(name) as file:
        text = file.read(_MOST_BYTES + 1)
    # A workbook declares no entities; what does is an attack on the parser.
    if len(text) > _MOST_BYTES or b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise PayloadError(f"{what}: {name} cannot be believed")
    return ElementTree.fromstring(text)  # noqa: S314  no document type gets here


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _texts(node: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in node.iter() if _tag(part) == "t")


def _shared(root: ElementTree.Element) -> list[str]:
    return [_texts(item) for item in root if _tag(item) == "si"]


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
    return shared[place].strip()
