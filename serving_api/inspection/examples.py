"""Example values of required parameters, from the tables that the answer comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platform_assets.datasets._macro_series import CN_NAMES
from resources.warehouse.stored import stored
from serving_api.alt_sources import BY_KEY

MASTER = stored("fusion_stock_master")
TRIES = 80
"""Values to try before an answer counts as empty: in a sample market every stock."""


@dataclass(frozen=True)
class Column:
    """Distinct values of a column; `where` is a constant SQL condition."""

    table: str
    column: str
    where: str = ""


STOCKS = Column(MASTER, "code", "sec_type='stock'")
INDUSTRIES = Column("fusion_stock_industry", "sw_l1")
_BOARDS = Column("fusion_market_cloud_map", "node_code", "level='sector'")
_INDUSTRY_RATIOS = Column("raw_industry_valuation", "industry_code", "standard='csrc'")

Values = Column | Sequence[str]

ALIASES: Mapping[str, str] = {
    "index_code": "code",
    "industry_code": "code",
    "etf_code": "code",
    "codes": "code",
}
"""Required parameter of an interface -> the column with its values, when the name differs."""
OF_INTERFACES: Mapping[tuple[str, str], Values] = {
    ("get_ah_premium", "code"): Column("ref_ah_pair", "a_code"),
    ("get_sector_history", "industry_code"): _BOARDS,
    ("get_index_constituents", "index_code"): Column("raw_index_constituent", "index_code", "provider='csi'"),
    ("get_index_weights", "index_code"): Column(
        "raw_index_constituent", "index_code", "weight_pct IS NOT NULL"
    ),
    ("get_industry_members", "industry_code"): INDUSTRIES,
    ("get_etf_kline", "etf_code"): Column("fusion_kline_daily", "code", "sec_type='etf'"),
    ("get_industry_valuation_history", "industry_code"): _INDUSTRY_RATIOS,
    ("get_stock_search", "keyword"): ("6", "0"),
}
OF_PATHS: Mapping[tuple[str, str], Values] = {
    ("/convertible-bond/", "code"): Column("raw_convertible_bond", "code"),
    ("/reit/", "code"): Column("raw_reit", "code"),
    ("/hk-finance/", "code"): Column("raw_hk_finance", "code"),
    ("/fusion/index/indicator/", "code"): Column("fusion_index_daily", "code"),
    ("/fusion/fund/etf-kline/", "etf_code"): Column("raw_fund_etf", "code"),
    ("/index/weights/", "symbol"): Column("raw_index_constituent", "index_code", "weight_pct IS NOT NULL"),
    ("/index/constituents/", "symbol"): Column("raw_index_constituent", "index_code"),
    ("/index/valuation/", "symbol"): Column("raw_index_valuation", "index_code"),
    ("/industry/valuation/detail", "industry_code"): _INDUSTRY_RATIOS,
    ("/futures/", "symbol"): Column("raw_futures", "symbol"),
    ("/sectors/", "board_code"): _BOARDS,
    ("/datamgr/lineage/", "table"): (MASTER,),
    ("/datamgr/contracts/", "dataset"): ("kline_daily",),
    ("/research/datasets/", "name"): ("kline_daily",),
    ("/datamgr/batches/", "batch_id"): Column("sys_batch", "batch_id"),
    ("/datamgr/commands/", "command_id"): Column("sys_command", "id"),
    ("/datamgr/backfill/", "backfill_id"): Column("sys_backfill", "backfill_id"),
    ("/quant/strategies/", "key"): Column("calc_strategy_hit", "strategy_key"),
    ("/builtin-strategies/", "key"): ("dragon", "composite", "tactic"),
    ("/alt-sources/", "key"): tuple(BY_KEY),
    ("/fusion/macro/cn-extended/", "name"): tuple(CN_NAMES),
    ("/scorecard/record", "source"): ("builtin", "preset"),
    ("/scorecard/", "source"): ("builtin", "preset", "strategy"),
    ("/quant/pattern-performance", "pattern"): Column("calc_signal_hit", "signal_key"),
    ("/stocks/search", "keyword"): ("6", "0"),
    ("/datamgr/fusion/interfaces/search", "q"): ("daily bars",),
}
"""(part of a path, required parameter) -> its values; stocks when nothing matches."""


def of_path(path: str, name: str) -> Values:
    """The values of a required parameter of a route."""
    fits = [known for known in OF_PATHS if known[0] in path and known[1] == name]
    return OF_PATHS[max(fits, key=lambda known: len(known[0]))] if fits else STOCKS
