"""Uploaded tables as rows of texts: workbooks (.xlsx, .xls) and delimited text. Pure.

The type of a file is detected from its content, not its name: brokers name tab-separated text `.xls`. A
file may be malicious: sizes are limited before anything is unpacked, formulas are never calculated, and
a file that cannot be read is a BadRequest.
"""

import csv
import io
import os
import struct

import xlrd

from core.errors import PayloadError
from resources.upstreams.exchanges.sheet import sheet_rows
from serving_api.framework.error_responses import BadRequest

MOST_ROWS = 10_000
MOST_XML = 8 * 1024 * 1024
"""Unpacked bytes of a sheet, and of a workbook's shared strings."""
MOST_DIRECTORY = 1024 * 1024
"""Bytes of a zip file's directory; each entry costs memory before anything is read."""
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = b"PK\x05\x06"
_END_TAIL = 65_535 + 22
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DELIMITERS = ",\t;"


def table_rows(body: bytes) -> list[list[str]]:
    """Rows of the first sheet, one text per column. Raises BadRequest that names the violated rule."""
    if body.startswith(_ZIP):
        rows = _xlsx(body)
    elif body.startswith(_OLE):
        rows = _xls(body)
    else:
        rows = _text(body)
    if len(rows) > MOST_ROWS:
        raise _too_long(len(rows))
    return rows


def _too_long(rows: int) -> BadRequest:
    return BadRequest(f"file: {rows} rows; at most {MOST_ROWS} are read")


def _xlsx(body: bytes) -> list[list[str]]:
    tail = body[-_END_TAIL:]
    at = tail.find(_END)
    while at >= 0:
        size = struct.unpack_from("<I", tail.ljust(at + 22, b"\xff"), at + 12)[0]
        if size > MOST_DIRECTORY:
            raise BadRequest("file: no workbook has so many parts")
        at = tail.find(_END, at + 1)
    try:
        return sheet_rows(body, "file", most_bytes=MOST_XML)
    except PayloadError as error:
        raise BadRequest(error.message) from error


def _xls(body: bytes) -> list[list[str]]:
    with open(os.devnull, "w", encoding="utf-8") as silence:
        try:
            book = xlrd.open_workbook(file_contents=body, on_demand=True, ragged_rows=True, logfile=silence)
            sheet = book.sheet_by_index(0)
        except Exception as error:  # a broken workbook can raise many types of errors
            raise BadRequest(f"file: no workbook ({type(error).__name__})") from error
    if sheet.nrows > MOST_ROWS:
        raise _too_long(sheet.nrows)
    return [[_cell(cell.ctype, cell.value) for cell in sheet.row(at)] for at in range(sheet.nrows)]


def _cell(kind: int, value: object) -> str:
    """Text of a cell; whole numbers without a decimal point, errors and blanks as ''."""
    if kind == xlrd.XL_CELL_TEXT:
        return str(value).strip()
    if kind == xlrd.XL_CELL_NUMBER and isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return ""


def _text(body: bytes) -> list[list[str]]:
    text = _decoded(body)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if len(rows) > MOST_ROWS:
                raise _too_long(len(rows))
            rows.append([item.strip() for item in row])
    except csv.Error as error:
        raise BadRequest(f"file: no table of texts ({error})") from error
    return rows


def _decoded(body: bytes) -> str:
    """Decoded as UTF-8, UTF-16 with a byte order mark, else the national encoding."""
    marked = next((name for bom, name in _BOMS if body.startswith(bom)), None)
    for encoding in (marked,) if marked else ("utf-8", "gb18030"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise BadRequest("file: neither a workbook nor text in UTF-8, UTF-16 or GB18030")
