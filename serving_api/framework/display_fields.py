"""The 18 display fields of a stock in a ranking: their columns, and the shape of a row."""

from pydantic import BaseModel, Field

COLUMNS = {
    "code": "code",
    "name": "name",
    "industry": "industry",
    "market": "market",
    "price": "current_price",
    "change_pct": "change_pct",
    "turnover_pct": "turnover_pct",
    "volume_ratio": "volume_ratio",
    "pe_ttm": "pe_ttm",
    "pb": "pb",
    "total_market_cap": "total_market_cap",
    "float_market_cap": "float_market_cap",
    "vol_accel_5_5": "vol_accel_5_5",
    "limit_up_count_20d": "limit_up_count_20d",
    "limit_days_today": "limit_days_today",
    "zt_stat_latest": "zt_stat_latest",
    "seal_fund_latest": "seal_fund_latest",
    "break_fail_days_5d": "break_fail_days_5d",
}
"""Field -> column of the wide table."""
TEXTS = frozenset({"code", "name", "industry", "market", "zt_stat_latest"})
NUMBERS = tuple(name for name in COLUMNS if name not in TEXTS)


class Display18(BaseModel):
    """The display fields as they are stored."""

    code: str
    name: str | None
    industry: str | None
    market: str | None
    price: float | None = Field(description="CNY")
    change_pct: float | None
    turnover_pct: float | None
    volume_ratio: float | None
    pe_ttm: float | None
    pb: float | None
    total_market_cap: float | None = Field(description="10k CNY")
    float_market_cap: float | None = Field(description="10k CNY")
    vol_accel_5_5: float | None
    limit_up_count_20d: int | None
    limit_days_today: int | None
    zt_stat_latest: str | None
    seal_fund_latest: float | None = Field(description="CNY")
    break_fail_days_5d: int | None
