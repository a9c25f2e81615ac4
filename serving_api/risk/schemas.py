"""Response models of the risks."""

from typing import Any

from pydantic import BaseModel, Field, create_model

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import row_model
from serving_api.risk import queries


def _page(name: str, table: str, **more: Any) -> type[BaseModel]:
    rows: Any = list[row_model(table)]  # type: ignore[misc]
    made: type[BaseModel] = create_model(
        name,
        __base__=Reach,
        items=(rows, ...),
        total=(int, Field(description="rows of all pages")),
        page=(int, ...),
        page_size=(int, ...),
        **more,
    )
    return made


_DATE = (str | None, Field(description="of the rows; null where nothing is stored"))
PledgePage = _page("PledgePage", queries.PLEDGE, date=_DATE)
GoodwillPage = _page("GoodwillPage", queries.GOODWILL, period=_DATE)
CommentPage = _page("CommentPage", queries.COMMENT, date=_DATE)
GoodwillRow = row_model(queries.GOODWILL)
CommentRow = row_model(queries.COMMENT)


class PledgeEvent(BaseModel):
    holder: str | None
    pledge_shares: int | None = Field(description="shares")
    ratio_total_pct: float | None = Field(description="of all shares of the company")
    ratio_hold_pct: float | None = Field(description="of the holder's shares")
    pledgee: str | None
    start_date: str | None
    release_date: str | None = Field(description="null: the portal names none")
    status: str | None


class PledgeRatio(BaseModel):
    date: str
    pledge_ratio: float


class PledgeDetail(Reach):
    """`items` are requested from the portal now, newest notice first; [] when it does not answer.
    `first_date` and `note` are about `ratio_history`, which is stored."""

    code: str
    items: list[PledgeEvent]
    total: int
    ratio_history: list[PledgeRatio] = Field(description="two years by week, oldest first")


class PledgeIndustry(BaseModel):
    industry: str
    avg_ratio_pct: float = Field(description="mean over the companies in the list")
    company_count: int
    pledge_market_value: float = Field(description="10k CNY")


class PledgeIndustries(Reach):
    items: list[PledgeIndustry]
    total: int
    date: str | None


class GoodwillIndustry(BaseModel):
    industry: str
    goodwill: float = Field(description="CNY")
    equity_ratio_pct: float | None = Field(description="sum of goodwill / sum of equity")
    impairment: float | None = Field(description="CNY; null when no report states it")
    company_count: int


class GoodwillIndustries(Reach):
    items: list[GoodwillIndustry]
    total: int
    period: str | None


class GoodwillDetail(Reach):
    code: str
    items: list[GoodwillRow]  # type: ignore[valid-type]
    total: int


class Score(BaseModel):
    date: str
    score: float | None


class Focus(BaseModel):
    date: str
    focus_index: float | None


class Participation(BaseModel):
    date: str
    org_participation_pct: float | None


class Cost(BaseModel):
    date: str
    prime_cost: float | None


class CommentDetail(Reach):
    """Series are oldest first."""

    code: str
    latest: dict[str, Any] = Field(description="the newest row; {} for an unknown code")
    score: list[Score]
    focus: list[Focus]
    participation: list[Participation]
    cost: list[Cost]
