"""Each dataset that reads columns of adjusted prices says which of its own are computed from them."""

import pytest

from core.declaration.columns import Code, Date, F, Model, col, key
from core.declaration.dataset import Dataset
from core.declaration.registry import Registry, builtin_registry
from core.errors import DeclarationError

TRADED_PRICES_ALONE = {
    "fund_flow", "industry_index", "kline_bar", "limit_count", "margin", "market_cloud_map", "market_phase",
    "news", "reconcile", "stock_profile",
}  # fmt: skip
"""They read other columns of these tables; a change of theirs is against the quoted reference price."""


def test_a_dataset_behind_adjusted_prices_declares_its_columns() -> None:
    registry = builtin_registry()
    silent = {
        dataset.name
        for dataset in registry.datasets.values()
        if dataset.model is not None and not dataset.adjusted and registry.adjusted.keys() & {*dataset.reads}
    }

    assert silent == TRADED_PRICES_ALONE


def test_declared_columns_exist() -> None:
    class Row(Model):
        code: Code = key("security code")
        date: Date = key("trade date")
        change: F = col("pct", "change over 5 sessions")

    one = Dataset(name="one", model=Row, adjusted=("change",))
    every = Dataset(name="every", model=Row, adjusted=True)
    adjusted = Registry([one, every]).adjusted
    assert adjusted == {"fusion_one": {"change"}, "fusion_every": {"code", "change"}}
    with pytest.raises(DeclarationError, match=r"one: adjusted=\['changes'\] are no columns of it"):
        Registry([Dataset(name="one", model=Row, adjusted=("changes",))])
