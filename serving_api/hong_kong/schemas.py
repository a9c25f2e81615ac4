"""Response models of Hong Kong."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import Rows, columns_of
from serving_api.hong_kong.service import FIGURES, TABLE


@columns_of(TABLE, f"report_period {FIGURES}")
class HkPeriod(BaseModel):
    """Amounts in the company's own currency, ratios in percent."""


class HkIndicators(Reach, Rows[HkPeriod]):
    """Annual and half-yearly, newest first."""

    code: str
    name: str | None
    currency: str | None


class HkItem(BaseModel):
    item: str
    values: list[float | None] = Field(description="one per period")


class HkStatement(Reach, Rows[HkItem]):
    code: str
    statement: str
    periods: list[str] = Field(description="newest first")


class HkDividend(BaseModel):
    ann_date: str | None
    ex_date: str | None
    dividend_ps: float | None = Field(description="as in the plan; null when the plan has another form")
    currency: str | None
    plan: str | None


class HkDividends(Rows[HkDividend]):
    """Newest ex-date first."""

    code: str


class HkProfile(BaseModel):
    """Null when the portal has no value, or does not answer."""

    code: str
    name: str | None
    full_name: str | None
    industry: str | None
    listing_date: str | None
    shares: int | None = Field(description="null: no documented source has it")
    website: str | None
    intro: str | None


class PremiumDay(BaseModel):
    date: str
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
