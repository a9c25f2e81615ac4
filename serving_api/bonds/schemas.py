"""Response models of the bonds."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.bonds.queries import TABLE
from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import row_model

BondRow = row_model(TABLE)


class BondPage(Reach):
    items: list[BondRow]  # type: ignore[valid-type]
    total: int = Field(description="rows of all pages")
    page: int
    page_size: int
    date: str | None


class LeavingBond(BaseModel):
    code: str
    name: str | None
    price: float | None
    premium_pct: float | None
    stock_price: float | None
    force_redeem_price: float | None
    maturity_date: str | None
    reason: str


class BondOverview(BaseModel):
    """Figures of the newest stored date."""

    date: str | None
    count: int
    median_price: float | None
    median_premium_pct: float | None
    amount_yi: float | None = Field(description="turnover of all bonds, 100m CNY")
    up: int
    down: int
    redeem_soon: list[LeavingBond] = Field(
        description="the stock is above the trigger of a call, or the bond matures within 180 days"
    )
    low_price_count: int = Field(description="bonds below 100 CNY")


class BondStock(BaseModel):
    code: str | None
    name: str | None
    price: float | None
    change_pct: float | None


class Bond(BaseModel):
    """{} for an unknown code."""

    code: str | None = None
    info: dict[str, Any] | None = Field(default=None, description="terms")
    latest: dict[str, Any] | None = Field(default=None, description="the newest row")
    stock: BondStock | None = None


class BondDay(BaseModel):
    date: str
    close: float | None
    premium_pct: float | None
    convert_value: float | None
    double_low: float | None


class BondHistory(Reach):
    code: str
    items: list[BondDay] = Field(description="oldest first")
    total: int


class BondEvent(BaseModel):
    date: str | None
    type: str = Field(description="上市, 到期, 强赎 or 公告")
    title: str


class BondEvents(BaseModel):
    code: str
    items: list[BondEvent] = Field(description="newest first")
    total: int
