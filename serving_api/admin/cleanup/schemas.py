"""Request and response models of the cleanup."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt

from resources.warehouse.retention import LEAST_DAYS, MOST_DAYS
from serving_api.framework.openapi import example


class CleanupRequest(BaseModel):
    """`dry_run` counts the rows that would be deleted and deletes nothing."""

    model_config = example(extra="forbid", days=365, table="stg_quote_snapshot", dry_run=True)
    days: Annotated[
        StrictInt,
        Field(ge=LEAST_DAYS, le=MOST_DAYS, description="days that are retained, counted back from today"),
    ] = 365
    table: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="a staged time series; absent = all of them"),
    ] = None
    dry_run: StrictBool = False


class Cleaned(BaseModel):
    status: Literal["success", "partial", "failed"]
    days: int
    cutoff: str = Field(description="first day that is retained")
    deleted: dict[str, int] = Field(description="rows by table; of a dry run, rows that would go")
    total: int
    dry_run: bool
    message: str
