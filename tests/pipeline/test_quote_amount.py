"""Amounts of closing quotes: the portal's to the fen, where it is of the same stock and moment."""

import pandas as pd
import pytest

from core.declaration.registry import builtin_registry
from platform_assets.pipeline.fusion_rules import fuse

KEY = {"code": "600011", "trade_date": "2021-06-11"}


@pytest.mark.parametrize(
    ("portal", "kept"),
    [
        (153_310_832.41, 153_310_832.41),
        (7_513_797_036.43, 153_310_832.0),
        (None, 153_310_832.0),
    ],
)
def test_another_stocks_amount_never_stands_beside_an_honest_price(portal: float | None, kept: float) -> None:
    dataset = builtin_registry().dataset("quote_snapshot")
    rows = pd.DataFrame(
        [
            {**KEY, "src": "tencent", "price": 4.16, "volume": 36_918_500, "amount": 153_310_832.0},
            {**KEY, "src": "eastmoney", "price": 2178.81, "volume": 3_397_000, "amount": portal},
        ]
    )
    (fused,) = fuse(rows, dataset.key, dataset.order, dataset.fuse).frame.to_dict("records")
    assert (fused["price"], fused["volume"], fused["amount"]) == (4.16, 36_918_500, kept)
