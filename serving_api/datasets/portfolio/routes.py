"""/datamgr/portfolio: admin, enveloped."""

from typing import Annotated, Literal

from fastapi import File, UploadFile
from pydantic import BaseModel, Field

from serving_api.datasets.portfolio import queries, service
from serving_api.datasets.uploads import MAX_BYTES, ROOM, check_upload
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves


class PortfolioStock(BaseModel):
    """One security of the list, with its newest stored quote."""

    code: str
    name: str | None
    shares: float | None = Field(description="shares")
    buyDate: str | None
    stopLossPrice: float | None = Field(description="CNY")
    targetPrice: float | None = Field(description="CNY")
    note: str | None
    group: str
    costPrice: float | None = Field(
        description="CNY per share; negative when realised gains exceed the purchase price"
    )
    price: float | None = Field(description="CNY, newest stored quote")
    changePct: float | None = Field(description="percent, of the quote's day")
    profitPct: float | None = Field(description="percent of the cost; null without a positive cost")


class Portfolio(BaseModel):
    stocks: list[PortfolioStock]
    total: int
    updatedAt: str | None = Field(description="newest change of the list")


class SkippedRow(BaseModel):
    row: int = Field(description="counted from 1, as in the sheet")
    reason: str


class Imported(BaseModel):
    """total = saved + skipped; blank rows are not counted."""

    status: Literal["success", "failed"]
    saved: int
    skipped: int
    total: int
    message: str
    errors: list[SkippedRow] = Field(description="the first 200 skipped rows")


router = area_router(f"{PREFIX}/datamgr/portfolio", "datamgr: portfolio")


@router.get("", response_model=Portfolio)
@serves(tables=queries.TABLES)
async def portfolio(call: Admin) -> Answer:
    """The shared watch list with the newest stored quotes."""
    return Answer(await service.portfolio(call.state))


@router.post("/import", response_model=Imported)
@serves(max_body=MAX_BYTES + ROOM, raises=(400,))
async def import_table(
    call: Admin,
    file: Annotated[UploadFile, File(description=".xlsx, .xls or .csv, <= 50 MB, <= 10,000 rows")],
) -> Answer:
    """Add or change holdings from a table with the columns 代码 名称 持股 成本 备注, or code name shares
    cost note; a column that the file lacks keeps its stored values."""
    await check_upload(file, may_be_empty=False, extensions=service.EXTENSIONS)
    return Answer(await service.import_table(call.state, await file.read()))
