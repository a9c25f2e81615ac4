"""The 18 display fields of a stock in a ranking: their columns, and the shape of a row."""

from pydantic import BaseModel, Field

from serving_api.framework.row_models import columns_of

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


@columns_of(
    "fusion_stock_wide",
    "code name industry market change_pct turnover_pct volume_ratio pe_ttm pb vol_accel_5_5 "
    "limit_up_count_20d limit_days_today zt_stat_latest break_fail_days_5d",
)
class Display18(BaseModel):
    """The display fields as they are stored."""

    price: float | None = Field(description="CNY")
    total_market_cap: float | None = Field(description="10k CNY")
    float_market_cap: float | None = Field(description="10k CNY")
    seal_fund_latest: float | None = Field(description="CNY")
