"""Response models of the single syncs."""

from typing import Literal

from pydantic import BaseModel, Field

Status = Literal["success", "failed"]


class BlockKinds(BaseModel):
    """Members by kind of block: index, concept, style."""

    zs: int
    gn: int
    fg: int


class BlocksSynced(BaseModel):
    status: Status
    total: int = Field(description="members of all blocks")
    saved: int = Field(description="rows that are new or changed")
    message: str
    byType: BlockKinds


class IndexSynced(BaseModel):
    status: Status
    total: int = Field(description="bars that were fetched and accepted")
    saved: int = Field(description="bars that are new or changed")
    warning: str | None
    scope: str = Field(description="trade dates, from..to")


class Saved(BaseModel):
    saved: int = Field(description="bars that are new or changed")


class Periods(BaseModel):
    week: Saved
    month: Saved
    quarter: Saved
    year: Saved


class BarsSynced(BaseModel):
    status: Status
    code: str
    total: int = Field(description="bars that were fetched and accepted")
    periods: Periods
    warning: str | None
