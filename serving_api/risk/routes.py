"""/risk/*: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.risk_comment import RiskComment
from platform_assets.datasets.risk_goodwill import RiskGoodwill
from platform_assets.datasets.risk_pledge import RiskPledge
from resources.warehouse.stored import within
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach, reach_of_day
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import PageOf, Rows, columns, with_columns
from serving_api.live.admin_reads.service import live_of
from serving_api.live.frame_values import number, text, whole
from serving_api.risk import queries
from serving_api.table_lists import (
    Page,
    PageSize,
    PastDay,
    Period,
    Sort,
    TradeDay,
    newest_rows,
    page_of,
)

_DATE = Field(description="of the rows; null where nothing is stored")


@with_columns(*columns(RiskPledge))
class PledgeRow(BaseModel):
    """Pledged shares of a company."""


class PledgePage(Reach, PageOf[PledgeRow]):
    date: IsoDate | None = _DATE


@with_columns(*columns(RiskGoodwill))
class GoodwillRow(BaseModel):
    """Goodwill of a company at the end of a report period."""


class GoodwillPage(Reach, PageOf[GoodwillRow]):
    period: str | None = _DATE


@with_columns(*columns(RiskComment))
class CommentRow(BaseModel):
    """The portal's scores of a stock."""


class CommentPage(Reach, PageOf[CommentRow]):
    date: IsoDate | None = _DATE


class PledgeEvent(BaseModel):
    holder: str | None
    pledge_shares: int | None = Field(description="shares")
    ratio_total_pct: float | None = Field(description="of all shares of the company")
    ratio_hold_pct: float | None = Field(description="of the holder's shares")
    pledgee: str | None
    start_date: IsoDate | None
    release_date: IsoDate | None = Field(description="null: the portal names none")
    status: str | None


@with_columns(RiskPledge.trade_date.label("date"), RiskPledge.pledge_ratio)
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
    date: IsoDate | None


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


@with_columns(RiskComment.trade_date.label("date"), RiskComment.total_score.label("score"))
class Score(BaseModel):
    """One trade date."""


@with_columns(RiskComment.trade_date.label("date"), RiskComment.focus_index)
class Focus(BaseModel):
    """One trade date."""


@with_columns(RiskComment.trade_date.label("date"), RiskComment.org_participation_pct)
class Participation(BaseModel):
    """One trade date."""


@with_columns(RiskComment.trade_date.label("date"), RiskComment.prime_cost)
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


router = area_router(f"{PREFIX}/risk", "risk")

PLEDGES_TTL = 3600.0

Ratio = Annotated[float, Query(ge=0, le=1000, description="percent; rows below it are left out")]
"""0 is no bound: rows without a value are shown, too."""


@router.get("/pledge-list", response_model=PledgePage)
@serves(tables=(queries.PLEDGE,))
async def pledge_list(
    call: Anyone,
    date: PastDay,
    min_ratio: Ratio = 0.0,
    sort: Sort = "-pledge_ratio",
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """Companies with pledged shares in the newest weekly list that is not after `date`."""
    table, least = queries.PLEDGE, within(queries.PLEDGE.c.pledge_ratio, min_ratio or None, None)
    return Answer(await page_of(call.state, table, date, sort, page, page_size, *least, until=True))


@router.get("/pledge-detail/{code}", response_model=PledgeDetail)
async def pledge_detail(
    call: Anyone,
    code: StockCode,
    limit: Annotated[int, Query(ge=1, le=500, description="newest pledges")] = 50,
) -> Answer:
    """Single pledges of a company, from the portal now, and its weekly ratio."""
    reported = await call.state.part(live_of).portal(
        ("pledges", code), PLEDGES_TTL, lambda client: client.pledge_events(code), _pledge
    )
    rows = await read_or([], call.state.reading.point(newest_rows, queries.PLEDGE, code, queries.WEEKS))
    history = [PledgeRatio.model_validate(row) for row in reversed(rows)]
    items = reported.value[:limit]
    answer = {"code": code, "items": items, "total": len(reported.value), "ratio_history": history}
    answer |= await reach(
        call.state, queries.PLEDGE, len(history), asked=queries.WEEKS, code=code, what="weekly lists"
    )
    return Answer(answer, headers=reported.headers)


def _pledge(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: text(row[name]) for name in ("holder", "pledgee", "start_date", "status")},
        "ratio_total_pct": number(row["ratio_total_pct"]),
        "ratio_hold_pct": number(row["ratio_hold_pct"]),
        "pledge_shares": whole(row["pledge_shares"]),
        "release_date": None,
    }


@router.get("/pledge-industry", response_model=PledgeIndustries)
@serves(tables=(queries.PLEDGE,))
async def pledge_industry(call: Anyone, date: PastDay) -> Answer:
    """Pledged shares by industry in the newest weekly list that is not after `date`."""
    items, day = await read_or(([], date), call.state.reading.scan(queries.pledges_by_industry, date))
    history = await reach_of_day(call.state, queries.PLEDGE, date)
    return Answer({"items": items, "total": len(items), "date": day, **history})


@router.get("/goodwill-list", response_model=GoodwillPage)
@serves(tables=(queries.GOODWILL,))
async def goodwill_list(
    call: Anyone, period: Period, min_ratio: Ratio = 0.0, page: Page = 1, page_size: PageSize = 50
) -> Answer:
    """Companies by goodwill / equity in one report period."""
    table, share = queries.GOODWILL, "goodwill_equity_ratio_pct"
    least = within(table.c.goodwill_equity_ratio_pct, min_ratio or None, None)
    reported = await page_of(call.state, table, period, f"-{share}", page, page_size, *least)
    return Answer({"period": reported.pop("date"), **reported})


@router.get("/goodwill-industry", response_model=GoodwillIndustries)
@serves(tables=(queries.GOODWILL, queries.INDUSTRY))
async def goodwill_industry(call: Anyone, period: Period) -> Answer:
    """Goodwill by industry in one report period."""
    items, day = await read_or(([], period), call.state.reading.scan(queries.goodwill_by_industry, period))
    history = await reach_of_day(call.state, queries.GOODWILL, period)
    return Answer({"items": items, "total": len(items), "period": day, **history})


@router.get("/goodwill-detail/{code}", response_model=GoodwillDetail)
@serves(tables=(queries.GOODWILL,))
async def goodwill_detail(
    call: Anyone,
    code: StockCode,
    limit: Annotated[int, Query(ge=1, le=60, description="report periods")] = 12,
) -> Answer:
    """Goodwill of one company, newest report period first."""
    items = await read_or([], call.state.reading.point(newest_rows, queries.GOODWILL, code, limit))
    history = await reach(
        call.state, queries.GOODWILL, len(items), asked=limit, code=code, what="report periods"
    )
    return Answer({"code": code, "items": items, "total": len(items), **history})


@router.get("/comment-list", response_model=CommentPage)
@serves(tables=(queries.COMMENT,))
async def comment_list(
    call: Anyone,
    date: TradeDay,
    sort: Sort = "-total_score",
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """The portal's scores of every stock on one trade date."""
    return Answer(await page_of(call.state, queries.COMMENT, date, sort, page, page_size))


@router.get("/comment-detail/{code}", response_model=CommentDetail)
@serves(tables=(queries.COMMENT,))
async def comment_detail(
    call: Anyone,
    code: StockCode,
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates")] = 30,
) -> Answer:
    """The portal's scores of one stock by trade date, oldest first."""
    rows = await read_or([], call.state.reading.point(newest_rows, queries.COMMENT, code, days))

    kinds = {"score": Score, "focus": Focus, "participation": Participation, "cost": Cost}
    series = {key: [kind.model_validate(row) for row in reversed(rows)] for key, kind in kinds.items()}
    answer = {"code": code, "latest": rows[0] if rows else {}, **series}
    history = await reach(call.state, queries.COMMENT, len(rows), asked=days, code=code)
    return Answer({**answer, **history})
