"""Contracts of a day, bars of a contract or product, and the basis, read on both engines."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from core.clock import FrozenClock, ManualClock
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST, Bench, Ticks, make_settings, without_upstreams

DAYS = ("2026-08-19", "2026-08-20")


def row(symbol: str, day: str, close: float, **more: Any) -> dict[str, Any]:
    product, exchange = symbol.rstrip("0123456789"), "CFFEX" if symbol.startswith("I") else "SHFE"
    reported = {"symbol": symbol, "date": day, "product": product, "exchange": exchange, "close": close}
    held = {"settle": close, "prev_settle": 100.0, "volume_contracts": 9, "open_interest": 5, "is_main": True}
    return {**reported, **held, "name": f"名{symbol}", "src": exchange.lower(), **more}


@pytest.fixture(scope="module")
def bench(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    from core.declaration.registry import builtin_registry

    folder = tmp_path_factory.mktemp("data")
    tables = builtin_registry().tables
    clock = ManualClock(market.NOW)
    warehouse = market.open_warehouse(shared_warehouse_url, folder, clock=clock, tables=tables)
    warehouse.migrate()

    def put(table: str, rows: list[dict[str, Any]]) -> None:
        batch = Batch(partition_key="test")
        warehouse.writer.write(warehouse.table(table), pd.DataFrame(rows), where=Slice(), batch=batch)

    put(
        "raw_futures",
        [
            row("IF2608", DAYS[0], 98.0),
            row("IF2609", DAYS[0], 97.0, is_main=False),
            row("IF2608", DAYS[1], 101.0, is_main=False),
            row("IF2609", DAYS[1], 102.0),
            row("au2612", DAYS[1], 600.0),
            row("au2702", DAYS[1], 601.0, is_main=False, prev_settle=None),
        ],
    )
    put(
        "fusion_index_daily",
        [{"code": "sh000300", "date": day, "close": 100.0, "src": "tencent"} for day in DAYS],
    )
    ticks = Ticks()
    app = without_upstreams(
        create_app(
            make_settings(folder),
            clock=FrozenClock(market.NOW),
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            warehouse_reader=market.open_warehouse(
                shared_warehouse_url, folder, tables=tables, read_only=True
            ),
            warehouse_writer=market.open_warehouse(
                shared_warehouse_url, folder, tables=tables, pool={"wait_s": 0.2}
            ),
            passwords=FAST,
        )
    )
    with running(app) as api:
        yield Bench(api, ticks, shared_warehouse_url, folder, {})
    warehouse.close()


def get(bench: Bench, path: str, **params: Any) -> Any:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def call(bench: Bench, name: str, **params: Any) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_main_contracts_of_the_newest_day(bench: Bench) -> None:
    found = get(bench, "/futures/list")

    assert (found["total"], found["date"]) == (2, DAYS[1])
    assert [item["symbol"] for item in found["items"]] == ["IF2609", "au2612"]
    assert found["items"][0] == {
        "symbol": "IF2609", "product": "IF", "name": "名IF2609", "exchange": "CFFEX", "price": 102.0,
        "change_pct": 2.0, "settle": 102.0, "volume": 9, "open_interest": 5, "is_main": True,
    }  # fmt: skip
    every = get(bench, "/futures/list", exchange="SHFE", main_only=False)
    assert [item["change_pct"] for item in every["items"]] == [500.0, None]


def test_bars_of_a_contract_in_any_case_and_of_a_product(bench: Bench) -> None:
    assert get(bench, "/futures/AU2612/kline")["total"] == 1
    found = get(bench, "/futures/IF/kline")
    assert [(bar["date"], bar["close"]) for bar in found["items"]] == [(DAYS[0], 98.0), (DAYS[1], 102.0)]
    assert (found["name"], found["latestDate"]) == ("名IF2609", DAYS[1])
    assert get(bench, "/futures/zz9999/kline")["items"] == []


def test_the_basis_is_spot_minus_future(bench: Bench) -> None:
    found = get(bench, "/futures/basis")

    assert [(row["symbol"], row["basis"]) for row in found["items"]] == [("IF2608", 2.0), ("IF2609", -2.0)]
    assert found["items"][0]["annualised_pct"] == pytest.approx(2 * 365 / 2)
    assert found["items"][1]["annualised_pct"] == pytest.approx(-2 * 365 / 29, abs=1e-3)
    gold = get(bench, "/futures/basis", product="au")
    assert (gold["items"], gold["available"]) == ([], False)
    assert "au" in gold["reason"]


def test_positions_say_that_no_source_has_them(bench: Bench) -> None:
    found = get(bench, "/futures/IF2609/positions", date=DAYS[1])

    assert (found["available"], found["long"], found["short"], found["date"]) == (False, [], [], DAYS[1])
    assert found["reason"]


@pytest.mark.parametrize(
    ("path", "params", "name"),
    [
        ("/futures/list", {"exchange": "NYSE"}, "exchange"),
        ("/futures/basis", {"product": "IF2609"}, "product"),
        ("/futures/basis", {"days": 0}, "days"),
        ("/futures/IF2609/kline", {"days": 29}, "days"),
        ("/futures/600519!/kline", {}, "symbol"),
        ("/futures/IF2609/positions", {"date": "2026-08-22"}, "date"),
    ],
)
def test_bad_parameters_are_named(bench: Bench, path: str, params: dict[str, Any], name: str) -> None:
    answer = bench.api.get(path, params=params)

    assert answer.status_code == 422
    assert name in answer.json()["detail"]


def test_interfaces(bench: Bench) -> None:
    assert len(call(bench, "get_futures_list")) == 4
    assert len(call(bench, "get_futures_list", trade_date=DAYS[0], exchange="CFFEX")) == 2
    assert [bar["close"] for bar in call(bench, "get_futures_daily", symbol="if2609")] == [97.0, 102.0]
    assert len(call(bench, "get_futures_daily", symbol="IF", start_date=DAYS[1])) == 1
