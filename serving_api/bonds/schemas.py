"""Response models of the bonds."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.bonds.queries import LEAVING, TABLE
from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import PageOf, Rows, columns_of


@columns_of(TABLE)
class BondRow(BaseModel):
    """A convertible bond on one trade date."""


class BondPage(Reach, PageOf[BondRow]):
    date: str | None


@columns_of(TABLE, LEAVING)
class LeavingBond(BaseModel):
    """A bond that may be called, or matures soon."""

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


@columns_of(TABLE, "date=trade_date premium_pct convert_value double_low")
class BondDay(BaseModel):
    """One trade date."""

    close: float | None


class BondHistory(Reach, Rows[BondDay]):
    """Oldest first."""

    code: str


class BondEvent(BaseModel):
    date: str | None
    type: str = Field(description="上市, 到期, 强赎 or 公告")
    title: str


class BondEvents(Rows[BondEvent]):
    """Newest first."""

    code: str
