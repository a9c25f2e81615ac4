"""The rows that a query looks at, from stored ones."""

from typing import Any

import numpy as np

from platform_assets.compute.dsl.evaluate import select
from platform_assets.compute.dsl.natural import translated
from platform_assets.compute.dsl.parser import parse
from serving_api.quant.screener.market import market_of

ROWS = {
    "code": ("000001", "000002", "000003", "000004", "000005"),
    "trade_date": ("2026-08-21",) * 5,
    "name": ("平安银行", "*ST甲", "ST乙", "丙", None),
    "is_st": (None, None, 0, 1, None),
    "pe_ttm": (5.0, -3.0, 0.0, 30.0, None),
    "pb": (0.6, -0.2, 1.2, 2.0, 1.0),
}


class Rows:
    """A session that knows the display rows alone."""

    class Declared:
        has_history = True
        date_column = "trade_date"

    def has(self, table: str) -> bool:
        return table == "fusion_stock_wide"

    def table(self, _name: str) -> Any:
        return self.Declared

    def columns(self, _table: str, requested: list[str]) -> list[str]:
        return [name for name in requested if name in ROWS]

    def rows(self, _table: str, *_of: Any, columns: list[str], **_how: Any) -> list[tuple[Any, ...]]:
        return list(zip(*(ROWS[name] for name in columns), strict=True))


def test_before_the_history_of_names_the_current_name_counts() -> None:
    session: Any = Rows()
    market = market_of(session, "2026-08-21", None)
    assert market is not None

    def codes(text: str) -> list[str]:
        return [str(market.table.codes[at]) for at in select(parse(text), market.table, {}).rows]

    assert codes("not st") == ["000001", "000003"]
    assert codes("st") == ["000002", "000004"]
    assert codes("st is null") == ["000005"]
    assert np.isnan(market.table.numbers("st")[4])


def test_a_loss_has_no_valuation() -> None:
    session: Any = Rows()
    market = market_of(session, "2026-08-21", None)
    assert market is not None

    def codes(text: str) -> list[str]:
        return [str(market.table.codes[at]) for at in select(parse(text), market.table, {}).rows]

    assert codes("pe_ttm < 20") == ["000001"]
    assert codes(translated("市盈率小于20").query) == ["000001"]
    assert codes("pb < 1") == ["000001"]
    assert codes("not pe_ttm < 20") == ["000004"]
    assert codes("pe_ttm is null") == ["000002", "000003", "000005"]
    # The row itself is shown as it is stored.
    assert market.row(1)["pe_ttm"] == -3.0
