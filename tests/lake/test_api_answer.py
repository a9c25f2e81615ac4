"""A filter on validity in another engine is the platform's `as_of`: random tables, keys and instants against
the answers of the API."""

import random
from datetime import datetime, timedelta
from typing import Any

import duckdb
from deltalake import DeltaTable

from core.clock import ManualClock
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from tests.serving_api.conftest import Bench
from tests.serving_api.conftest import own as own  # noqa: PLC0414
from tests.serving_api.market import INDUSTRY, KLINE, VALUATION, bar, open_warehouse, put

CODES = ("600519", "000001", "601398")
DAYS = ("2026-08-18", "2026-08-19", "2026-08-20")
BEGAN, ENDED = datetime(2026, 8, 18, 15, 30), datetime(2026, 8, 21, 15, 0)
TABLES = (KLINE, VALUATION, INDUSTRY)


def publish_a_history(bench: Bench, chance: random.Random) -> Lake:
    """Rows of three tables that were corrected again and again, some on the day of their date."""
    clock = ManualClock(BEGAN)
    warehouse = open_warehouse(bench.url, bench.folder, clock=clock)
    warehouse.migrate()
    while clock.at < ENDED:
        today = clock.at.date().isoformat()
        code, day = chance.choice(CODES), chance.choice([day for day in DAYS if day <= today])
        match chance.choice(TABLES):
            case table if table is KLINE:
                put(warehouse, KLINE, [bar(code, day, float(chance.randint(5, 9)))])
            case table if table is VALUATION:
                put(
                    warehouse, VALUATION, [{"code": code, "date": day, "pe_ttm": float(chance.randint(5, 9))}]
                )
            case table:
                put(warehouse, table, [{"code": code, "industry": chance.choice(("银行", "白酒"))}])
        clock.advance(timedelta(minutes=chance.randint(1, 90)))
    lake = Lake(bench.folder / "lake")
    for table in TABLES:
        Publisher(warehouse, lake).publish(table)
    warehouse.close()
    return lake


def of_api(bench: Bench, headers: dict[str, str], table: str, code: str, instant: str) -> Any:
    """What the API answers as of an instant."""
    asked = {"as_of": instant}
    if table == KLINE.name:
        body = bench.api.get(f"/stocks/{code}/kline", params={**asked, "days": 30}).json()
        return [(row["date"], row["close"]) for row in body["results"]]
    part = "valuation" if table == VALUATION.name else "industry"
    answer = bench.api.get(f"/datamgr/fusion/stock/{code}/{part}", params=asked, headers=headers)
    if answer.status_code == 404:
        return []
    found = answer.json()["results"]
    if table == VALUATION.name:
        return sorted((row["date"], row["pe_ttm"]) for row in found["snapshots"])
    return [(found["industry"],)]


def of_engine(lake: Lake, table: str, code: str, instant: str) -> Any:
    """What DuckDB makes of the published table."""
    rows = DeltaTable(lake.address(table)).to_pyarrow_dataset()
    columns = {
        KLINE.name: "CAST(date AS VARCHAR), close",
        VALUATION.name: "CAST(date AS VARCHAR), pe_ttm",
        INDUSTRY.name: "industry",
    }[table]
    return (
        duckdb.connect()
        .register("rows", rows)
        .execute(
            f"SELECT {columns} FROM rows WHERE code = ? AND valid_from <= CAST(? AS TIMESTAMP) "
            "AND CAST(? AS TIMESTAMP) < valid_to ORDER BY 1",
            [code, instant, instant],
        )
        .fetchall()
    )


def test_random_instants(own: Bench) -> None:
    chance = random.Random(20)
    lake = publish_a_history(own, chance)
    headers = own.admin()
    seen: set[str] = set()
    for _ in range(60):
        table, code = chance.choice(TABLES).name, chance.choice(CODES)
        moment = BEGAN + (ENDED - BEGAN) * chance.random()
        instant = moment.isoformat(timespec="seconds")
        answer = of_api(own, headers, table, code, instant)
        assert of_engine(lake, table, code, instant) == answer, (table, code, instant)
        seen.add(str((table, code, answer)))
    assert len(seen) > 20
