"""The counts of the specification and of the data dictionary, over the registry alone. A dataset that
was added later is in none of them."""

from core.declaration.registry import Registry, builtin_registry
from core.declaration.tables import Layer
from resources.upstreams.probes import PROBES
from serving_api.interfaces.catalog import builtin_catalog
from tests.docs.pages import ROOT

NAMES = (
    "ah_pair announcement block_trade breadth_sample business_composition chip_daily code_change "
    "convertible_bond dividend dragon_score dragon_tiger eps_consensus exchange_overview "
    "executive_holding exright exright_item "
    "factor_score finance_indicator freshness_snapshot fund_etf fund_flow fund_holding futures hk_finance "
    "holder holding_org hot_stocks index_constituent index_daily index_valuation indicator_daily "
    "industry_index industry_rank industry_valuation kline kline_bar kline_daily limit_count limit_pool "
    "limitup_reason lockup macro_indicator macro_release margin market_cloud_map market_phase market_rule "
    "minute_kline name_history news news_flash northbound notes org_survey outside_market pattern_daily "
    "periodic_report quote_snapshot reconcile reit risk_comment risk_goodwill risk_pledge scorecard_daily "
    "share_capital signal_hit stock_industry stock_master stock_profile stock_wide strategy_hit "
    "top_holders track_builtin track_preset trade_calendar valuation valuation_band"
).split()
REGISTRY = Registry(builtin_registry().dataset(name) for name in NAMES)

IMPORTED = {table.name for one in REGISTRY.datasets.values() for table in one.import_tables}
"""Tables of the files that users import: no downloads, and beyond the counts of the specification."""


def test_downloaders_and_their_tables() -> None:
    by_code = set(REGISTRY.download_types)
    market = set(REGISTRY.topical)

    assert len(REGISTRY.raws) == 59
    raw = {table.name for table in REGISTRY.tables if table.layer is Layer.RAW}
    assert len(raw - IMPORTED) == 59
    # northbound is one of the 38 types, though it is of the market as a whole.
    assert len(by_code | {"northbound"}) == 38
    assert len(market - {"northbound"}) == 21
    assert not by_code & market


def test_loaders_and_fusions() -> None:
    assert len(REGISTRY.staged_series()) == 11
    assert len(REGISTRY.staged_dimensions()) == 3
    staged = {table.name for table in REGISTRY.tables if table.layer is Layer.STG}
    assert len(staged - IMPORTED) == 14
    assert len(REGISTRY.fused()) == 22
    assert {dataset.name for dataset in REGISTRY.fused() if not dataset.staged} == {
        "kline_daily", "kline_bar", "index_daily", "stock_wide", "market_cloud_map", "industry_index",
        "macro_indicator", "macro_release",
    }  # fmt: skip


def test_what_is_watched() -> None:
    assert len(REGISTRY.per_code()) == 26
    assert sum(name.startswith("aux_") for name in REGISTRY.raws) == 12  # the sections of f10
    kinds = [dimension.rule.kind for dimension in REGISTRY.freshness()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"trading": 35, "calendar": 14, "period": 3}
    assert len({dimension.table for dimension in REGISTRY.freshness()}) == 52
    # The six others of the fifty are records: notes, cards, logs, batches, quality.
    assert len(REGISTRY.monitored()) == 44
    assert len({probe.name for probe in PROBES}) == 18


def test_interfaces() -> None:
    entries = [entry for entry in builtin_catalog().entries() if entry["name"] in REGISTRY.interfaces]
    dimensions = [entry["dimension"] for entry in entries]

    assert len(REGISTRY.interfaces) == len(entries) == 180
    assert {one: dimensions.count(one) for one in set(dimensions)} == {
        "stock": 56,
        "timeseries": 45,
        "market": 79,
    }
    assert all(name.startswith("get_") for name in REGISTRY.interfaces)


def test_every_dataset_has_a_page() -> None:
    pages = {path.stem for path in (ROOT / "docs/datasets").glob("*.md")}

    assert set(builtin_registry().datasets) <= pages
