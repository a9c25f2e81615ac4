"""Frames of stored slices: the same rows whichever way they are fetched."""

import pandas as pd

from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.warehouse.test_panel import DAYS, fill


def test_a_window_of_dates_has_every_row_of_every_code(warehouse: Warehouse) -> None:
    written = fill(warehouse)

    found = warehouse.frame(
        "fusion_bars", columns=("code", "date", "close", "volume"), where=Slice("date", DAYS[0], DAYS[1])
    )

    requested = written[written["date"] <= DAYS[1]].sort_values(["code", "date"])
    found = found.sort_values(["code", "date"])
    assert found["code"].tolist() == requested["code"].tolist()
    assert found["date"].tolist() == requested["date"].tolist()
    pd.testing.assert_series_equal(
        found["close"].reset_index(drop=True), requested["close"].astype(float).reset_index(drop=True)
    )
    assert str(found["volume"].dtype) == "Int64"


def test_an_empty_slice_keeps_the_types(warehouse: Warehouse) -> None:
    found = warehouse.frame("fusion_bars", where=Slice("date", "2020-01-01", "2020-02-01"))

    assert found.empty
    assert {str(found[name].dtype) for name in ("close", "volume", "halted")} == {
        "float64", "Int64", "boolean",
    }  # fmt: skip
