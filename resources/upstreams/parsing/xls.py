"""The first sheet of an old workbook (.xls) as rows of texts.

Numbers are written as Python writes them, whole ones without a point; a cell with a date is `YYYY-MM-DD`.
"""

import os
from typing import Any

import xlrd

from core.errors import PayloadError
from resources.upstreams.parsing.payload import present

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MOST_CELLS = 2_000_000


def book_rows(body: bytes, what: str) -> list[list[str]]:
    """Rows with one text per cell, '' for blank ones, at most two million cells. PayloadError for bytes
    that are no such workbook."""
    if not present(body).startswith(_OLE):
        raise PayloadError(f"{what}: no old workbook: {body[:16]!r}")
    with open(os.devnull, "w", encoding="utf-8") as silence:
        try:
            book = xlrd.open_workbook(file_contents=body, on_demand=True, ragged_rows=True, logfile=silence)
            sheet = book.sheet_by_index(0)
            rows = min(sheet.nrows, _MOST_CELLS // max(sheet.ncols, 1))
            return [[_text(cell, book.datemode) for cell in sheet.row(at)] for at in range(rows)]
        except Exception as error:  # a damaged workbook ends in any of many errors
            raise PayloadError(f"{what}: no workbook ({type(error).__name__})") from error


def table_of(rows: list[list[str]], requested: dict[str, str], what: str) -> list[dict[str, str]]:
    """The rows below the head as {name: text}. `requested`: name -> how the head of its column begins.
    PayloadError when a column is missing."""
    if not rows:
        raise PayloadError(f"{what}: an empty sheet")
    head = [cell.strip() for cell in rows[0]]
    places = {}
    for name, begin in requested.items():
        at = next((place for place, title in enumerate(head) if title.startswith(begin)), None)
        if at is None:
            raise PayloadError(f"{what}: the sheet has no column {begin}")
        places[name] = at
    made = []
    last = max((at for at, row in enumerate(rows) if any(row)), default=0)
    for row in rows[1 : last + 1]:
        # Blank cells at the end of a row are not in the file.
        made.append({name: row[at] if at < len(row) else "" for name, at in places.items()})
    return made


def _text(cell: Any, datemode: Any) -> str:
    kind, value = cell.ctype, cell.value
    if kind == xlrd.XL_CELL_TEXT:
        return str(value).strip()
    if kind == xlrd.XL_CELL_NUMBER:
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if kind == xlrd.XL_CELL_DATE:
        return str(xlrd.xldate.xldate_as_datetime(value, datemode).date())
    return ""
