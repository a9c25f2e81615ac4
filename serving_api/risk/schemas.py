"""Response models of the risks."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import PageOf, Rows, columns_of
from serving_api.risk import queries

_DATE = Field(description="of the rows; null where nothing is stored")


@columns_of(queries.PLEDGE)
class PledgeRow(BaseModel):
    """Pledged shares of a company."""


class PledgePage(Reach, PageOf[PledgeRow]):
    date: str | None = _DATE


@columns_of(queries.GOODWILL)
class GoodwillRow(BaseModel):
    """Goodwill of a company at the end of a report period."""


class GoodwillPage(Reach, PageOf[GoodwillRow]):
    period: str | None = _DATE


@columns_of(queries.COMMENT)
class CommentRow(BaseModel):
    """The portal's scores of a stock."""


class CommentPage(Reach, PageOf[CommentRow]):
    date: str | None = _DATE


class PledgeEvent(BaseModel):
    holder: str | None
    pledge_shares: int | None = Field(description="shares")
    ratio_total_pct: float | None = Field(description="of all shares of the company")
    ratio_hold_pct: float | None = Field(description="of the holder's shares")
    pledgee: str | None
    start_date: str | None
    release_date: str | None = Field(description="null: the portal names none")
    status: str | None


@columns_of(queries.PLEDGE, "date=trade_date pledge_ratio")
class PledgeRatio(BaseModel):
    """One weekly list."""


class PledgeDetail(Reach, Rows[PledgeEvent]):
    """`items` are requested from the portal now, newest notice first; [] when it does not answer.
    `first_date` and `note` are about `ratio_history`, which is stored."""

    code: str
    ratio_history: list[PledgeRatio] = Field(description="two years by week, oldest first")


class PledgeIndustry(BaseModel):
    industry: str
    avg_ratio_pct: float = Field(description="mean over the companies in the list")
    company_count: int
    pledge_market_value: float = Field(description="10k CNY")


class PledgeIndustries(Reach, Rows[PledgeIndustry]):
    date: str | None


class GoodwillIndustry(BaseModel):
    industry: str
    goodwill: float = Field(description="CNY")
    equity_ratio_pct: float | None = Field(description="sum of goodwill / sum of equity")
    impairment: float | None = Field(description="CNY; null when no report states it")
    company_count: int


class GoodwillIndustries(Reach, Rows[GoodwillIndustry]):
    period: str | None


class GoodwillDetail(Reach, Rows[GoodwillRow]):
    code: str


@columns_of(queries.COMMENT, "date=trade_date score=total_score")
class Score(BaseModel):
    """One trade date."""


@columns_of(queries.COMMENT, "date=trade_date focus_index")
class Focus(BaseModel):
    """One trade date."""


@columns_of(queries.COMMENT, "date=trade_date org_participation_pct")
class Participation(BaseModel):
    """One trade date."""


@columns_of(queries.COMMENT, "date=trade_date prime_cost")
class Cost(BaseModel):
    """One trade date."""


class CommentDetail(Reach):
    """Series are oldest first."""

    code: str
    latest: dict[str, Any] = Field(description="the newest row; {} for an unknown code")
    score: list[Score]
    focus: list[Focus]
    participation: list[Participation]
    cost: list[Cost]
