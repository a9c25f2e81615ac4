"""Markets outside the mainland: one call of either site, the same figures from both."""

from datetime import datetime
from typing import Any

import pytest

from core.errors import QualityError
from tests.pipeline.conftest import TODAY

NAMES = {"spx", "hsi", "dxy", "usdcnh", "oil", "gold"}


def rows_of(services: Any) -> Any:
    return services.warehouse.frame("ref_outside_market").set_index("series").sort_index()


def test_every_series_is_stored_with_its_change(services: Any) -> None:
    services.fuse("outside_market")
    rows = rows_of(services)
    assert set(rows.index) == NAMES
    assert set(rows["src"]) == {"eastmoney"}
    expected = (rows["price"].astype(float) / rows["last_close"].astype(float) - 1) * 100
    assert rows["change_pct"].astype(float).tolist() == pytest.approx(expected.tolist(), abs=1e-3)
    assert (rows["quote_time"].astype(str).str[:10] == rows["date"].astype(str)).all()


def test_the_second_site_tells_the_same_while_the_portal_is_away(services: Any) -> None:
    services.fuse("outside_market")
    first = rows_of(services)
    rule = {"upstream": "eastmoney", "call": "ulist", "kind": "garbage", "args": {}, "count": 0}
    services.faults.replace([rule])
    services.fresh()
    reported = services.run.ctx.sina.outside().set_index("series").sort_index()
    assert services.fuse("outside_market").results[0].rows_rejected == 0
    for column in ("price", "last_close", "high", "low"):
        assert reported[column].tolist() == pytest.approx(first[column].astype(float).tolist(), abs=1e-3), (
            column
        )
    assert reported["quote_time"].tolist() == first["quote_time"].astype(str).str[:19].tolist()


def test_another_unit_of_a_whole_series_is_not_stored(services: Any) -> None:
    services.fuse("outside_market")
    before = rows_of(services)
    services.at("2026-08-24")
    services.faults.replace([{"upstream": "eastmoney", "call": "ulist", "kind": "prices_x100", "args": {}}])
    with pytest.raises(QualityError, match="no row is left for 2026-08-24"):
        services.fuse("outside_market", "2026-08-24")

    assert rows_of(services)["price"].to_dict() == before["price"].to_dict()
    services.faults.clear()
    services.fresh()
    services.fuse("outside_market", "2026-08-24")
    assert len(rows_of(services)) > len(before)


def test_an_older_quote_of_the_same_day_changes_nothing(services: Any) -> None:
    services.clock.at = datetime.fromisoformat(f"{TODAY}T20:00")
    services.fresh()
    services.fuse("outside_market")
    newest = rows_of(services)
    services.clock.at = datetime.fromisoformat(f"{TODAY}T11:00")
    services.fresh()
    reported = services.run.ctx.eastmoney.outside().set_index("series")["quote_time"]
    services.fuse("outside_market")

    older = [one for one in reported.index if reported[one][:19] < str(newest.loc[one, "quote_time"])[:19]
             and reported[one][:10] == str(newest.loc[one, "date"])]  # fmt: skip
    assert older
    stored = services.warehouse.frame("ref_outside_market").set_index(["series", "date"])
    for one in older:
        row = stored.loc[(one, newest.loc[one, "date"])]
        assert (row["price"], row["quote_time"]) == (newest.loc[one, "price"], newest.loc[one, "quote_time"])
