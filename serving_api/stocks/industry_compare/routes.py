"""/stocks/{code}/industry-compare: open to anyone, enveloped."""

from typing import Any

from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.stocks.industry_compare import queries, schemas
from serving_api.stocks.service import WAN

router = area_router(f"{PREFIX}/stocks", "stocks")


@router.get("/{code}/industry-compare", list[schemas.Peer], top=[("as_of", str)], tables=(queries.WIDE,))
async def industry_compare(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """The stocks of the same industry on the stock's newest date, the largest first; [] when its industry
    is not known."""
    bound = None if as_of is None else as_of.bound
    rows = await read_or([], call.state.reading.scan(queries.peers, code, bound))
    rows.sort(key=lambda row: (-(row.get("total_market_cap") or 0), row["code"]))
    echo = {} if as_of is None else {"as_of": as_of.echo}
    return Answer([_peer(row, code, rank) for rank, row in enumerate(rows, start=1)], top=echo)


def _peer(row: dict[str, Any], code: str, rank: int) -> dict[str, Any]:
    cap = row.get("total_market_cap")
    return {
        "code": row["code"],
        "name": row.get("name"),
        "isSelf": row["code"] == code,
        "price": row.get("current_price"),
        "changePercent": row.get("change_pct"),
        "peTtm": row.get("pe_ttm"),
        "pb": row.get("pb"),
        "marketCap": None if cap is None else cap * WAN,
        "roe": row.get("roe"),
        "revenueYoy": row.get("revenue_yoy"),
        "profitYoy": row.get("net_profit_yoy"),
        "rank": rank,
    }
