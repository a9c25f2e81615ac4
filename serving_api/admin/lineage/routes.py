"""/datamgr/lineage."""

from typing import Annotated

from fastapi import Path, Query

from serving_api.admin.lineage import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOfRead
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/lineage", "datamgr: lineage")


@router.get("/{table}", schemas.Lineage, top=[("as_of", str)], raises=(404,))
async def lineage(
    call: Admin,
    table: Annotated[
        str, Path(max_length=64, description="a table of a dataset", examples=["fusion_kline_daily"])
    ],
    as_of: AsOfRead,
    column: Annotated[str | None, Query(description="only this column")] = None,
    payload: Annotated[bool, Query(description="include the bodies of the responses")] = False,
) -> Answer:
    """The lineage of a row: source of every column, batches, staged and RAW rows, responses, revisions.

    Every column of the table's natural key is a query parameter of its own, for example
    `?code=600519&date=2026-08-21`.
    """
    found = await service.lineage(
        call.state,
        table,
        call.request.query_params.multi_items(),
        column=column,
        payload=payload,
        as_of=None if as_of is None else as_of.bound,
    )
    return Answer(found, top={} if as_of is None else {"as_of": as_of.echo})
