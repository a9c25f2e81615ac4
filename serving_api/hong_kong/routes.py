"""/hk-finance/{code}/*, open to anyone, plain; /stocks/{code}/ah-premium, enveloped."""

from enum import StrEnum
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from platform_assets.datasets.hk_finance import HkFinance
from platform_assets.datasets.stock_profile import StockProfile
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, Reach, reach_from
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, with_columns
from serving_api.framework.state import State
from serving_api.hong_kong.service import FIGURES, PROFILE, HongKong, first_period


@with_columns(HkFinance.report_period, *FIGURES)
class HkPeriod(BaseModel):
    """Amounts in the company's own currency, ratios in percent."""


@with_columns(HkFinance.code, HkFinance.name, HkFinance.currency)
class HkIndicators(Reach, Rows[HkPeriod]):
    """Annual and half-yearly, newest first."""


class HkItem(BaseModel):
    item: str
    values: list[float | None] = Field(description="one per period")


class HkStatement(Reach, Rows[HkItem]):
    code: str
    statement: str
    periods: list[str] = Field(description="newest first")


class HkDividend(BaseModel):
    ann_date: IsoDate | None
    ex_date: IsoDate | None
    dividend_ps: float | None = Field(description="as in the plan; null when the plan has another form")
    currency: str | None
    plan: str | None


class HkDividends(Rows[HkDividend]):
    """Newest ex-date first."""

    code: str


@with_columns(StockProfile.full_name, StockProfile.website, StockProfile.intro)
class HkProfile(BaseModel):
    """Null when the portal has no value, or does not answer."""

    code: str
    name: str | None
    industry: str | None
    listing_date: IsoDate | None
    shares: int | None = Field(description="null: no documented source has it")


class PremiumDay(BaseModel):
    date: IsoDate
    premium_pct: float


class AhPremium(BaseModel):
    """Current prices, unadjusted."""

    code: str
    h_code: str
    name: str | None
    a_price: float | None = Field(description="CNY")
    h_price: float | None = Field(description="HKD")
    fx_rate: float | None = Field(description="CNY per HKD, as implied by both prices and the premium")
    premium_pct: float | None = Field(description="A over H")
    history: list[PremiumDay] = Field(
        description="[]: no documented source has the exchange rates of past dates"
    )


router = area_router(f"{PREFIX}/hk-finance", "Hong Kong")
premium_router = area_router(f"{PREFIX}/stocks", "stocks")

HkCode = Annotated[str, Path(pattern=r"^[0-9]{5}$", description="5-digit code", examples=["00700"])]
_NO_PAST = "no premium of a past date is stored: no documented source has their exchange rates"
Periods = Annotated[int, Query(ge=1, le=60, description="newest report periods")]


class Statement(StrEnum):
    """Which statement."""

    income = "income"
    balance = "balance"
    cashflow = "cashflow"


async def _reach(
    state: State, code: str, given: int, asked: int, statement: str | None = None
) -> dict[str, Any]:
    """How far back the stored report periods of a company reach."""
    first = state.reading.point(first_period, code, statement)
    return await reach_from(first, given, asked=asked, what="report periods")


@router.get("/{code}/indicators", response_model=HkIndicators)
async def indicators(call: Anyone, code: HkCode, periods: Periods = 8) -> Answer:
    """Key figures of a company in Hong Kong: stored ones, else those of the portal now."""
    reported = await call.state.part(HongKong).figures(code, periods)
    first = reported.value[0] if reported.value else {}
    items = [HkPeriod.model_validate(row) for row in reported.value]
    answer = {"code": code, "name": first.get("name"), "currency": first.get("currency"), "items": items}
    history = await _reach(call.state, code, len(items), periods)
    return Answer({**answer, "total": len(items), **history}, headers=reported.headers)


@router.get("/{code}/statements", response_model=HkStatement)
async def statements(
    call: Anyone,
    code: HkCode,
    statement: Annotated[Statement, Query(description="income, balance or cashflow")] = Statement.income,
    periods: Periods = 4,
) -> Answer:
    """Items of one statement by report period."""
    reported = await call.state.part(HongKong).statement(code, statement.value, periods)
    ends, items = reported.value
    answer = {"code": code, "statement": statement.value, "periods": ends, "items": items}
    history = await _reach(call.state, code, len(ends), periods, statement.value)
    return Answer({**answer, "total": len(items), **history}, headers=reported.headers)


@router.get("/{code}/dividend", response_model=HkDividends)
async def dividend(call: Anyone, code: HkCode) -> Answer:
    """Dividends of a company in Hong Kong, from the portal now."""
    answer = await call.state.part(HongKong).dividends(code)
    return Answer({"code": code, "items": answer.value, "total": len(answer.value)}, headers=answer.headers)


@router.get("/{code}/profile", response_model=HkProfile)
async def profile(call: Anyone, code: HkCode) -> Answer:
    """Profile of a company in Hong Kong, from the portal now. Text from outside: escape it."""
    answer = await call.state.part(HongKong).profile(code)
    found = answer.value[0] if answer.value else dict.fromkeys(PROFILE)
    return Answer({"code": code, "shares": None, **found}, headers=answer.headers)


@premium_router.get("/{code}/ah-premium", response_model=AhPremium | None)
@serves(top=[("as_of", str), *REACH])
async def ah_premium(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=1, le=750, description="trade dates of the history")] = 120,
) -> Answer:
    """Premium of the A share over the H share, now; null for a company that is listed once, and with
    `as_of`, since past values are not stored."""
    if as_of is not None:
        return Answer(None, top={"as_of": as_of.echo, "note": _NO_PAST})
    answer = await call.state.part(HongKong).premium(code)
    return Answer(answer.value, top={"note": _NO_PAST}, headers=answer.headers)
