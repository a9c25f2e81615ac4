"""Growth that is reported with the amounts of the year before, after a profit and after a loss."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from platform_assets.datasets._finance_rules import growth_follows_the_year_before


@pytest.mark.parametrize(
    ("before", "now", "reported", "fine"),
    [
        (100e6, 110e6, 10.0, True),
        (100e6, 24e6, -3.5, False),
        (-86.4e6, -59.9e6, 30.7, True),  # by the amount of the loss
        (-86.4e6, -59.9e6, -30.7, True),  # by the loss itself
        (-86.4e6, 24.05e6, 127.8, True),
        (-86.4e6, 24.05e6, -3.54, False),  # the figures of another company
        (0.0, 24.05e6, -3.54, True),
    ],
)
def test_growth_is_that_of_the_amounts(before: float, now: float, reported: float, fine: bool) -> None:
    one = {"code": "600001", "revenue": 300e6, "revenue_yoy": 0.0, "net_profit_yoy": reported}
    rows = pd.DataFrame([{**one, "report_period": "2026-06-30", "net_profit": now}])
    stored = pd.DataFrame([{**one, "report_period": "2025-06-30", "net_profit": before}])[
        ["code", "report_period", "revenue", "net_profit"]
    ]
    context: Any = SimpleNamespace(read=lambda *_names, **_how: stored, scope=SimpleNamespace(codes=None))

    assert growth_follows_the_year_before(rows, context).tolist() == [fine]
