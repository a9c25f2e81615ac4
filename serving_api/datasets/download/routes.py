"""/datamgr/download: admin, enveloped."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field, StringConstraints

from core.declaration.registry import builtin_registry
from serving_api.admin.waiting import LATER
from serving_api.datasets.download import service
from serving_api.datasets.download.service import NORTHBOUND, unknown
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.parameters import Code, StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.table_lists import refuse_unfinished, trade_date

Status = Literal["success", "failed"]


class BatchRequest(BaseModel):
    model_config = example(extra="forbid", codes=["600519", "000001"], taskTypes=["quote", "fund_flow"])
    codes: list[Code] = Field(min_length=1, max_length=500)
    taskTypes: list[Annotated[str, StringConstraints(min_length=1, max_length=64)]] = Field(
        min_length=1, max_length=64, description="download types, or `all`"
    )


class FusedPart(BaseModel):
    status: Status
    saved: int
    message: str | None = None


class Fusion(BaseModel):
    status: Status
    batch_id: str | None
    results: dict[str, FusedPart]


class Downloaded(BaseModel):
    """`details` of one code: type -> result; of a batch: code -> type -> result."""

    status: Status
    total: int
    saved: int
    gap_count: int
    details: dict[str, Any]
    fusion: Fusion | None
    fox_fusion: Fusion | None = Field(description="the same as fusion")
    message: str | None = None


class UnknownType(BaseModel):
    error: str


class MarketRequest(BaseModel):
    """No body, or no trade_date: the newest complete trade date."""

    model_config = example(extra="forbid", date="2026-08-20")
    date: str | None = Field(default=None, max_length=10, description="trade date, YYYY-MM-DD or YYYYMMDD")


class MarketDownloaded(BaseModel):
    status: Status
    total: int = Field(description="rows of the date in the table")
    saved: int
    gap_count: int
    latestDate: str | None
    channels: list[str] = Field(description="for the stock connect; else []")
    message: str
    fusion: dict[str, FusedPart] | None = None


router = area_router(f"{PREFIX}/datamgr", "datamgr: downloads")

_SHAPE = Downloaded | UnknownType


@router.post("/download/market/northbound", response_model=MarketDownloaded, responses=LATER)
async def northbound(call: Admin) -> Answer:
    """The market-level northbound download."""
    return Answer(await service.download_market(call.state, NORTHBOUND, None, call.member.username))


@router.post("/download/market/{name}", response_model=MarketDownloaded, responses=LATER)
@serves(raises=(404,))
async def market_level(
    call: Admin,
    name: Annotated[str, Path(max_length=64, description="a downloader by topic, such as exchange_margin")],
    body: MarketRequest | None = None,
) -> Answer:
    """Download one market or topic table of a trade date, and fuse the datasets that it feeds."""
    asked = None if body is None else body.date
    date = None if asked is None else trade_date(call.state, "date", asked)
    known = service.known_market(name)
    if date is not None:
        refuse_unfinished(call.state, "date", (date,), [builtin_registry().topical[known].table_name])
    return Answer(await service.download_market(call.state, known, date, call.member.username))


@router.post("/download/{code}", response_model=_SHAPE, responses=LATER)
@serves(top=[("error", str)])
async def download(
    call: Admin,
    code: StockCode,
    types: Annotated[str, Query(min_length=1, max_length=64, description="one of the 38 types, or `all`")],
) -> Answer:
    """Download types of one code and fuse the datasets that they feed."""
    return await _download(call.state, [code], [types], call.member.username, by_code=False)


@router.post("/download-batch", response_model=_SHAPE, responses=LATER)
@serves(top=[("error", str)])
async def download_batch(call: Admin, body: BatchRequest) -> Answer:
    """The same for up to 500 codes; each fusion runs once."""
    codes = list(dict.fromkeys(body.codes))
    return await _download(call.state, codes, body.taskTypes, call.member.username, by_code=True)


async def _download(
    state: State, codes: list[str], types: list[str], asked_by: str, *, by_code: bool
) -> Answer:
    stranger = unknown(types)
    if stranger is not None:
        reported = {"error": f"unknown type: {stranger}"}
        return Answer({"results": reported, **reported})
    return Answer(await service.download(state, codes, types, asked_by, by_code=by_code))
