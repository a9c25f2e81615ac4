"""Answers of lineage requests."""

from collections.abc import Iterable
from typing import Any

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError, NotFound
from serving_api.admin.lineage.bodies import Bodies
from serving_api.admin.lineage.keys import read_key
from serving_api.admin.lineage.visited_batches import VisitedBatches
from serving_api.admin.lineage.walk import LineageTarget, Walk
from serving_api.db.sessions import Session
from serving_api.framework.state import State


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
    return Walk(session, builtin_registry(), state.settings, visited, target).answer()


def market_table(state: State, name: str) -> Table:
    """A table that a dataset declares; system and user tables have no lineage. Raises NotFound."""
    declared = {table.name for table in builtin_registry().tables}
    table = state.reading.warehouse.tables.get(name)
    if name not in declared or table is None:
        raise NotFound(f"no table {name[:64]!r} with lineage")
    return table
