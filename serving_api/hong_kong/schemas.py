"""Response models of Hong Kong."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class HkPeriod(BaseModel):
    """Amounts in the company's own currency, ratios in percent."""

    report_period: str
    revenue: float | None
    revenue_yoy: float | None
    net_profit: float | None
    net_profit_yoy: float | None
    eps: float | None
    bvps: float | None
    roe: float | None
    gross_margin: float | None
    net_margin: float | None
    debt_ratio: float | None


class HkIndicators(Reach):
    code: str
    name: str | None
    currency: str | None
    items: list[HkPeriod] = Field(description="annual and half-yearly, newest first")
    total: int


class HkItem(BaseModel):
    item: str
    values: list[float | None] = Field(description="one per period")


class HkStatement(Reach):
    code: str
    statement: str
    periods: list[str] = Field(description="newest first")
    items: list[HkItem]
    total: int


class HkDividend(BaseModel):
    ann_date: str | None
    ex_date: str | None
    dividend_ps: float | None = Field(description="as in the plan; null when the plan has another form")
    currency: str | None
    plan: str | None


class HkDividends(BaseModel):
    code: str
    items: list[HkDividend] = Field(description="newest ex-date first")
    total: int


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
