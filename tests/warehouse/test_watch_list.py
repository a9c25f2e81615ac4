"""The watch list of an installation, on both engines."""

from datetime import datetime

from resources.warehouse.ledger.watch_list import WatchList, universe_of
from resources.warehouse.warehouse import Warehouse

NOW = datetime(2026, 8, 21, 20, 0)


def test_securities_keep_their_order_and_where_they_are_loaded_to(warehouse: Warehouse) -> None:
    watch = WatchList(warehouse.engine)
    assert universe_of(warehouse.engine) is None

    watch.add(["600519", "sh000300", "000001"], "2016-01-04", by="admin", now=NOW)
    watch.loaded(["600519", "sh000300"], "2026-08-21", now=NOW)

    assert [(one.code, one.loaded_until, one.is_index) for one in watch.all()] == [
        ("600519", "2026-08-21", False),
        ("sh000300", "2026-08-21", True),
        ("000001", None, False),
    ]
    assert universe_of(warehouse.engine) == {"600519", "000001"}
    assert watch.new(["600519", "300750"], "2016-01-04") == ["300750"]
    assert watch.new(["600519"], "2010-01-04") == ["600519"]


def test_one_that_is_added_again_is_loaded_again_from_the_earlier_day(warehouse: Warehouse) -> None:
    watch = WatchList(warehouse.engine)
    watch.add(["600519"], "2016-01-04", by="admin", now=NOW)
    watch.loaded(["600519"], "2026-08-21", now=NOW)

    watch.add(["600519"], "2020-01-02", by="admin", now=NOW)
    (one,) = watch.all()
    assert (one.since, one.loaded_until) == ("2016-01-04", None)

    watch.remove(["600519"])
    assert watch.all() == []
    assert universe_of(warehouse.engine) is None
