"""Response models of industries."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import row_model
from serving_api.industry import queries

IndustryRow = row_model(queries.RATIOS)


class IndustryRatios(Reach):
    standard: str
    date: str | None = Field(description="of the rows; null where nothing is stored")
    items: list[IndustryRow]  # type: ignore[valid-type]
    total: int


class IndustryRatio(BaseModel):
    date: str
    pe_weighted: float | None
    pe_median: float | None
    pb: float | None
    dividend_yield: float | None = Field(description="percent")


class IndustryMember(BaseModel):
    code: str
    name: str | None
    pe_ttm: float | None
    pb: float | None


class IndustryDetail(Reach):
    """`items` oldest first; `members` by our own classification, [] for cni."""

    industry_code: str
    industry_name: str | None
    items: list[IndustryRatio]
    members: list[IndustryMember]
