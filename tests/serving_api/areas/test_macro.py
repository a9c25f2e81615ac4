"""Yields, the equity risk premium and series by name, read on both engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock, ManualClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST, Bench, Ticks, make_settings, without_upstreams

DAYS = shipped_calendar().last(40, "2026-08-20")
PE = Table(
    "raw_index_valuation",
    Layer.RAW,
    columns_from("index_code:s16 date:date pe:f pe_ttm:f"),
    ("index_code", "date"),
    dataset="index_valuation",
    date_column="date",
)


def put(warehouse: Any, table: str, rows: list[dict[str, Any]], public_at: list[str] | None = None) -> None:
    frame = pd.DataFrame([{"src": "eastmoney", **row} for row in rows])
    warehouse.writer.write(
        warehouse.table(table), frame, where=Slice(), batch=Batch(partition_key="test"), public_at=public_at
    )


def value(indicator: str, day: str, number: float, **more: Any) -> dict[str, Any]:
    named = {
        "indicator": indicator,
        "period_date": day,
        "region": indicator[:2],
        "freq": "d",
        "value": number,
    }
    return {**named, "name": indicator, "publish_date": day, **more}


@pytest.fixture(scope="module")
def bench(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("data")
    clock = ManualClock(market.NOW)
    declared = builtin_registry().tables
    tables = (*declared, *([PE] if PE.name not in {table.name for table in declared} else []))
    warehouse = market.open_warehouse(shared_warehouse_url, folder, clock=clock, tables=tables)
    warehouse.migrate()
    rows = [
        value(f"{region}_bond_{years}y", day, base + years / 100 + at / 1000)
        for region, base, tenors in (("cn", 1.5, (1, 2, 5, 10, 30)), ("us", 4.0, (2, 10)))
        for years in tenors
        for at, day in enumerate(DAYS)
    ]
    rows += [value("cn_cpi_yoy", f"2026-{month:02d}-01", 0.1 * month, freq="m", yoy=0.1 * month, mom=0.2)
             for month in range(1, 8)]  # fmt: skip
    known = [f"{row['publish_date']} 18:00:00.000000" for row in rows]
    put(warehouse, "fusion_macro_indicator", rows, known)
    put(
        warehouse,
        "fusion_macro_release",
        [
            {"event_key": f"{at:016d}", "release_time": moment, "region": region, "title": title,
             "importance": weight, "actual": actual}
            for at, (moment, region, title, weight, actual) in enumerate(
                (("2026-08-12 00:00:00", "us", "美国消费者价格同比", 3, 2.9),
                 ("2026-08-14 16:00:00", "cn", "广义货币M2同比", 3, 8.0),
                 ("2026-09-12 00:00:00", "us", "美国失业率", 2, None))
            )
        ],
    )  # fmt: skip
    pe = [{"index_code": "sh000300", "date": day, "pe": 13.0, "pe_ttm": 12.5 - at / 100}
          for at, day in enumerate(DAYS)]  # fmt: skip
    put(warehouse, PE.name, pe)
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
        yield Bench(api, ticks, shared_warehouse_url, folder, {"warehouse": warehouse})
    warehouse.close()


def get(bench: Bench, path: str, **params: Any) -> Any:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def call(bench: Bench, name: str, **params: Any) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_yields_by_date_with_the_spread(bench: Bench) -> None:
    found = get(bench, "/macro/bond-yield", days=5)

    assert [row["date"] for row in found["items"]] == DAYS[-5:]
    assert found["latest"] == found["items"][-1]
    assert list(found["latest"]) == ["date", "y1", "y2", "y5", "y10", "y30", "spread_10_2"]
    assert found["latest"]["spread_10_2"] == pytest.approx(0.08)
    assert (found["total"], found["latestDate"], found["available"]) == (5, DAYS[-1], True)
    american = get(bench, "/macro/bond-yield", region="us", days=5)["latest"]
    assert (american["y1"], american["y10"]) == (None, pytest.approx(4.139))


def test_yields_as_they_were_known(bench: Bench) -> None:
    found = get(bench, "/macro/bond-yield", days=5, as_of=f"{DAYS[-3]}T17:00:00")

    assert found["latestDate"] == DAYS[-4]
    assert found["as_of"].startswith(DAYS[-3])
    nothing = get(bench, "/macro/bond-yield", as_of="2025-01-01")
    assert (nothing["items"], nothing["latest"], nothing["available"]) == ([], {}, False)
    assert f"became known on {DAYS[0]}" in nothing["reason"]
    series = get(bench, "/fusion/macro/cn-extended/cn_cpi_yoy", as_of="2025-01-01")
    assert (series["available"], series["items"]) == (False, [])
    assert "became known on 2026-01-01" in series["reason"]
    assert "is before that" in series["reason"]


@pytest.mark.parametrize(
    ("path", "asked", "enough", "more", "first", "note"),
    [
        ("/macro/bond-yield", "days", 40, 41, DAYS[0], "40 of 41 dates are stored"),
        ("/macro/erp", "days", 40, 41, DAYS[0], "40 of 41 dates with both sides are stored"),
        ("/fusion/macro/cn-extended/cn_cpi_yoy", "limit", 7, 8, "2026-01-01", "7 of 8 periods are stored"),
    ],
)
def test_series_say_how_far_back_they_reach(
    bench: Bench, path: str, asked: str, enough: int, more: int, first: str, note: str
) -> None:
    whole, short = (get(bench, path, **{asked: count}) for count in (enough, more))

    assert (whole["first_date"], whole["note"]) == (first, None)
    assert (short["first_date"], short["note"]) == (first, f"{note}; the first stored date is {first}")
    then = get(bench, path, **{asked: more}, as_of="2025-01-01")["note"]
    assert then.startswith(f"0 of {more}")
    assert "of that time are stored" in then


def test_a_series_of_which_nothing_is_stored_says_so(bench: Bench) -> None:
    for path, asked in (
        ("/macro/erp", {"index": "sh000905"}),
        ("/fusion/macro/cn-extended/cn_ppi_yoy", {}),
    ):
        found = get(bench, path, **asked)
        assert (found["first_date"], found["note"]) == (None, "nothing is stored yet"), path


@pytest.mark.parametrize(
    ("path", "params", "name"),
    [
        ("/macro/bond-yield", {"region": "jp"}, "region"),
        ("/macro/bond-yield", {"days": 4}, "days"),
        ("/macro/erp", {"days": 2501}, "days"),
        ("/macro/erp", {"index": "沪深300"}, "index"),
        ("/fusion/macro/cn-extended/cn_cpi_yoy", {"limit": 0}, "limit"),
        ("/fusion/macro/cn-extended/cn_cpi_yoy", {"as_of": "soon"}, "as_of"),
    ],
)
def test_bad_parameters_are_named(bench: Bench, path: str, params: dict[str, Any], name: str) -> None:
    answer = bench.api.get(path, params=params)

    assert answer.status_code == 422
    assert name in answer.json()["detail"]


def test_the_risk_premium_is_the_earnings_yield_above_the_bond(bench: Bench) -> None:
    found = get(bench, "/macro/erp", days=30)

    last = found["latest"]
    assert (found["index"], found["total"], last["date"]) == ("sh000300", 30, DAYS[-1])
    assert last["erp_pct"] == pytest.approx(100 / last["pe"] - last["bond_10y_pct"], abs=1e-3)
    assert last["pe"] == pytest.approx(12.5 - 0.39)  # over four quarters, where it is told
    assert found["percentile_pct"] == 100
    assert found["band"]["minus1"] < found["band"]["mean"] < found["band"]["plus1"]
    assert call(bench, "get_erp", limit=30) == found["items"]


def test_without_a_pe_there_is_no_premium_and_a_reason(bench: Bench) -> None:
    found = get(bench, "/macro/erp", index="sh000905")

    assert (found["items"], found["latest"], found["available"]) == ([], {}, False)
    assert "sh000905" in found["reason"]
    assert found["band"] == {"mean": None, "plus1": None, "minus1": None}
    early = get(bench, "/macro/erp", as_of=f"{DAYS[-1]}T12:00:00")
    assert early["latestDate"] == DAYS[-2]


def test_a_series_by_its_name(bench: Bench) -> None:
    found = get(bench, "/fusion/macro/cn-extended/cn_cpi_yoy", limit=3)

    assert (found["title"], found["unit"], found["freq"]) == ("居民消费价格同比", "pct", "m")
    assert [row["date"] for row in found["items"]] == ["2026-05-01", "2026-06-01", "2026-07-01"]
    assert found["items"][-1] == {
        "date": "2026-07-01",
        "value": pytest.approx(0.7),
        "yoy": 0.7,
        "mom": 0.2,
        "publish_date": "2026-07-01",
        "publish_estimated": None,
    }
    assert found["latestDate"] == "2026-07-01"
    empty = get(bench, "/fusion/macro/cn-extended/cn_ppi_yoy")
    assert (empty["available"], empty["items"]) == (False, [])
    missing = bench.api.get("/fusion/macro/cn-extended/us_cpi_yoy")
    assert missing.status_code == 404
    assert "cn_cpi_yoy" in missing.json()["names"]


def test_interfaces(bench: Bench) -> None:
    assert [row["value"] for row in call(bench, "get_macro_indicator", indicator="cn_cpi_yoy", limit=2)] == [
        pytest.approx(0.6), pytest.approx(0.7),
    ]  # fmt: skip
    newest = {row["indicator"]: row["period_date"] for row in call(bench, "get_macro_latest", region="cn")}
    assert (newest["cn_cpi_yoy"], newest["cn_bond_10y"], len(newest)) == ("2026-07-01", DAYS[-1], 6)
    assert len(call(bench, "get_macro_latest", indicators="cn_cpi_yoy,us_bond_2y")) == 2
    listed = call(bench, "get_macro_indicator_list", region="us")
    assert [row["indicator"] for row in listed] == ["us_bond_10y", "us_bond_2y"]
    assert [row["date"] for row in call(bench, "get_bond_yield", start_date=DAYS[-2])] == DAYS[-2:]
    assert len(call(bench, "get_bond_yield", limit=7)) == 7
    titles = [row["title"] for row in call(bench, "get_macro_release", start_date="2026-08-13")]
    assert titles == ["广义货币M2同比", "美国失业率"]
    assert len(call(bench, "get_macro_release", region="us", importance=3, end_date="2026-12-31")) == 1
    answer = bench.api.post(
        "/datamgr/fusion/call", json={"interface": "get_bond_yield", "params": {"region": "jp"}}
    )
    assert answer.status_code == 422
