"""/fusion/index/indicator/{code} and /market/index-calendar: open to anyone, plain."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from core.days import moved
from platform_assets.compute.parameters.market_phase import MAIN_INDEX
from platform_assets.datasets.index_daily import IndexDaily
from platform_assets.datasets.indicator_daily import IndicatorDaily
from resources.warehouse.stored import ANY
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach, reach_since
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOfRead, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.index.symbols import symbol_of
from serving_api.interfaces.indices import INDICES, INDUSTRIES, indicators, table_of

router = area_router(f"{PREFIX}/fusion/index", "index: indicators")
calendar_router = area_router(f"{PREFIX}/market", "market: index calendar")

_TABLES = (INDICES, INDUSTRIES)


@with_columns(
    IndicatorDaily.date, IndicatorDaily.close, IndicatorDaily.ma5, IndicatorDaily.ma10, IndicatorDaily.ma20,
    IndicatorDaily.ma60, IndicatorDaily.boll_upper, IndicatorDaily.boll_mid, IndicatorDaily.boll_lower,
    IndicatorDaily.rsi14,
)  # fmt: skip
class IndicatorDay(BaseModel):
    """Points; null where there are not enough bars."""

    dif: float | None = Field(description="EMA12 - EMA26")
    dea: float | None = Field(description="EMA9 of dif")
    macd: float | None = Field(description="2 x (dif - dea)")
    k: float | None = Field(description="0..100")
    d: float | None = Field(description="0..100")
    j: float | None = Field(description="3k - 2d")


class IndexIndicators(Reach):
    """Oldest first; `latest` is the last of the items, {} when there are none."""

    code: str
    name: str | None
    items: list[IndicatorDay]
    latest: dict[str, object] = Field(description="the newest item")
    as_of: str | None = Field(default=None, description="the requested instant")


@with_columns(IndexDaily.date, IndexDaily.close, IndexDaily.change_pct.label("change_percent"))
class IndexDay(BaseModel):
    """One trade date."""


class IndexExtreme(BaseModel):
    """{} when no change is known."""

    date: IsoDate | None = None
    change_percent: float | None = None


class IndexMonth(BaseModel):
    month: str = Field(description="YYYY-MM")
    change_percent: float = Field(description="of the dates shown")


class IndexSummary(BaseModel):
    up_days: int
    down_days: int
    best: IndexExtreme
    worst: IndexExtreme
    by_month: list[IndexMonth]
    win_rate_pct: float | None = Field(description="up days / days with a change, percent")


class IndexCalendar(Reach):
    """Oldest first."""

    code: str
    name: str | None
    items: list[IndexDay]
    summary: IndexSummary


def bars_since(session: Session, code: str, day: str) -> list[Row]:
    """Bars of an index from a day on, oldest first."""
    columns, of = ("date", "name", "close", "change_pct"), [ANY.code == code, ANY.date >= day]
    return public_rows(session, table_of(code), *of, columns=columns, order=["date"])


def calendar(bars: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """{items[{date, close, change_percent}], summary}. A month's change compounds the changes of its
    dates; the first month counts only the dates that are shown."""
    items = [
        {"date": bar["date"], "close": bar["close"], "change_percent": bar["change_pct"]} for bar in bars
    ]
    known = [one for one in items if one["change_percent"] is not None]
    ups = sum(one["change_percent"] > 0 for one in known)
    months: dict[str, float] = {}
    for one in known:
        month = one["date"][:7]
        months[month] = months.get(month, 1.0) * (1 + one["change_percent"] / 100)
    best = max(known, key=lambda one: one["change_percent"], default=None)
    worst = min(known, key=lambda one: one["change_percent"], default=None)
    return {
        "items": items,
        "summary": {
            "up_days": ups,
            "down_days": sum(one["change_percent"] < 0 for one in known),
            "best": _day(best),
            "worst": _day(worst),
            "by_month": [
                {"month": month, "change_percent": round((value - 1) * 100, 4)}
                for month, value in months.items()
            ],
            "win_rate_pct": round(ups / len(known) * 100, 4) if known else None,
        },
    }


def _day(one: dict[str, Any] | None) -> dict[str, Any]:
    return {} if one is None else {"date": one["date"], "change_percent": one["change_percent"]}


@router.get("/indicator/{code}", response_model=IndexIndicators)
@serves(tables=_TABLES)
async def indicator(
    call: Anyone,
    code: Annotated[
        str, Path(description="index: sh000300, 000300; an industry: 801780", examples=["sh000300"])
    ],
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=30, le=750, description="newest trade dates")] = 120,
) -> Answer:
    """MA, MACD, KDJ, BOLL and RSI of an index by trade date."""
    own = symbol_of(code, "code")
    items, name = await read_or(([], None), call.state.reading.scan(indicators, own, days, bound_of(as_of)))
    answer = {
        "code": own,
        "name": name,
        "items": items,
        "latest": items[-1] if items else {},
        **await reach(call.state, table_of(own), len(items), asked=days, code=own, as_of=as_of),
    }
    return Answer(answer, top=echo_of(as_of))


@calendar_router.get("/index-calendar", response_model=IndexCalendar)
@serves(tables=_TABLES)
async def index_calendar(
    call: Anyone,
    code: Annotated[
        str, Query(max_length=16, description=f"index; empty: {MAIN_INDEX}", examples=["sh000300"])
    ] = "",
    days: Annotated[int, Query(ge=90, le=750, description="calendar days up to today")] = 365,
) -> Answer:
    """Daily changes of an index with their sums by month, from stored bars."""
    own = symbol_of(code, "code") if code.strip() else MAIN_INDEX
    since = moved(call.state.today, 1 - days)
    bars = await read_or([], call.state.reading.scan(bars_since, own, since))
    history = await reach_since(call.state, table_of(own), len(bars), since, code=own)
    return Answer({"code": own, "name": bars[-1]["name"] if bars else None, **calendar(bars), **history})
