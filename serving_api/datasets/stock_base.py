"""/datamgr/stock-base: the list from the wide table, and retired writes that only say so."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import File, Query, UploadFile
from pydantic import BaseModel, ConfigDict, Field, create_model

from core.errors import InputError, StorageError
from platform_assets.datasets.stock_wide import StockWide
from serving_api.datasets.fused import queries
from serving_api.datasets.fused.wide import SORTS, Requested, WideSnapshot
from serving_api.datasets.uploads import MAX_BYTES, ROOM, check_upload
from serving_api.db.adjusted_reads import noting
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOf, AsOfRead, parse_codes
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.framework.state import State

router = area_router(f"{PREFIX}/datamgr", "datamgr: stock base")

RETIRED = "该写入接口已于 2026-08-22 停用：数据由融合层自动维护"
AWAY = "数据库暂不可用，返回空列表"
_MOST_CODES = 500

Sort = StrEnum("Sort", list(SORTS))  # type: ignore[misc]


def _bound(unit: str) -> Any:
    """An inclusive bound of a filter."""
    return Query(allow_inf_nan=False, description=f"{unit}, inclusive; rows without a value meet no bound")


_Price = Annotated[float | None, _bound("CNY")]
_Change = Annotated[float | None, _bound("percent")]
_Cap = Annotated[float | None, _bound("total market cap in 10k CNY")]
_Word = Annotated[str | None, Query(max_length=64, description="exactly this value")]


@with_columns(
    StockWide.code, StockWide.name, StockWide.current_price, StockWide.change_pct, StockWide.sw_l1,
    StockWide.sw_l2, StockWide.sw_l1_name, StockWide.sw_l2_name,
)  # fmt: skip
class WideRow(BaseModel):
    """Columns of fusion_stock_wide: volume in lots, caps in 10k CNY, amounts in CNY."""

    model_config = ConfigDict(extra="allow")
    total_volume: int | None = Field(description="lots")
    float_market_cap: float | None = Field(description="10k CNY")


class WideList(BaseModel):
    data: list[WideRow]
    items: list[WideRow] = Field(description="the same as data")
    total: int
    page: int
    pageSize: int
    industries: list[str]
    latestDate: str | None
    as_of: str | None = None
    status: Literal["deprecated"] | None = None
    message: str | None = None


@router.get("/stock-base/list", response_model=WideList)
@serves(tables=(queries.WIDE,), kept=True)
async def stock_list(
    call: Admin,
    as_of: AsOfRead,
    page: Annotated[int, Query(ge=1, le=1_000_000, description="from 1")] = 1,
    page_size: Annotated[int, Query(alias="pageSize", ge=10, le=200, description="rows of a page")] = 50,
    keyword: Annotated[str | None, Query(max_length=64, description="code prefix, or part of a name")] = None,
    industry: _Word = None,
    sw_l1: _Word = None,
    sw_l2: _Word = None,
    sort: Annotated[Sort, Query(description="missing values come last")] = Sort("change_desc"),  # noqa: B008
    codes: Annotated[str | None, Query(description="comma list of 6-digit codes, at most 500")] = None,
    price_min: _Price = None,
    price_max: _Price = None,
    change_min: _Change = None,
    change_max: _Change = None,
    cap_min: _Cap = None,
    cap_max: _Cap = None,
    fields: Annotated[str | None, Query(description="ignored")] = None,
) -> Answer:
    """The wide table's newest rows, filtered and sorted; missing values come last."""
    bounds = {"price": (price_min, price_max), "change": (change_min, change_max), "cap": (cap_min, cap_max)}
    for name, (low, high) in bounds.items():
        if low is not None and high is not None and low > high:
            raise InputError(f"{name}_min", f"{low} is above {name}_max {high}")
    requested = Requested(
        page=page,
        page_size=page_size,
        keyword=(keyword or "").strip() or None,
        industry=industry,
        sw_l1=sw_l1,
        sw_l2=sw_l2,
        sort=sort.value,
        codes=parse_codes(codes, _MOST_CODES) if codes is not None else None,
        **bounds,
    )
    with noting() as reads:
        try:
            snapshot = await _snapshot(call.state, as_of)
            away = {}
        except StorageError:
            snapshot, away = WideSnapshot.of(None, []), {"status": "deprecated", "message": AWAY}
        found = snapshot.page(requested)
        reads.keep(found.codes)
    return Answer(
        {
            "data": found.rows,
            "items": found.rows,
            "total": found.total,
            "page": page,
            "pageSize": page_size,
            "industries": found.industries,
            "latestDate": found.latest_date,
            **away,
        },
        top={"as_of": as_of.echo if as_of else None},
    )


async def _snapshot(state: State, as_of: AsOf | None) -> WideSnapshot:
    """The rows of the newest date, cached per version of the table; raises StorageError."""
    if as_of is not None:
        return await state.reading.scan(_read_snapshot, as_of.bound)
    known = await state.cached("wide", "all", (queries.WIDE,), lambda made: made.size, _read_snapshot, None)
    return known or WideSnapshot.of(None, [])


def _read_snapshot(session: Session, as_of: str | None) -> WideSnapshot:
    date = newest_of(session, queries.WIDE, as_of)
    return WideSnapshot.of(date, queries.wide_rows(session, date, as_of) if date else [])


# -- retired writes -----------------------------------------------------------------------------------


def _retired(*counted: str) -> dict[str, Any]:
    return {"status": "deprecated", "message": RETIRED, **dict.fromkeys(counted, 0)}


def _shape(*counted: str) -> Any:
    fields: dict[str, Any] = {"status": (Literal["deprecated"], ...), "message": (str, ...)}
    fields |= dict.fromkeys(counted, (Literal[0], ...))
    name = "Retired" + "".join(part.title() for part in counted)
    return create_model(name, **fields)


@router.post("/stock-base/import", response_model=_shape("imported"))
@serves(max_body=MAX_BYTES + ROOM, raises=(400,))
async def import_file(call: Admin, file: Annotated[UploadFile, File(description="<= 50 MB")]) -> Answer:
    """Retired; the file is still checked."""
    await check_upload(file, may_be_empty=True)
    return Answer(_retired("imported"))


@router.post("/stock-base/sync-full", response_model=_shape("imported", "synced"))
@serves(max_body=MAX_BYTES + ROOM, raises=(400,))
async def sync_full(
    call: Admin, file: Annotated[UploadFile, File(description="<= 50 MB, not empty")]
) -> Answer:
    """Retired; the file is still checked."""
    await check_upload(file, may_be_empty=False)
    return Answer(_retired("imported", "synced"))


_WRITES = {
    "/stock-base/sync": "synced",
    "/stock-base/sync-tencent": "synced",
    "/stock-base/sync-tdx": "synced",
    "/stock-base/backfill": "backfilled",
    "/stock-base/fetch-staging": "count",
    "/stock-base/promote": "count",
    "/stock-base/backfill-stock-info": "backfilled",
}


def _retired_endpoint(counted: str) -> Callable[..., Awaitable[Answer]]:
    async def retired(call: Admin) -> Answer:
        """Retired: writes nothing."""
        return Answer(_retired(counted))

    return retired


for _path, _counted in _WRITES.items():
    _name = _path.rpartition("/")[2].replace("-", "_")
    router.post(_path, response_model=_shape(_counted), name=_name)(_retired_endpoint(_counted))


@router.get("/stock-base/staging", response_model=_shape("count"))
async def staging(call: Admin) -> Answer:
    """Retired: the stock base has no staging any more."""
    return Answer(_retired("count"))


@router.post("/finance/sync-tdx", response_model=_shape("synced"))
async def finance_sync_tdx(call: Admin) -> Answer:
    """Retired: writes nothing; a body is ignored."""
    return Answer(_retired("synced"))
