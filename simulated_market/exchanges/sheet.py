"""A workbook of one sheet, as small as the format allows."""

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
MEDIA_TYPE = f"{_SHEET_TYPE}.sheet"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
# A file's time is part of its bytes: equal requests must give equal answers.
_LONG_AGO = (2000, 1, 1, 0, 0, 0)


def workbook(rows: Sequence[Sequence[str]]) -> bytes:
    """An .xlsx whose cells are texts."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>' for text in row)
        lines.append(f'<row r="{number}">{cells}</row>')
    sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
            document = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{text}'
            book.writestr(zipfile.ZipInfo(name, _LONG_AGO), document, zipfile.ZIP_DEFLATED)
    return target.getvalue()
