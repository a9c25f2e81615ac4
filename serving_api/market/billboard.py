"""/market/lhb-branch-stat: anyone."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.dragon_tiger import LhbBranch
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


SEATS = "raw_lhb_branch"
LISTINGS = "fusion_dragon_tiger"


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
    deal, values = deals_of_branches(table, since, name)
    total = session.run(f"SELECT COUNT(DISTINCT branch_name) FROM ({deal}) AS deal", tuple(values))
    return rows, int(total[0][0])


def _after_purchases(session: Session, since: str, name: str | None) -> dict[str, tuple[float, float]]:
    """Branch -> (share of its net purchases with a higher price five trade dates later, mean change),
    percent; only of purchases whose five dates have passed."""
    deal, values = deals_of_branches(session.table(SEATS), since, name)
    moves = (
        f"SELECT code, date, MAX(d5_change_pct) AS d5 FROM {LISTINGS} "
        "WHERE date>=? AND d5_change_pct IS NOT NULL GROUP BY code, date"
    )
    rows = session.run(
        "SELECT branch_name, AVG(CASE WHEN d5 > 0 THEN 100.0 ELSE 0.0 END), AVG(d5) "
        f"FROM ({deal}) AS deal JOIN ({moves}) AS moves ON moves.code=deal.code AND "
        "moves.date=deal.trade_date WHERE bought > sold GROUP BY branch_name",
        (*values, since),
    )
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
