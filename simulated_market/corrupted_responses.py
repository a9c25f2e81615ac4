"""Corrupted responses: well formed answers with false figures, which no status code reveals.

Applied to the finished answer, for every upstream alike: its lists of rows are found in its format (JSON, a
callback around it, separated lines, tables of a page), and their figures are falsified. Workbooks call
`sheet_rows` before they are packed.
"""

import json
import math
import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from simulated_market.faults import Fault

WORKBOOKS = (b"PK", b"\xd0\xcf")
"""The first bytes of a workbook, of the new and the old format."""
Cells = list[Any]
CorruptedRow = tuple[int, Cells]
"""A corrupted row: the place of its original row, and its cells."""

_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")
_CODE_DIGITS = 6
_CODE = re.compile(r"([a-zA-Z]{2})?\d{6}(\.[A-Z]{2})?")
_SPLIT = re.compile(r"[,~|;\t]")
_TAG_ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.S)
_TAG_CELL = re.compile(r"(?<=>)([^<>]*)(?=</td>)")
_LEAST_CELLS = 3
_VOLUME = 10_000
_FOLD = 100
_YEARS = range(1990, 2100)


def corrupted_body(body: bytes, content_type: str, fault: Fault) -> bytes:
    """`body` with the corruption of `fault`; unchanged where it holds no list of rows."""
    if body[:2] in WORKBOOKS:
        return body
    for encoding in ("gb18030",) if "gb" in content_type.lower() else ("utf-8", "gb18030"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        return _corrupted_text(text, fault).encode(encoding, "replace")
    return body


def sheet_rows(rows: Sequence[Sequence[Any]], fault: Fault | None) -> list[list[Any]]:
    """The rows of a sheet with the corruption of `fault`; the first row is the heading."""
    if fault is None or fault.kind not in CORRUPTIONS:
        return [list(row) for row in rows]
    corrupted = CORRUPTIONS[fault.kind]([list(row) for row in rows[1:]], fault)
    return [list(rows[0]), *(cells for _, cells in corrupted)]


def _corrupted_text(text: str, fault: Fault) -> str:
    for opening, closing in (("{", "}"), ("[", "]")):
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end and (opening == "[" or not 0 <= text.find("[") < start):
            try:
                document = json.loads(text[start : end + 1])
            except ValueError:
                continue
            falsified = json.dumps(_Walk(fault).value(document), ensure_ascii=False)
            return text[:start] + falsified + text[end + 1 :]
    if "<tr" in text:
        return _page(text, fault)
    return _lines(text, fault)


class _Walk:
    """A JSON document with corrupted lists of rows, and their counts when the fault says so."""

    def __init__(self, fault: Fault) -> None:
        self._corruption = CORRUPTIONS[fault.kind]
        self._fault = fault

    def value(self, node: Any) -> Any:
        if isinstance(node, dict):
            return self._object(node)
        if isinstance(node, list):
            rows = self._rows(node)
            return [self.value(item) for item in node] if rows is None else rows
        if isinstance(node, str) and node.count(";") > 1:
            return _joined(node, ";", self._fault)
        return node

    def _object(self, node: dict[str, Any]) -> dict[str, Any]:
        found = {key: self.value(item) for key, item in node.items()}
        if self._fault.kind == "set_fields" and _matches(node, self._fault.args.get("match", {})):
            fields = self._fault.args.get("fields", {})
            found |= {key: value for key, value in fields.items() if key in node}
        if self._fault.args.get("counted"):
            sizes = {len(item): len(found[key]) for key, item in node.items() if isinstance(item, list)}
            for key, item in node.items():
                if isinstance(item, int) and not isinstance(item, bool) and item in sizes and item > 1:
                    found[key] = sizes[item]
        return found

    def _rows(self, node: list[Any]) -> list[Any] | None:
        if not node:
            return None
        if all(isinstance(item, str) and len(_SPLIT.findall(item)) >= _LEAST_CELLS - 1 for item in node):
            return _corrupted_texts(node, self._fault)
        if not all(isinstance(item, dict | list) for item in node):
            return None
        places = [list(_scalars(item)) for item in node]
        if min(map(len, places)) < _LEAST_CELLS:
            return None
        cells = [[item[key] for key in keys] for item, keys in zip(node, places, strict=True)]
        made = []
        for origin, values in self._corruption(cells, self._fault):
            row = node[origin].copy()
            for key, value in zip(places[origin], values, strict=True):
                row[key] = value
            is_object = self._fault.kind == "set_fields" and isinstance(row, dict)
            made.append(self._object(row) if is_object else row)
        return made


def _matches(node: dict[str, Any], match: Mapping[str, Any]) -> bool:
    """Whether an object has these values; a text need only begin so."""
    return all(
        node.get(key) == value or (isinstance(value, str) and str(node.get(key)).startswith(value))
        for key, value in match.items()
    )


def _with_places(cells: Cells, fault: Fault) -> Cells:
    """The same of a row without names, whose places are named by their numbers."""
    match, fields = fault.args.get("match", {}), fault.args.get("fields", {})
    named = {str(at): cell for at, cell in enumerate(cells)}
    if not match or not _matches(named, match):
        return cells
    return [fields.get(at, cell) for at, cell in named.items()]


def _scalars(item: Any) -> Iterator[Any]:
    """Places of the plain values of a row."""
    pairs = item.items() if isinstance(item, dict) else enumerate(item)
    yield from (key for key, value in pairs if not isinstance(value, dict | list))


def _corrupted_texts(rows: Sequence[str], fault: Fault) -> list[str]:
    """Separated texts, each with its own separator."""
    marks = [max(",~|\t;/", key=row.count) for row in rows]
    cells: list[Cells] = [list(row.split(mark)) for row, mark in zip(rows, marks, strict=True)]
    return [marks[origin].join(map(str, made)) for origin, made in CORRUPTIONS[fault.kind](cells, fault)]


def _joined(text: str, between: str, fault: Fault) -> str:
    rows = text.split(between)
    if not all(len(_SPLIT.findall(row)) >= _LEAST_CELLS - 1 for row in rows if row):
        return text
    ends = "" if rows[-1] else between
    return between.join(_corrupted_texts([row for row in rows if row], fault)) + ends


def _lines(text: str, fault: Fault) -> str:
    """Lines of separated values; lines with fewer of them (headings, sums) stay."""
    lines = text.splitlines(keepends=True)
    width = max((len(_SPLIT.findall(line)) for line in lines), default=0)
    wide = [at for at, line in enumerate(lines) if width >= _LEAST_CELLS - 1
            and len(_SPLIT.findall(line)) == width and any(map(_is_figure, _SPLIT.split(line)))]  # fmt: skip
    if not wide:
        return text
    middle = "".join(_corrupted_texts([lines[at] for at in wide], fault))
    return "".join(lines[: wide[0]]) + middle + "".join(lines[wide[-1] + 1 :])


def _page(text: str, fault: Fault) -> str:
    """Rows of tables, the rows without figures stay."""
    found = [row for row in _TAG_ROW.finditer(text) if any(map(_is_figure, _TAG_CELL.findall(row[0])))]
    if not found:
        return text
    changed = [""] * len(found)
    for origin, values in CORRUPTIONS[fault.kind]([_TAG_CELL.findall(row[0]) for row in found], fault):
        left = iter(values)
        changed[origin] += _TAG_CELL.sub(lambda _, left=left: str(next(left)), found[origin][0])  # type: ignore[misc]
    # What stands between the rows (other rows, the ends of tables) stays.
    starts = [0, *(row.end() for row in found)]
    ends = [*(row.start() for row in found), len(text)]
    between = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return "".join(a + b for a, b in zip(between, [*changed, ""], strict=True))


# -- the corruptions ----------------------------------------------------------------------------------


def _is_figure(value: Any) -> bool:
    """A number or a text that is one; no code, no date, no time."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return math.isfinite(value) and not _is_moment(value)
    text = str(value).strip()
    if not _NUMBER.fullmatch(text) or (len(text) == _CODE_DIGITS and text.isdigit()):
        return False
    return not (text.isdigit() and (_is_moment(int(text)) or (text[0] == "0" and len(text) > 1)))


def _is_moment(value: float) -> bool:
    """A date written as a number, or seconds or milliseconds since 1970."""
    return value == int(value) and (_is_day(int(value)) or 1.0e9 <= value < 2.1e9 or 1.0e12 <= value < 2.1e12)


def _is_day(value: int) -> bool:
    """20260831, but not 20858657, which is an amount."""
    year, month, day = value // 10_000, value // 100 % 100, value % 100
    if year not in _YEARS or month not in range(1, 13):
        return False
    return 1 <= day <= monthrange(year, month)[1]


def _is_decimal(value: Any) -> bool:
    return _is_figure(value) and (isinstance(value, float) or "." in str(value))


def _is_volume(value: Any) -> bool:
    return _is_figure(value) and not _is_decimal(value) and abs(int(str(value).replace(",", ""))) >= _VOLUME


def _times(value: Any, factor: int) -> Any:
    """`value` multiplied, with the same type and number of decimals."""
    if not isinstance(value, str):
        return value * factor
    decimals, group = len(value.strip().partition(".")[2]), "," if "," in value else ""
    return f"{float(value.replace(',', '')) * factor:{group}.{decimals}f}"


def _each(change: Callable[[Cells], Cells]) -> Callable[[list[Cells], Fault], list[CorruptedRow]]:
    return lambda rows, fault: [(at, change(row)) for at, row in enumerate(rows)]


def _turned(cells: Cells) -> Cells:
    """Every figure in the place of the next one."""
    at = [place for place, value in enumerate(cells) if _is_figure(value)]
    found = list(cells)
    for place, source in zip(at, at[1:] + at[:1], strict=True):
        found[place] = cells[source]
    return found


def _holds(cells: Cells, code: str) -> bool:
    return any(isinstance(value, str) and code in value[:10] for value in cells)


def _name_of(cells: Cells) -> str:
    """The code of the security of a row, or ''."""
    return next((value for value in cells if isinstance(value, str) and _CODE.fullmatch(value.strip())), "")


def _exchanged(rows: list[Cells], fault: Fault) -> list[CorruptedRow]:
    """Under every name the figures of the next one."""
    changed = []
    names = [_name_of(row) for row in rows]
    for at, row in enumerate(rows):
        following = [*range(at + 1, len(rows)), *range(at)]
        other = rows[next((one for one in following if not names[at] or names[one] != names[at]), at)]
        cells = list(row)
        if len(other) == len(row):
            for place, (old, new) in enumerate(zip(row, other, strict=True)):
                cells[place] = new if _is_figure(new) and _is_figure(old) else old
        changed.append((at, cells))
    return changed


def _one_of_zeros(rows: list[Cells], fault: Fault) -> list[CorruptedRow]:
    """The figures of `code` are zeros, as some sources say of a suspended security."""
    code = str(fault.args.get("code", ""))
    return [
        (at, [_times(v, 0) if _is_figure(v) else v for v in row] if _holds(row, code) else row)
        for at, row in enumerate(rows)
    ]


def _spoilt(rows: list[Cells], fault: Fault) -> list[CorruptedRow]:
    """Some `rows` of the list, evenly spread: their figures are texts, every value is missing, or the row
    comes twice. A list of fewer rows than `least` stays."""
    count, how = int(fault.args.get("rows", 1)), str(fault.args.get("how", "text"))
    if len(rows) < int(fault.args.get("least", 2)):
        return list(enumerate(rows))
    chosen = {int((at + 0.5) * len(rows) / count) for at in range(count)}
    changed: list[CorruptedRow] = []
    for at, row in enumerate(rows):
        if at not in chosen:
            changed.append((at, row))
        elif how == "repeat":
            changed += [(at, row), (at, row)]
        else:
            changed.append((at, [_spoilt_cell(value, how) for value in row]))
    return changed


def _spoilt_cell(value: Any, how: str) -> Any:
    if how == "null":  # the end of a line stays, and what makes a text a statement
        if not isinstance(value, str):
            return None
        return value if '="' in value or '";' in value else value[len(value.rstrip("\r\n")) :]
    return "spoilt" if _is_figure(value) else value


CORRUPTIONS: dict[str, Callable[[list[Cells], Fault], list[CorruptedRow]]] = {
    "cut_rows": lambda rows, fault: list(enumerate(rows))[: (len(rows) + 1) // 2],
    "double_rows": lambda rows, fault: [(at, row) for at, row in enumerate(rows) for _ in range(2)],
    "prices_x100": _each(lambda row: [_times(v, _FOLD) if _is_decimal(v) else v for v in row]),
    "volumes_x100": _each(lambda row: [_times(v, _FOLD) if _is_volume(v) else v for v in row]),
    "shift_columns": _each(_turned),
    "swap_rows": _exchanged,
    "zero_row": _one_of_zeros,
    "spoil_rows": _spoilt,
    "set_fields": lambda rows, fault: [(at, _with_places(row, fault)) for at, row in enumerate(rows)],
}
"""Kind of fault -> the function that corrupts the rows.

`cut_rows`: the first half (`counted`: the counts of the list agree with it); `double_rows`: each twice;
`prices_x100`: every number with decimals a hundredfold; `volumes_x100`: every whole number from 10,000 on;
`shift_columns`: figures one place further; `swap_rows`: under every name the figures of the next;
`zero_row` (`code`): zeros for one security; `spoil_rows` (`rows`, `how`, `least`): some rows cannot be read,
or come twice; `set_fields` (`match`, `fields`): objects with these values get other ones."""
