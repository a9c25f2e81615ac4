"""Markets outside the mainland: one call of either site, the same figures from both."""

from typing import Any

import pytest

NAMES = {"spx", "hsi", "dxy", "usdcnh", "oil", "gold"}


def rows_of(house: Any) -> Any:
    return house.warehouse.frame("ref_outside_market").set_index("series").sort_index()


def test_every_series_is_stored_with_its_change(house: Any) -> None:
    house.fuse("outside_market")
    rows = rows_of(house)
    assert set(rows.index) == NAMES
    assert set(rows["src"]) == {"eastmoney"}
    expected = (rows["price"].astype(float) / rows["last_close"].astype(float) - 1) * 100
    assert rows["change_pct"].astype(float).tolist() == pytest.approx(expected.tolist(), abs=1e-3)
    assert (rows["quote_time"].astype(str).str[:10] == rows["date"].astype(str)).all()


def test_the_second_site_tells_the_same_while_the_portal_is_away(house: Any) -> None:
    house.fuse("outside_market")
    first = rows_of(house)
    rule = {"upstream": "eastmoney", "call": "ulist", "kind": "garbage", "args": {}, "count": 0}
    house.faults.replace([rule])
    house.fresh()
    told = house.run.desk.sina.outside().set_index("series").sort_index()
    assert house.fuse("outside_market").results[0].rows_rejected == 0
    for column in ("price", "last_close", "high", "low"):
        assert told[column].tolist() == pytest.approx(first[column].astype(float).tolist(), abs=1e-3), column
    assert told["quote_time"].tolist() == first["quote_time"].astype(str).str[:19].tolist()
