"""Stored names of past dates against what the files say of special treatment."""

from collections.abc import Mapping
from typing import Any

from resources.warehouse.warehouse import Warehouse
from tests.real_day.findings import Section
from tests.real_day.truth import Truth

Spans = Mapping[str, list[dict[str, Any]]]
"""Spans by symbol, oldest first."""
_COLUMNS = ("code", "valid_from", "valid_to", "name", "is_st")


def stored_names(warehouse: Warehouse, symbol_of: Mapping[Any, str]) -> Spans:
    rows = warehouse.query(f"SELECT {', '.join(_COLUMNS)} FROM ref_name_history ORDER BY valid_from")
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        span = dict(zip(_COLUMNS, row, strict=True))
        found.setdefault(symbol_of.get(span["code"], str(span["code"])), []).append(span)
    return found


def compare_names(truth: Truth, names: Spans, section: Section) -> None:
    """The one name of each date says what isST says, though all these dates are before the first look."""
    wrong: list[str] = []
    for row in truth.rows.values():
        spans = [
            span
            for span in names.get(row.symbol, [])
            if str(span["valid_from"]) <= row.date <= str(span["valid_to"] or row.date)
        ]
        if len(spans) != 1:
            wrong.append(f"{row.symbol} {row.date}: {len(spans)} names")
        elif bool(spans[0]["is_st"]) != row.st or ("ST" in spans[0]["name"]) != row.st:
            wrong.append(f"{row.symbol} {row.date}: {spans[0]['name']}, isST {row.st}")
    former = sum(len(names.get(symbol, ())) - 1 for symbol in truth.symbols)
    section.equal(
        "names of the dates, special treatment as isST has it",
        len(truth.rows),
        wrong,
        f"{former} former names of {len(truth.symbols)} codes",
    )
