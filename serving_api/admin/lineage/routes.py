"""/datamgr/lineage."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from serving_api.admin.batches import Batch
from serving_api.admin.lineage import service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOfRead
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves


class RowRef(BaseModel):
    """A row of another table."""

    table: str
    key: dict[str, Any]
    column: str | None = Field(description="the column there that holds the value")


class ColumnOrigin(BaseModel):
    """One value. `source`: the upstream, 'computed' for a derived value, null for no value. `from`: the
    staged or RAW row that still holds it; null for datasets that read their upstream directly."""

    model_config = ConfigDict(populate_by_name=True)
    value: Any
    source: str | None
    batch_id: str | None
    origin: RowRef | None = Field(alias="from")


class FetchItem(BaseModel):
    """One upstream response; `request` without secrets."""

    id: str
    upstream: str | None
    call: str | None
    request: str
    status: int | None
    outcome: str | None
    bytes: int | None
    sha256: str | None
    received_at: str | None


class Payload(BaseModel):
    """The body as received, cut at 64 K."""

    encoding: Literal["text", "base64"]
    content: str
    bytes: int
    truncated: bool


class FileRow(BaseModel):
    """A row of a user's file, counted from 1 below its header; `sha256` is that of the file."""

    name: str
    row: int
    sha256: str


class RawItem(BaseModel):
    """A RAW row (`table`, `row_hash`, `imported_at`) with one of its responses; `table` is null where the
    dataset has no RAW row, or where the row has been overwritten since."""

    table: str | None
    source: str | None
    key: dict[str, Any]
    batch_id: str | None
    row_hash: str | None
    imported_at: str | None
    fetch: FetchItem | None
    file: FileRow | None = Field(default=None, description="of a row that was imported")
    payload: Payload | None = Field(default=None, description="with payload=true, while the body is stored")


class Change(BaseModel):
    old: Any
    new: Any


class Revision(BaseModel):
    batch_id: str | None
    valid_from: str | None
    valid_to: str | None
    changed: dict[str, Change]


class Reported(BaseModel):
    """What a source says of the column."""

    source: str
    value: Any


class Lineage(BaseModel):
    table: str
    key: dict[str, Any]
    valid_from: str | None
    valid_to: str | None
    quality: str | None
    quality_flags: list[Any]
    columns: dict[str, ColumnOrigin]
    batches: list[Batch] = Field(description="the writing batch first, then its inputs down to RAW")
    raw: list[RawItem]
    reported: list[Reported] = Field(
        description="of each source at present, whichever was taken; without a column, with as_of, and where "
        "a dataset stages nothing it is empty"
    )
    revisions: list[Revision] = Field(description="newest first")


router = area_router(f"{PREFIX}/datamgr/lineage", "datamgr: lineage")


@router.get("/{table}", response_model=Lineage)
@serves(top=[("as_of", str)], raises=(404,))
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
