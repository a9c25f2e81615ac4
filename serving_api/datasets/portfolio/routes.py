"""/datamgr/portfolio: admin, enveloped."""

from typing import Annotated

from fastapi import File, UploadFile

from serving_api.datasets.portfolio import queries, schemas, service
from serving_api.datasets.uploads import MAX_BYTES, ROOM, check_upload
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/portfolio", "datamgr: portfolio")


@router.get("", schemas.Portfolio, tables=queries.TABLES)
async def portfolio(call: Admin) -> Answer:
    """The shared watch list with the newest stored quotes."""
    return Answer(await service.portfolio(call.state))


@router.post("/import", schemas.Imported, max_body=MAX_BYTES + ROOM, raises=(400,))
async def import_table(
    call: Admin,
    file: Annotated[UploadFile, File(description=".xlsx, .xls or .csv, <= 50 MB, <= 10,000 rows")],
) -> Answer:
    """Add or change holdings from a table with the columns 代码 名称 持股 成本 备注, or code name shares
    cost note; a column that the file lacks keeps its stored values."""
    await check_upload(file, may_be_empty=False, extensions=service.EXTENSIONS)
    return Answer(await service.import_table(call.state, await file.read()))
