"""The 18 display fields of a stock in a ranking: their columns, and the shape of a row."""

from pydantic import BaseModel

from platform_assets.datasets.stock_wide import StockWide
from serving_api.framework.row_models import with_columns

_FIELDS = (
    StockWide.code, StockWide.name, StockWide.industry, StockWide.market,
    StockWide.current_price.label("price"), StockWide.change_pct, StockWide.turnover_pct,
    StockWide.volume_ratio, StockWide.pe_ttm, StockWide.pb, StockWide.total_market_cap,
    StockWide.float_market_cap, StockWide.vol_accel_5_5, StockWide.limit_up_count_20d,
    StockWide.limit_days_today, StockWide.zt_stat_latest, StockWide.seal_fund_latest,
    StockWide.break_fail_days_5d,
)  # fmt: skip
COLUMNS = {column.key: str(column) for column in _FIELDS}
"""Field -> column of the wide table."""
TEXTS = frozenset({"code", "name", "industry", "market", "zt_stat_latest"})
NUMBERS = tuple(name for name in COLUMNS if name not in TEXTS)


@with_columns(*_FIELDS)
class Display18(BaseModel):
    """The display fields as they are stored."""
