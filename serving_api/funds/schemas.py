"""Response models of the funds."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import row_model
from serving_api.funds.queries import REIT
from serving_api.stocks.schemas import KBar

ReitRow = row_model(REIT)


class ReitList(BaseModel):
    items: list[ReitRow]  # type: ignore[valid-type]
    total: int
    date: str | None


class Reit(BaseModel):
    code: str
    name: str | None
    latest: dict[str, Any] = Field(description="the newest row; {} for an unknown code")
    info: dict[str, Any] = Field(description="what does not change from day to day")


class ReitBar(KBar):
    premium_pct: float | None = Field(
        default=None, description="over the net asset value; null where none is stored"
    )


class ReitHistory(Reach):
    code: str
    adjust: Literal["none", "qfq", "hfq"]
    items: list[ReitBar] = Field(description="oldest first")
    total: int
    as_of: str | None = None


class EtfBars(Reach):
    code: str
    name: str | None
    total: int
    adjust: Literal["none", "qfq", "hfq"]
    items: list[KBar] = Field(description="oldest first")
    source: str | None = Field(alias="_source", description="fusion, or null where nothing is stored")
    as_of: str | None = None
