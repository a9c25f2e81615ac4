"""/index/*: open to anyone, plain."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.index.constituents import queries, schemas
from serving_api.index.symbols import symbol_of

router = area_router(f"{PREFIX}/index", "index")

Symbol = Annotated[
    str, Path(description="index: sh000300, 000300, 399001; an industry: 801780", examples=["sh000300"])
]


@router.get("/valuation/{symbol}")
@serving(schemas.IndexValuation, tables=(queries.VALUATION,))
async def valuation(
    request: Request,
    subject: Anyone,
    symbol: Symbol,
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates")] = 750,
) -> Answer:
    """PE, yield and percentile of an index by trade date, oldest first."""
    own = symbol_of(symbol)
    rows = await read_or([], state_of(request).reading.point(queries.valuation, own, days))
    items = [{name: row[name] for name in queries.RATIOS} for row in rows]
    name = rows[-1]["index_name"] if rows else None
    history = await reach(
        state_of(request), queries.VALUATION, len(items), asked=days, of={"index_code": own}
    )
    latest = items[-1] if items else {}
    return Answer({"symbol": own, "name": name, "items": items, "latest": latest, **history})


@router.get("/weights/{symbol}")
@serving(schemas.IndexWeights, tables=(queries.MEMBERS,))
async def weights(
    request: Request,
    subject: Anyone,
    symbol: Symbol,
    limit: Annotated[int, Query(ge=1, le=5000, description="the heaviest members")] = 100,
) -> Answer:
    """Members of an index with their weights at the newest known month end, the heaviest first."""
    own = symbol_of(symbol)
    rows, total, name = await read_or(
        ([], 0, None), state_of(request).reading.point(queries.weighted, own, limit)
    )
    answer = {
        "symbol": own,
        "name": name,
        "as_of_date": rows[0]["as_of_date"] if rows else None,
        "items": [{key: row[key] for key in ("code", "name", "weight_pct")} for row in rows],
        "total": total,
        "coverage_pct": round(sum(row["weight_pct"] for row in rows), 4),
    }
    return Answer(answer)


@router.get("/constituents/{symbol}")
@serving(schemas.IndexMembers, tables=(queries.MEMBERS,))
async def constituents(request: Request, subject: Anyone, symbol: Symbol) -> Answer:
    """Members of an index or industry in the newest list."""
    own = symbol_of(symbol)
    rows = await read_or([], state_of(request).reading.point(queries.members, own))
    answer = {
        "symbol": own,
        "name": rows[0]["index_name"] if rows else None,
        "as_of_date": rows[0]["as_of_date"] if rows else None,
        "items": [{key: row[key] for key in ("code", "name", "in_date")} for row in rows],
        "total": len(rows),
    }
    return Answer(answer)
