"""/market/lhb-branch-stat: anyone."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.dragon_tiger import DragonTiger, LhbBranch
from resources.warehouse.stored import select, stored
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach_of_days
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, with_columns
from serving_api.interfaces.events import deals_of_branches, totals_of_branches


@with_columns(
    LhbBranch.branch_name, LhbBranch.buy_amt.not_null(), LhbBranch.sell_amt.not_null(),
    LhbBranch.net_amt.not_null(),
)  # fmt: skip
class Branch(BaseModel):
    """10k CNY."""

    trades: int = Field(description="codes and dates on which the branch dealt")
    codes: int
    is_org: bool = Field(description="anonymous institutions, many under one name")
    win_rate_5d: float | None = Field(
        description="percent of the net purchases with a higher price five trade dates later; null until then"
    )
    avg_d5_change_pct: float | None = Field(description="mean change in those five trade dates, percent")


class Span(BaseModel):
    """First and last trade date of the window."""

    from_: str = Field(alias="from")
    to: str


class BranchStat(Reach, Rows[Branch]):
    total: int = Field(description="branches in the window")
    window: Span


SEATS = stored("raw_lhb_branch")
LISTINGS = stored("fusion_dragon_tiger", DragonTiger)


def branches(session: Session, since: str, name: str | None, limit: int) -> tuple[list[dict[str, Any]], int]:
    """(branches since a date, largest sums first, each with the outcome of its purchases; their number
    without the limit)."""
    table = session.table(SEATS)
    rows = totals_of_branches(session, table, since, name, limit)
    after = _after_purchases(session, since, name)
    for row in rows:
        row["win_rate_5d"], row["avg_d5_change_pct"] = after.get(row["branch_name"], (None, None))
    if len(rows) < limit:
        return rows, len(rows)
    deal = deals_of_branches(table, since, name).c
    total = session.run(sa.select(sa.func.count(deal.branch_name.distinct())))
    return rows, int(total[0][0])


def _after_purchases(session: Session, since: str, name: str | None) -> dict[str, tuple[float, float]]:
    """Branch -> (share of its net purchases with a higher price five trade dates later, mean change),
    percent; only of purchases whose five dates have passed."""
    deals, c = deals_of_branches(session.table(SEATS), since, name), LISTINGS.c
    later = select(LISTINGS, c.code, c.date, sa.func.max(c.d5_change_pct).label("d5"))
    known = later.where(c.date >= since, c.d5_change_pct.is_not(None)).group_by(c.code, c.date)
    deal, moves = deals.c, known.subquery("moves")
    won = sa.func.avg(sa.case((moves.c.d5 > 0, 100.0), else_=0.0))
    outcomes = sa.select(deal.branch_name, won, sa.func.avg(moves.c.d5)).select_from(
        deals.join(moves, (moves.c.code == deal.code) & (moves.c.date == deal.trade_date))
    )
    rows = session.run(outcomes.where(deal.bought > deal.sold).group_by(deal.branch_name))
    session.note(LISTINGS, ("d5_change_pct",))
    return {str(branch): (round(float(won), 2), round(float(mean), 4)) for branch, won, mean in rows}


router = area_router(f"{PREFIX}/market", "market: billboard")


@router.get("/lhb-branch-stat", response_model=BranchStat)
@serves(tables=(SEATS, LISTINGS))
async def branch_stat(
    call: Anyone,
    days: Annotated[int, Query(ge=5, le=250, description="trade dates")] = 30,
    branch: Annotated[str, Query(max_length=64, description="text in the name of the branch")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="branches of the answer")] = 50,
) -> Answer:
    """Amounts bought and sold by branches on the billboard, largest sums first."""
    dates = call.state.calendar.last(days, call.state.today)
    items, total = await read_or(
        ([], 0), call.state.reading.scan(branches, dates[0], branch.strip() or None, limit)
    )
    history = await reach_of_days(call.state, (SEATS,), days)
    window = {"from": dates[0], "to": dates[-1]}
    return Answer({"items": items, "total": total, "window": window, **history})
