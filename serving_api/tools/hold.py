"""app_hold: the watch list of the caller."""

from pydantic import BaseModel, Field

from serving_api.datasets.portfolio.queries import SHARED, TABLES, stocks_of
from serving_api.datasets.portfolio.service import shown_stock
from serving_api.framework.envelope import instant
from serving_api.tools.answers import Draft, ToolAnswer, of_tables
from serving_api.tools.model import Call, Paged, Tool


class HoldArguments(Paged):
    limit: int = Field(default=100, ge=1, le=500, description="至多几只")


class Holding(BaseModel):
    """Prices are CNY, changes and profit percent; `shared`: on the list that all users share."""

    code: str
    name: str | None
    shares: float | None = Field(description="shares")
    costPrice: float | None = Field(description="CNY")
    buyDate: str | None
    stopLossPrice: float | None = Field(description="CNY")
    targetPrice: float | None = Field(description="CNY")
    note: str | None
    group: str
    price: float | None
    changePct: float | None
    profitPct: float | None
    shared: bool


class HoldAnswer(ToolAnswer):
    items: list[Holding]
    updated_at: str | None


async def hold(call: Call, asked: HoldArguments) -> Draft:
    """A user's own list; an administrator also sees the shared one, as on /datamgr/portfolio."""
    user = call.subject.member
    owners = (user.id, SHARED) if user.is_admin else (user.id,)
    rows, quotes = await call.state.reading.scan(stocks_of, owners)
    stocks = [
        {**shown_stock(row, quotes.get(row["code"], {})), "shared": row["user_id"] == SHARED} for row in rows
    ]
    newest = max((row["updated_at"] for row in rows if row["updated_at"]), default=None)
    return Draft.part_of(
        stocks,
        asked.offset,
        asked.limit,
        body={"updated_at": instant(newest)},
        **await of_tables(call.state, TABLES),
    )


TOOL = Tool(
    name="app_hold",
    title="我的自选与持仓",
    description=("我的自选股、持仓、模拟持仓与盈亏，附最新收盘报价。需要登录"),
    arguments=HoldArguments,
    answer=HoldAnswer,
    work=hold,
    login=True,
)
