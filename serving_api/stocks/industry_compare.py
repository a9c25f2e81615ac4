"""/stocks/{code}/industry-compare: open to anyone, enveloped."""

from typing import Any

from pydantic import BaseModel, Field

from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.stored import ANY, stored
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOfRead, StockCode, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.stocks.service import WAN

router = area_router(f"{PREFIX}/stocks", "stocks")

WIDE = stored("fusion_stock_wide", StockWide)
SHOWN = (
    StockWide.code, StockWide.name, StockWide.current_price.label("price"),
    StockWide.change_pct.label("changePercent"), StockWide.pe_ttm.label("peTtm"), StockWide.pb, StockWide.roe,
    StockWide.revenue_yoy.label("revenueYoy"), StockWide.net_profit_yoy.label("profitYoy"),
)  # fmt: skip
"""Keys of a row that are columns of the wide table, some under another name."""


@with_columns(*SHOWN)
class Peer(BaseModel):
    """A stock of the industry."""

    isSelf: bool
    marketCap: float | None = Field(description="CNY")
    rank: int = Field(description="by market cap, from 1 on")


def peers(session: Session, code: str, as_of: str | None) -> list[dict[str, Any]]:
    """Wide rows of the stock's industry on its newest date; [] when the industry is not known."""
    group, order = ("trade_date", "industry"), [WIDE.c.trade_date.desc()]
    own = session.dicts(WIDE, WIDE.c.code == code, columns=group, as_of=as_of, order=order, limit=1)
    if not own or not own[0]["industry"]:
        return []
    of = [ANY[name] == value for name, value in own[0].items()]
    return session.dicts(WIDE, *of, columns=(*SHOWN, StockWide.total_market_cap), as_of=as_of)


@router.get("/{code}/industry-compare", response_model=list[Peer])
@serves(top=[("as_of", str)], tables=(WIDE,))
async def industry_compare(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """The stocks of the same industry on the stock's newest date, the largest first; [] when its industry
    is not known."""
    rows = await read_or([], call.state.reading.scan(peers, code, bound_of(as_of)))
    rows.sort(key=lambda row: (-(row["total_market_cap"] or 0), row["code"]))
    return Answer([_peer(row, code, rank) for rank, row in enumerate(rows, start=1)], top=echo_of(as_of))


def _peer(row: dict[str, Any], code: str, rank: int) -> Peer:
    cap = row["total_market_cap"]
    own = {"isSelf": row["code"] == code, "marketCap": None if cap is None else cap * WAN, "rank": rank}
    return Peer.model_validate({**row, **own})
