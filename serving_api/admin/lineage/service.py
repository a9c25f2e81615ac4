"""Answers of lineage requests."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from core.declaration.columns import ColumnSpec
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError, NotFound
from core.market.symbols import dataset_code
from platform_assets.research.queries import nearest, readable
from resources.warehouse.stored import ANY
from serving_api.admin.lineage.bodies import Bodies
from serving_api.admin.lineage.revisions import decoded
from serving_api.admin.lineage.visited_batches import VisitedBatches
from serving_api.admin.lineage.walk import LineageTarget, Walk
from serving_api.db.sessions import Session
from serving_api.framework.state import State

OWN = frozenset({"column", "payload", "as_of"})
"""Query parameters of the route itself."""
MAX_VALUE = 512
SOURCE = "src"
_MAX_INT = 2**63 - 1
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")


def read_key(table: Table, parameters: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Column -> value for every column of the key, in its order. Raises InputError that names a column
    which is missing, unknown, given twice or malformed."""
    shape = f"the key of {table.name} is {', '.join(table.key)}"
    given: dict[str, str] = {}
    for name, value in parameters:
        if name in OWN:
            continue
        if name not in table.key:
            raise InputError(name[:64], f"is no key column; {shape}")
        if name in given:
            raise InputError(name, f"is given twice; {shape}")
        given[name] = dataset_code(value) if name == "code" else value
    missing = next((name for name in table.key if not given.get(name, "").strip()), None)
    if missing is not None:
        raise InputError(missing, f"is missing; {shape}")
    return {name: _value(table.column(name), given[name].strip()) for name in table.key}


def _value(spec: ColumnSpec, text: str) -> Any:
    """`text` in the form in which the column stores it."""
    if len(text) > MAX_VALUE or "\x00" in text:
        raise InputError(spec.name, f"is longer than {MAX_VALUE} characters or holds a zero byte")
    try:
        match spec.family:
            case "date":
                if not _DAY.fullmatch(text):
                    raise InputError(spec.name, f"{text[:40]!r} is no date; give YYYY-MM-DD")
                return date.fromisoformat(text).isoformat()
            case "time":
                return str(datetime.fromisoformat(text).replace(tzinfo=None))
            case "int":
                number = int(text)
                if abs(number) > _MAX_INT:
                    raise InputError(spec.name, "is too large")
                return number
            case "bool":
                return int(text.lower() in {"1", "true"})
            case "float":
                return float(text)
            case _:
                return text
    except ValueError:
        raise InputError(spec.name, f"{text[:40]!r} is no {spec.family}") from None


async def lineage(
    state: State,
    table_name: str,
    parameters: Iterable[tuple[str, str]],
    *,
    column: str | None,
    payload: bool,
    as_of: str | None,
) -> dict[str, Any]:
    """The model `Lineage`. Raises NotFound (table, row) and InputError (key, column, as_of)."""
    table = market_table(state, table_name)
    content = [spec.name for spec in table.columns if spec.name not in table.key]
    if column is not None and column not in content:
        raise InputError("column", f"{column[:64]!r} is none of {', '.join(content)}")
    key = read_key(table, parameters)
    target = LineageTarget(table, key, column, as_of, payload)
    return await state.reading.scan(_walk, state, target)


def _walk(session: Session, state: State, target: LineageTarget) -> dict[str, Any]:
    bodies = Bodies(state.reading.warehouse.payloads)
    code = target.key.get("code")
    visited = VisitedBatches(session, bodies, None if code is None else str(code))
    answer = Walk(session, builtin_registry(), state.settings, visited, target).answer()
    return {**answer, "reported": reported(session, target)}


def reported(session: Session, target: LineageTarget) -> list[dict[str, Any]]:
    """What each source says of the column at present: the staged values of the row's key. Empty without a
    column, with an instant (staged rows keep no versions), and where a dataset stages nothing."""
    dataset = next(
        (one for one in builtin_registry().datasets.values() if one.table_name == target.table.name), None
    )
    if dataset is None or not dataset.staged or target.column is None or target.as_of is not None:
        return []
    staged = dataset.stage_table
    if not {target.column, SOURCE, *target.key} <= set(staged.names):
        return []
    conditions = [ANY[name] == value for name, value in target.key.items()]
    rows = session.rows(staged.name, *conditions, columns=(SOURCE, target.column), order=[SOURCE])
    return [{"source": str(source), "value": decoded(staged, target.column, value)} for source, value in rows]


def market_table(state: State, name: str) -> Table:
    """A table that a dataset declares, by its name or by that of the dataset; system and user tables have no
    lineage. Raises NotFound that names the nearest ones."""
    declared = {table.name for table in builtin_registry().tables}
    datasets = readable(builtin_registry())
    table = state.reading.warehouse.tables.get(datasets[name].name if name in datasets else name)
    if table is None or table.name not in declared:
        raise NotFound(f"no table {name[:64]!r} of a dataset{nearest(name, [*datasets, *sorted(declared)])}")
    return table
