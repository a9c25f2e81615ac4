"""Response models of indices."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class IndexRatio(BaseModel):
    date: str
    pe: float | None = Field(description="by total shares; only of about the newest twenty dates")
    pe_ttm: float | None = Field(description="rolling")
    pb: float | None
    dividend_yield: float | None = Field(description="percent")
    pe_pct_10y: float | None = Field(description="share of ten years in which pe_ttm was not higher, percent")
    pb_pct_10y: float | None = Field(description="percent")


class IndexValuation(Reach):
    """Oldest first; `latest` is the last of the items, {} when there are none."""

    symbol: str
    name: str | None
    items: list[IndexRatio]
    latest: dict[str, object] = Field(description="the newest item")


class IndexWeight(BaseModel):
    code: str
    name: str | None
    weight_pct: float


class IndexWeights(BaseModel):
    """The heaviest first. `coverage_pct` is the sum of the shown weights."""

    symbol: str
    name: str | None
    as_of_date: str | None
    items: list[IndexWeight]
    total: int = Field(description="members with a weight")
    coverage_pct: float


class IndexMember(BaseModel):
    code: str
    name: str | None
    in_date: str | None = Field(description="only for industries")


class IndexMembers(BaseModel):
    symbol: str
    name: str | None
    as_of_date: str | None
    items: list[IndexMember]
    total: int
