"""The agreement of sources on one trade date."""

from typing import Any

from core.declaration.registry import builtin_registry
from serving_api.admin.reconcile import queries
from serving_api.admin.shared import parse_day, parse_json
from serving_api.db.sessions import Session
from serving_api.framework.state import State


async def reconcile(state: State, day: str | None, dataset: str | None, field: str | None) -> dict[str, Any]:
    """{date, items[Agreement], total}. Raises InputError (date), NotFound (dataset)."""
    today = state.today
    asked = None if day is None else parse_day("date", day, today)
    if dataset is not None:
        builtin_registry().dataset(dataset)
    found, rows = await state.reading.scan(_read, asked, today, dataset, field)
    items = [_agreement(row) for row in rows]
    return {"date": found, "items": items, "total": len(items)}


def _read(
    session: Session, asked: str | None, today: str, dataset: str | None, field: str | None
) -> tuple[str | None, list[dict[str, Any]]]:
    if not session.has(queries.TABLE):
        return asked, []
    day = asked or queries.newest(session, today)
    return day, [] if day is None else queries.agreements(session, day, dataset, field)


def _agreement(row: dict[str, Any]) -> dict[str, Any]:
    reported = {name: value for name, value in row.items() if name not in {"field_name", "within_count"}}
    worst = parse_json(reported.pop("worst_json"), [])
    return {**reported, "field": row["field_name"], "within": row["within_count"], "worst": worst}
