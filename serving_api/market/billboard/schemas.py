"""Response models of the branches on the billboard, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class Branch(BaseModel):
    """10k CNY."""

    branch_name: str
    trades: int = Field(description="codes and dates on which the branch dealt")
    buy_amt: float
    sell_amt: float
    net_amt: float
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


class BranchStat(Reach):
    items: list[Branch]
    total: int = Field(description="branches in the window")
    window: Span
