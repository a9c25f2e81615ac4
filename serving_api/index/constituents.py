"""/index/*: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from platform_assets.datasets.index_constituent import IndexConstituent
from platform_assets.datasets.index_valuation import IndexValuation as StoredIndexValuation
from resources.warehouse.stored import stored
from serving_api.db.rows import Row
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach
from serving_api.framework.openapi import IsoDate
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, with_columns
from serving_api.index.symbols import symbol_of
from serving_api.interfaces.indices import MEMBERS, members, weights
from serving_api.table_lists import newest_rows

router = area_router(f"{PREFIX}/index", "index")

VALUATION = stored("raw_index_valuation", StoredIndexValuation)
_WEIGHED = 20_000

Symbol = Annotated[
    str, Path(description="index: sh000300, 000300, 399001; an industry: 801780", examples=["sh000300"])
]


@with_columns(
    StoredIndexValuation.date, StoredIndexValuation.pe, StoredIndexValuation.pe_ttm, StoredIndexValuation.pb,
    StoredIndexValuation.dividend_yield, StoredIndexValuation.pe_pct_10y, StoredIndexValuation.pb_pct_10y,
)  # fmt: skip
class IndexRatio(BaseModel):
    """`pe` only of about the newest twenty dates."""


class IndexValuation(Reach):
    """Oldest first; `latest` is the last of the items, {} when there are none."""

    symbol: str
    name: str | None
    items: list[IndexRatio]
    latest: dict[str, object] = Field(description="the newest item")


@with_columns(IndexConstituent.code, IndexConstituent.name, IndexConstituent.weight_pct.not_null())
class IndexWeight(BaseModel):
    """A member with its weight."""


class IndexWeights(Rows[IndexWeight]):
    """The heaviest first. `coverage_pct` is the sum of the shown weights."""

    symbol: str
    name: str | None
    as_of_date: IsoDate | None
    total: int = Field(description="members with a weight")
    coverage_pct: float


@with_columns(IndexConstituent.code, IndexConstituent.name, IndexConstituent.in_date)
class IndexMember(BaseModel):
    """A member; `in_date` only of industries."""


class IndexMembers(Rows[IndexMember]):
    symbol: str
    name: str | None
    as_of_date: IsoDate | None


@router.get("/valuation/{symbol}", response_model=IndexValuation)
@serves(tables=(VALUATION,))
async def valuation(
    call: Anyone,
    symbol: Symbol,
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates")] = 750,
) -> Answer:
    """PE, yield and percentile of an index by trade date, oldest first."""
    own = symbol_of(symbol)
    rows = await read_or([], call.state.reading.point(newest_rows, VALUATION, own, days))
    items = [IndexRatio.model_validate(row) for row in reversed(rows)]
    name = rows[0]["index_name"] if rows else None
    history = await reach(call.state, VALUATION, len(items), VALUATION.c.index_code == own, asked=days)
    latest: object = items[-1] if items else {}
    return Answer({"symbol": own, "name": name, "items": items, "latest": latest, **history})


@router.get("/weights/{symbol}", response_model=IndexWeights)
@serves(tables=(MEMBERS,))
async def index_weights(
    call: Anyone,
    symbol: Symbol,
    limit: Annotated[int, Query(ge=1, le=5000, description="the heaviest members")] = 100,
) -> Answer:
    """Members of an index with their weights at the newest known month end, the heaviest first."""
    own = symbol_of(symbol)
    rows = await read_or([], call.state.reading.point(weights, own, _WEIGHED))
    shown = _members(own, rows[:limit], IndexWeight)
    coverage = round(sum(row["weight_pct"] for row in rows[:limit]), 4)
    return Answer({**shown, "total": len(rows), "coverage_pct": coverage})


@router.get("/constituents/{symbol}", response_model=IndexMembers)
@serves(tables=(MEMBERS,))
async def constituents(call: Anyone, symbol: Symbol) -> Answer:
    """Members of an index or industry in the newest list."""
    own = symbol_of(symbol)
    rows = await read_or([], call.state.reading.point(members, own))
    return Answer(_members(own, rows, IndexMember))


def _members(symbol: str, rows: list[Row], member: type[BaseModel]) -> dict[str, Any]:
    """The list of an index, each row as this kind of member."""
    first = rows[0] if rows else {}
    return {
        "symbol": symbol,
        "name": first.get("index_name"),
        "as_of_date": first.get("as_of_date"),
        "items": [member.model_validate(row) for row in rows],
        "total": len(rows),
    }
