"""A warehouse with a fused series, a calculated series, events by time and a dimension, and its lake."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from core.clock import ManualClock
from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table
from resources.lake.location import Lake
from resources.warehouse.warehouse import Warehouse
from tests.warehouse.conftest import warehouse_url as warehouse_url  # noqa: PLC0414

BARS = Table(
    "fusion_bars",
    Layer.DWD,
    columns_from("code:code date:date close:px:CNY volume:big:shares halted:bool note:s64"),
    ("code", "date"),
    date_column="date",
    description="bars",
)
HITS = Table(
    "calc_hits", Layer.CALC, columns_from("trade_date:date code:code score:f"), ("trade_date", "code"),
    date_column="trade_date",
)  # fmt: skip
NEWS = Table(
    "fusion_press", Layer.DWD, columns_from("code:code title_key:k64 pub_time:dt title:text"),
    ("code", "title_key"), date_column="pub_time",
)  # fmt: skip
MASTER = Table("fusion_master", Layer.DWD, columns_from("code:code name:s64"), ("code",))
TABLES = (BARS, HITS, NEWS, MASTER)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 8, 20, 16, 0))


@pytest.fixture
def warehouse(warehouse_url: str, clock: ManualClock, tmp_path: Path) -> Iterator[Warehouse]:
    opened = Warehouse(warehouse_url, TABLES, clock=clock, payload_folder=tmp_path / "payloads")
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")
