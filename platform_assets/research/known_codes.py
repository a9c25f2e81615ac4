"""Codes that nobody knows: a question for one is refused with the nearest, and not answered with no rows."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from core.declaration.registry import Registry
from core.declaration.tables import Table
from core.errors import InputError
from core.market.symbols import INDEX_NAMES
from platform_assets.research.queries import INDEX_BARS, RowQuery, table_named

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[[RowQuery], "pa.Table"]
_MASTER, _INDICES = "stock_master", "index_daily"


def with_code(query: RowQuery) -> RowQuery:
    """The question, and of one for codes also the column that says whose rows they are."""
    if query.codes is None or "code" in query.columns:
        return query
    return replace(query, columns=(*query.columns, "code"))


def refuse_unknown(registry: Registry, query: RowQuery, rows: "pa.Table | None", read: Read) -> None:
    """InputError for a code without rows that is neither in the list of securities nor, on any day, in the
    table. `rows` answer `with_code(query)` (None: they are not read yet); `read` reads tables of the same
    address."""
    if query.codes is None:
        return
    answered = set() if rows is None else set(rows["code"].unique().to_pylist())
    missing = [code for code in query.codes if code not in answered]
    if not missing:
        return
    names = dict(INDEX_NAMES) if query.table.name == INDEX_BARS else _securities(registry, read)
    strange = tuple(code for code in missing if code not in names)
    if not strange:
        return
    held = read(RowQuery(query.table, ("code",), strange))["code"].to_pylist()
    unknown = next((code for code in strange if code not in set(held)), None)
    if unknown is not None:
        raise unknown_code(unknown, query.table, names)


def unknown_code(code: str, table: Table, names: Mapping[str, str]) -> InputError:
    """The error for a code that a table cannot have; `names`: those of the known codes."""
    return InputError(
        "codes", f"{code!r} is no code of {table.dataset or table.name}{_nearest(code, table, names)}"
    )


def no_security(code: str, names: Mapping[str, str]) -> InputError:
    """The error for a code that is none of the listed or formerly listed ones, `names` by code."""
    return InputError(
        "codes", f"{code!r} is no security that is listed, and was none{near_codes(code, names)}"
    )


def _securities(registry: Registry, read: Read) -> dict[str, str]:
    """Name of each listed or formerly listed security; none where the address has no list."""
    try:
        rows = read(RowQuery(table_named(registry, _MASTER), ("code", "name")))
    except InputError:
        return {}
    return dict(zip(rows["code"].to_pylist(), rows["name"].to_pylist(), strict=True))


def _nearest(code: str, table: Table, names: Mapping[str, str]) -> str:
    """The end of the sentence: the index of these digits, else codes that look alike, with their names."""
    index = next((symbol for symbol in INDEX_NAMES if code in (symbol, symbol[2:])), None)
    if index is not None and table.name != INDEX_BARS:
        return f"; {index} is the index {INDEX_NAMES[index]}: read {_INDICES}"
    return near_codes(code, names)


def near_codes(code: str, names: Mapping[str, str]) -> str:
    """The end of a sentence about a code that nobody knows: codes that look alike, with their names."""
    near = difflib.get_close_matches(code, names, n=3, cutoff=0.5)
    return f"; nearest: {', '.join(f'{one} {names[one]}' for one in near)}" if near else ""
