"""/stocks/{code}/finance*: open to anyone, enveloped."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from core.errors import InputError
from platform_assets.datasets.finance_indicator import FinanceIndicator
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.parameters import AsOfRead, StockCode, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.stocks.finance import queries, shapes
from serving_api.stocks.finance.service import PERIODS, Finance


@with_columns(FinanceIndicator.report_period, *shapes.FIGURES)
class FinanceRow(BaseModel):
    """Cumulative since 1 January: CNY, `roe` percent, per share CNY."""

    model_config = example(
        year=2026, report_period="2026-06-30", revenue=91094000000.0, netProfit=46987000000.0, roe=18.2,
        eps=37.4, bvps=198.1,
    )  # fmt: skip
    year: int


Origin = Literal["fusion", "indicator", "live"]


class Indicator(BaseModel):
    key: str = Field(description="column of fusion_finance_indicator, or the upstream's name")
    name: str
    unit: str = Field(description="CNY, pct, days, times or nothing")
    values: list[float | None] = Field(description="one per period")


class IndicatorGroup(BaseModel):
    key: str
    name: str
    items: list[Indicator]


class Indicators(BaseModel):
    code: str
    periods: list[str] = Field(description="newest first, at most 12")
    groups: list[IndicatorGroup]
    updatedAt: str | None


class Series(BaseModel):
    """Amounts in CNY are cumulative, their `qoq` compares single quarters (percent); changes of
    percentages are differences in points."""

    key: str
    name: str
    unit: str
    values: list[float | None]
    yoy: list[float | None]
    qoq: list[float | None]


@with_columns(*shapes.EXPLAINED)
class Explanation(BaseModel):
    """Null `text`: there is no explanation."""


class Detail(BaseModel):
    code: str
    periods: list[str] = Field(description="newest first, at most 12")
    series: list[Series]
    explanations: list[Explanation] = Field(description="items that changed by 30 % or more")
    indicators: dict[str, float] = Field(description="every number of the newest report")


router = area_router(f"{PREFIX}/stocks", "stocks")

_AS_OF = ("as_of", str)


@router.get("/{code}/finance", response_model=list[FinanceRow])
@serves(top=[("source", Origin), _AS_OF])
async def finance(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """Key figures by report period, newest first, at most 20: fused ones when there are at least two, else
    those of the indicator table, else the portal's (never with `as_of`)."""
    answer = await Finance(call.state).rows(code, bound_of(as_of))
    items = [shapes.finance_row(row) for row in answer.rows]
    return Answer({"items": items, "source": answer.source}, top=echo_of(as_of), headers=answer.headers)


@router.get("/{code}/finance-indicators", response_model=Indicators)
@serves(top=[_AS_OF])
async def finance_indicators(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    refresh: Annotated[bool, Query(description="ask the portal again instead of the store")] = False,
) -> Answer:
    """Every indicator of the newest twelve report periods, by group."""
    if refresh and as_of is not None:
        raise InputError("refresh", "the portal knows the present alone; leave out as_of, or refresh")
    answer = await Finance(call.state).indicators(code, bound_of(as_of), refresh=refresh)
    rows = answer.rows[:PERIODS]
    payload = {
        "code": code,
        "periods": [row["report_period"] for row in rows],
        "groups": shapes.groups(rows),
        "updatedAt": answer.updated_at,
    }
    return Answer(payload, top=echo_of(as_of), headers=answer.headers)


@router.get("/{code}/finance-detail", response_model=Detail)
@serves(top=[_AS_OF], tables=(queries.FINANCE, queries.CHANGES, queries.INDICATORS))
async def finance_detail(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """Core series with their changes, items with large changes, and the indicators of the newest report."""
    return Answer(await Finance(call.state).detail(code, bound_of(as_of)), top=echo_of(as_of))
