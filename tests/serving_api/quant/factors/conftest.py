"""The app over wide rows of a made-up market of eighty stocks on two dates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock, ManualClock
from core.declaration.registry import builtin_registry
from platform_assets.compute.factors.definitions import INPUT_COLUMNS
from platform_assets.compute.factors.presets import PRESETS
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.compute.fulfilled import plant
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST, Bench, Ticks, make_settings, without_upstreams

TODAY = market.TODAY
YESTERDAY = "2026-08-20"
SIZE = 80
_FULFILLED = 40
"""The first of fourteen stocks of which each fulfils one preset."""
SUSPENDED, ST, LOSS, BANK = "000003", "000004", "000005", "000010"
_COUNTS = ("limit_up_count_20d", "limit_days_today", "break_fail_days_5d")
_WHOLE = {"amount": 1e8, "main_net": 1e6, "float_market_cap": 1e6, "total_market_cap": 2e6}


def wide(day: str, seed: int) -> pd.DataFrame:
    """Wide rows of a date with gaps and ties; one stock suspended, one under special treatment."""
    chance = np.random.default_rng(seed)
    rows = pd.DataFrame({"code": [f"{at:06d}" for at in range(SIZE)], "trade_date": day, "src": "derived"})
    rows["name"] = [f"股票{at}" for at in range(SIZE)]
    rows["market"] = ["SH" if at % 2 else "SZ" for at in range(SIZE)]
    rows["industry"] = [("银行", "半导体", "白酒", None)[at % 4] for at in range(SIZE)]
    rows["current_price"] = 10.0 + np.arange(SIZE)
    for column in INPUT_COLUMNS:
        values = np.round(chance.normal(10, 30, SIZE), 2) * _WHOLE.get(column, 1.0)
        if column in ("total_market_cap", "float_market_cap", "amount"):
            values = np.abs(values) + 1
        rows[column] = np.where(chance.random(SIZE) < 0.08, np.nan, values)
    for column in _COUNTS:
        rows[column] = (chance.random(SIZE) < 0.1).astype(float)
    rows["roe"] = np.abs(rows["roe"])
    rows["debt_ratio"] = 40.0
    rows["report_period"] = "2026-06-30"
    rows["is_st"] = rows["code"] == ST
    rows["is_suspended"] = rows["code"] == SUSPENDED
    rows.loc[rows["code"] == LOSS, "roe"] = -3.0
    for at, preset in enumerate(PRESETS, start=_FULFILLED):
        plant(rows, at, preset)
    return rows


def put(warehouse: Warehouse, table: str, rows: pd.DataFrame, date: str, public: bool = True) -> None:
    """Write the rows of a table, date by date, public at the close of each."""
    for day, part in rows.groupby(date):
        warehouse.writer.write(
            warehouse.table(table),
            part,
            where=Slice.of_date(date, str(day)),
            batch=Batch(partition_key=str(day)),
            public_at=[f"{day} 15:00:00.000000" if public else None] * len(part),
        )


def bars(size: int = 30, days: int = 330) -> pd.DataFrame:
    """Bars of the first stocks until today, walking at random."""
    dates = shipped_calendar().last(days, TODAY)
    chance = np.random.default_rng(7)
    close = np.round(20 * np.exp(np.cumsum(chance.normal(0, 0.02, (days, size)), axis=0)), 2)
    cells = [(day, code) for day in dates for code in (f"{at:06d}" for at in range(size))]
    rows = pd.DataFrame(cells, columns=["date", "code"])
    rows["close"] = close.ravel()
    rows["open"], rows["high"], rows["low"] = rows["close"], rows["close"] + 0.5, rows["close"] - 0.5
    rows["volume"] = chance.integers(1000, 9000, len(rows))
    rows["amount"] = rows["close"] * rows["volume"]
    rows["amplitude_pct"] = 100 / rows["close"]
    rows["turnover_pct"] = chance.random(len(rows))
    rows["sec_type"] = "stock"
    rows["limit_status"], rows["is_suspended"], rows["adj_factor"], rows["src"] = "none", False, 1.0, "tdx"
    return rows


@pytest.fixture(scope="package", params=SQLITE_OFTEN)
def screens(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The app over the market; `extra["rows"]` are the wide rows of today."""
    folder = tmp_path_factory.mktemp("factors")
    if request.param == "sqlite":
        yield from opened(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder)
        return
    for url in mariadb_database("tests.serving_api.quant.factors"):
        yield from opened(url, folder)


def opened(url: str, folder: Path) -> Iterator[Bench]:
    tables = builtin_registry().tables
    clock = ManualClock(market.NOW)
    warehouse = market.open_warehouse(url, folder, clock=clock, tables=tables)
    warehouse.migrate()
    rows = wide(TODAY, 1)
    put(warehouse, "fusion_stock_wide", pd.concat([wide(YESTERDAY, 2), rows]), "trade_date")
    history = bars()
    warehouse.writer.write(
        warehouse.table("fusion_kline_daily"),
        history,
        where=Slice.of_codes(sorted(set(history["code"]))),
        batch=Batch(partition_key="test"),
        public_at=[f"{day} 15:00:00.000000" for day in history["date"]],
    )
    reports(warehouse)
    ticks = Ticks()
    app = create_app(
        make_settings(folder),
        clock=FrozenClock(market.NOW),
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=market.open_warehouse(url, folder, tables=tables, read_only=True),
        warehouse_writer=market.open_warehouse(url, folder, tables=tables, pool={"wait_s": 0.2}),
        passwords=FAST,
    )
    with running(without_upstreams(app)) as api:
        yield Bench(api, ticks, url, folder, {"rows": rows, "warehouse": warehouse})
    warehouse.close()


def reports(warehouse: Warehouse) -> None:
    """A report of every stock that is published in the middle of the bars."""
    rows = pd.DataFrame(
        {
            "code": [f"{at:06d}" for at in range(30)],
            "report_period": "2026-03-31",
            "ann_date": "2026-04-28",
            "roe": np.arange(30.0),
            "src": "eastmoney",
        }
    )
    put(warehouse, "fusion_finance_indicator", rows, "report_period", public=False)


def reported(bench: Bench, path: str, **params: Any) -> Any:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def screen(bench: Bench, **body: Any) -> Any:
    answer = bench.api.post("/factor/screen", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()
