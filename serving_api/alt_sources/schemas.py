"""Response models of the alternative sources. `available` distinguishes 'not available' from 'empty'."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class AltSource(BaseModel):
    key: str
    name: str
    available: bool
    need_credential: bool = Field(description="a credential is needed and none is configured")
    reason: str | None = Field(default=None, description="why it is not available")
    description: str
    fields: list[str] = Field(description="columns of its items")


class AltSources(BaseModel):
    items: list[AltSource]
    total: int


class AltStatus(BaseModel):
    key: str
    status: Literal["available", "need_credential", "unavailable"]
    reason: str | None = None


class AltOverview(BaseModel):
    available: int
    need_credential: int
    unavailable: int
    items: list[AltStatus]
    checked_at: str


class AltItems(BaseModel):
    key: str
    available: bool
    need_credential: bool | None = None
    reason: str | None = None
    items: list[dict[str, Any]]
    total: int = Field(description="rows that the source has")
