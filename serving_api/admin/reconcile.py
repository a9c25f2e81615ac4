"""/datamgr/reconcile: admin, enveloped."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from core.declaration.registry import builtin_registry
from platform_assets.datasets.reconcile import Reconcile
from resources.warehouse.stored import matching, stored
from serving_api.admin.shared import parse_day, parse_json
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns


class Differing(BaseModel):
    code: str
    a: float
    b: float
    diff: float


@with_columns(
    Reconcile.dataset, Reconcile.source_b, Reconcile.tolerance, Reconcile.compared, Reconcile.within_pct,
    Reconcile.median_diff, Reconcile.max_diff, Reconcile.only_b,
)  # fmt: skip
class Agreement(BaseModel):
    """One field of one dataset, reported by two independent sources on one trade date. Differences are
    counted beyond the rounding of their formats."""

    field: str = Field(validation_alias="field_name")
    source_a: str = Field(description="fused: the stored row; derived: computed from stored rows")
    tolerance_kind: Literal["abs", "pct", "sign_pct"] = Field(description="unit of the differences")
    within: int = Field(validation_alias="within_count")
    only_a: int = Field(description="values that only the first source has")
    drift_20d: float | None = Field(description="mean signed difference of 20 trade dates")
    status: Literal["ok", "warning", "no_second_source"]
    worst: list[Differing] = Field(description="the ten that differ most")


TABLE = stored("calc_reconcile", Reconcile)


def _read(
    session: Session, asked: str | None, today: str, dataset: str | None, field: str | None
) -> tuple[str | None, list[dict[str, Any]]]:
    """(the asked or the newest trade date, its rows by dataset, field and sources)."""
    until = [TABLE.c.trade_date <= today]
    day = asked or session.first(TABLE, "trade_date", *until, order=[TABLE.c.trade_date.desc()])
    of = [
        TABLE.c.trade_date == (day or ""),
        *matching(TABLE.c.dataset, dataset),
        *matching(TABLE.c.field_name, field),
    ]
    return day, session.dicts(
        TABLE, *of, order=[TABLE.c.dataset, TABLE.c.field_name, TABLE.c.source_a, TABLE.c.source_b]
    )


def _agreement(row: dict[str, Any]) -> Agreement:
    return Agreement.model_validate({**row, "worst": parse_json(row["worst_json"], [])})


router = area_router(f"{PREFIX}/datamgr/reconcile", "datamgr: reconciliation")


@router.get("", response_model=list[Agreement])
@serves(top=[("date", str), ("total", int)], raises=(404,), tables=(TABLE,))
async def reconcile(
    call: Admin,
    date: Annotated[str | None, Query(max_length=32, description="trade date; default the newest")] = None,
    dataset: Annotated[str | None, Query(max_length=64, description="only this dataset")] = None,
    field: Annotated[str | None, Query(max_length=64, description="only this field")] = None,
) -> Answer:
    """How far independent sources agree, field by field, and the names that differ most."""
    today = call.state.today
    asked = None if date is None else parse_day("date", date, today)
    if dataset is not None:
        builtin_registry().dataset(dataset)
    found, rows = await call.state.reading.scan(_read, asked, today, dataset, field)
    items = [_agreement(row) for row in rows]
    return Answer({"date": found, "items": items, "total": len(items)})
