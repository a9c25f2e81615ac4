"""Response models of lineage."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from serving_api.admin.batches import Batch


class RowRef(BaseModel):
    """A row of another table."""

    table: str
    key: dict[str, Any]


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
