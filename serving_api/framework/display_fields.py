"""The 18 display fields of a stock in a ranking: their columns, and the shape of a row."""

from pydantic import BaseModel

from core.records import columns_by_key
from serving_api.framework.row_models import columns_of

_FIELDS = (
    "code name industry market price=current_price change_pct turnover_pct volume_ratio pe_ttm pb "
    "total_market_cap float_market_cap vol_accel_5_5 limit_up_count_20d limit_days_today zt_stat_latest "
    "seal_fund_latest break_fail_days_5d"
)
COLUMNS = columns_by_key(_FIELDS)
"""Field -> column of the wide table."""
TEXTS = frozenset({"code", "name", "industry", "market", "zt_stat_latest"})
NUMBERS = tuple(name for name in COLUMNS if name not in TEXTS)


@columns_of("fusion_stock_wide", _FIELDS)
class Display18(BaseModel):
    """The display fields as they are stored."""
