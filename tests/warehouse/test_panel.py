"""Dense windows: equal to the rows, exact to the bit, on both engines."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from resources.warehouse.batch_records import Batch
from resources.warehouse.panel import read_panel
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from tests.warehouse.conftest import BARS, DAY

DAYS = ("2026-08-18", "2026-08-19", DAY)


def fill(warehouse: Warehouse) -> pd.DataFrame:
    """Three dates of four codes; one code misses a day, one has a null, one is listed last."""
    chance = np.random.default_rng(7)
    rows = [
        {
            "code": code,
            "date": day,
            "close": round(float(chance.random()) * 1e6, 4),
            "volume": 7,
            "src": "tdx",
        }
        for code in ("000001", "600001", "600002", "HK0001")
        for day in DAYS
        if (code, day) != ("600001", DAYS[1]) and (code != "HK0001" or day == DAYS[2])
    ]
    rows[1]["close"] = None
    frame = pd.DataFrame(rows)
    for day, part in frame.groupby("date"):
        warehouse.writer.write(
            BARS, part, where=Slice.of_date("date", str(day)), batch=Batch(partition_key=str(day))
        )
    return frame


def test_every_value_is_at_its_place_and_exact(warehouse: Warehouse) -> None:
    frame = fill(warehouse)

    panel = read_panel(warehouse, "fusion_bars", ("close", "volume"), since=DAYS[0], until=DAYS[-1])

    assert panel.codes == ("000001", "600001", "600002", "HK0001")
    assert panel.dates == DAYS
    wide = frame.pivot(index="code", columns="date", values="close").astype(float)
    np.testing.assert_array_equal(panel["close"], wide.to_numpy())
    assert np.isnan(panel["volume"]).sum() == 3


def test_the_window_cuts_dates_and_codes(warehouse: Warehouse) -> None:
    fill(warehouse)

    panel = read_panel(warehouse, "fusion_bars", ("close",), since=DAYS[1], until=DAYS[1])
    nothing = read_panel(warehouse, "fusion_bars", ("close",), since="2020-01-01", until="2020-02-01")

    assert (panel.codes, panel.dates) == (("000001", "600002"), (DAYS[1],))
    assert (nothing.codes, nothing.dates, nothing["close"].shape) == ((), (), (0, 0))


def test_only_numbers_of_a_series_make_a_panel(warehouse: Warehouse) -> None:
    with pytest.raises(InputError, match="holds no numbers"):
        read_panel(warehouse, "fusion_bars", ("note",), since=DAY, until=DAY)
    with pytest.raises(InputError, match="no series"):
        read_panel(warehouse, "ref_members", ("code",), since=DAY, until=DAY)


def test_the_read_walks_the_clustered_key(tmp_path: Path) -> None:
    """The date index would cost a lookup per row."""
    import sqlite3

    from core.clock import FrozenClock
    from resources.warehouse.warehouse import Warehouse as Opened

    opened = Opened(
        f"sqlite:///{tmp_path / 'w.sqlite3'}", (BARS,), clock=FrozenClock(datetime(2026, 8, 20, 16)),
        payload_folder=tmp_path,
    )  # fmt: skip
    opened.migrate()
    seen: list[str] = []
    with opened.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        raw.set_trace_callback(seen.append)
    fill(opened)
    seen.clear()
    read_panel(opened, "fusion_bars", ("close",), since=DAYS[0], until=DAY)
    statement = next(text for text in seen if "julianday" in text)
    plan = opened.query(f"EXPLAIN QUERY PLAN {statement}")
    opened.close()

    assert [row[3] for row in plan] == ["SEARCH fusion_bars USING PRIMARY KEY (code=? AND date>? AND date<?)"]
