"""A fusion of some codes writes tables of stocks alone."""

from core.declaration.registry import builtin_registry
from platform_assets.definitions.jobs import OF_CODES, build_jobs


def test_a_fusion_of_codes_leaves_tables_of_the_market_alone() -> None:
    registry = builtin_registry()
    job = build_jobs(registry)[OF_CODES]
    tables = {part for key in str(job.selection).replace('"', " ").split() for part in key.split("/")}

    assert {"raw_quote", "fusion_kline_daily", "fusion_valuation", "fusion_stock_wide"} <= tables
    whole = {one.table_name for one in registry.datasets.values() if one.model and not one.of_stocks}
    assert whole
    assert not whole & tables
