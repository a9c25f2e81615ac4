"""A warehouse with one fused, one raw and one reference table on each engine."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from core.clock import ManualClock
from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table
from resources.warehouse.warehouse import Warehouse
from tests.conftest import listens, require
from tests.databases import MARIADB_URL, own_mariadb

DAY = "2026-08-20"
BARS = Table(
    "fusion_bars",
    Layer.DWD,
    columns_from("code:code date:date close:px volume:big halted:bool note:s64"),
    ("code", "date"),
    date_column="date",
)
QUOTES = Table(
    "raw_quotes", Layer.RAW, columns_from("code:code date:date src:k32 price:px"), ("code", "date", "src"),
    date_column="date",
)  # fmt: skip
MEMBERS = Table("ref_members", Layer.REF, columns_from("block:s32 code:code"), ("block", "code"))


@pytest.fixture(params=["sqlite", "mariadb"])
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table on each engine, dropped afterwards."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
        return
    require("MariaDB", listens(MARIADB_URL), MARIADB_URL)
    with own_mariadb("test") as url:
        yield url


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 8, 20, 16, 0))


@pytest.fixture
def warehouse(warehouse_url: str, clock: ManualClock, tmp_path: Path) -> Iterator[Warehouse]:
    opened = Warehouse(
        warehouse_url, (BARS, QUOTES, MEMBERS), clock=clock, payload_folder=tmp_path / "payloads"
    )
    opened.migrate()
    yield opened
    opened.close()


def bars(day: str = DAY, **closes: float | None) -> pd.DataFrame:
    """Rows `c600001=10.0` -> code 600001 with that close."""
    return pd.DataFrame(
        [
            {"code": name[1:], "date": day, "close": close, "volume": 100, "halted": False, "src": "tdx"}
            for name, close in closes.items()
        ]
    )
