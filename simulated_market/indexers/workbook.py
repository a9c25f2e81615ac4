"""Old workbooks (.xls) of one sheet."""

import io
from collections.abc import Sequence
from datetime import date

import xlwt

from simulated_market.corrupted_responses import sheet_rows
from simulated_market.wire import Reply, View

Cell = str | int | float | date | None


def sheet_reply(rows: Sequence[Sequence[Cell]], view: View) -> Reply:
    """A heading and its rows, with the corruption of the view's fault."""
    return Reply(workbook(sheet_rows(rows, view.fault)), "application/vnd.ms-excel")


def workbook(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Texts, numbers and dates as cells of their kind."""
    book = xlwt.Workbook(encoding="utf-8")
    sheet = book.add_sheet("Sheet1")
    as_day = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for at, row in enumerate(rows):
        for place, value in enumerate(row):
            if isinstance(value, date):
                sheet.write(at, place, value, as_day)
            elif value is not None:
                sheet.write(at, place, value)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()
