"""The stock-base list over the wide table on both engines, and the retired writes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.clock import ManualClock
from serving_api.datasets import uploads
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, Bench, Ticks, bearer
from tests.serving_api.datasets.fused.conftest import all_tables, app_over, put

LIST = "/datamgr/stock-base/list"
TODAY, YESTERDAY = "2026-08-21", "2026-08-20"


def wide(code: str, name: str, day: str = TODAY, **values: Any) -> dict[str, Any]:
    return {"code": code, "trade_date": day, "name": name, **values}


ROWS = [
    wide("600001", "白云酒业", current_price=10.0, change_pct=1.0, amount=5e6, total_volume=100,
         turnover_pct=1.0, pe_ttm=9.0, total_market_cap=300.0, float_market_cap=200.0, main_net=-5.0,
         industry="白酒", sw_l1="801120", sw_l2="801125", concepts='["消费"]'),
    wide("600002", "平川银行", current_price=5.0, change_pct=-2.0, amount=9e6, total_volume=900,
         turnover_pct=0.5, pe_ttm=5.0, total_market_cap=900.0, main_net=7.0, industry="银行", sw_l1="801780"),
    wide("000003", "停牌股份", industry="银行"),
    wide("300004", "白马科技", current_price=80.0, change_pct=1.0, amount=1e6, total_volume=50,
         turnover_pct=9.0, pe_ttm=70.0, total_market_cap=100.0, main_net=1.0, industry="软件"),
]  # fmt: skip


@pytest.fixture(scope="module")
def listed(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("data")
    clock = ManualClock(market.NOW)
    warehouse = market.open_warehouse(shared_warehouse_url, folder, clock=clock, tables=all_tables())
    warehouse.migrate()
    name = "fusion_stock_wide"
    old = [wide("600001", "白云酒业", YESTERDAY, current_price=9.9, change_pct=0.0)]
    put(warehouse, name, old, public_at=f"{YESTERDAY} 15:00:00.000000")
    put_more(warehouse, ROWS)
    with running(app_over(shared_warehouse_url, folder, Ticks())) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        yield Bench(api, Ticks(), shared_warehouse_url, folder, {"headers": bearer(token)})
    warehouse.close()


def put_more(warehouse: Any, rows: list[dict[str, Any]]) -> None:
    """Rows of today, beside those of other days."""
    import pandas as pd

    from resources.warehouse.batch_records import Batch
    from resources.warehouse.slices import Slice

    warehouse.writer.write(
        warehouse.table("fusion_stock_wide"),
        pd.DataFrame([{"src": "tencent", **row} for row in rows]),
        where=Slice.of_date("trade_date", TODAY),
        batch=Batch(partition_key=TODAY),
        public_at=[f"{TODAY} 15:00:00.000000"] * len(rows),
    )


def ask(bench: Bench, **params: Any) -> dict[str, Any]:
    answer = bench.api.get(LIST, params=params, headers=bench.extra["headers"])
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [row["code"] for row in found["data"]]


def test_the_list_is_plain_and_shows_the_newest_date(listed: Bench) -> None:
    found = ask(listed)

    assert set(found) == {"data", "items", "total", "page", "pageSize", "industries", "latestDate"}
    assert found["items"] == found["data"]
    assert (found["total"], found["page"], found["pageSize"], found["latestDate"]) == (4, 1, 50, TODAY)
    assert found["industries"] == sorted(["白酒", "软件", "银行"])
    first = found["data"][0]
    assert list(first)[:6] == "code name current_price change_pct total_volume float_market_cap".split()
    assert next(row for row in found["data"] if row["code"] == "600001")["concepts"] == ["消费"]
    assert "batch_id" not in first


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("change_desc", ["300004", "600001", "600002", "000003"]),
        ("change_asc", ["600002", "300004", "600001", "000003"]),
        ("price_desc", ["300004", "600001", "600002", "000003"]),
        ("price_asc", ["600002", "600001", "300004", "000003"]),
        ("amount_desc", ["600002", "600001", "300004", "000003"]),
        ("volume_desc", ["600002", "600001", "300004", "000003"]),
        ("cap_desc", ["600002", "600001", "300004", "000003"]),
        ("cap_asc", ["300004", "600001", "600002", "000003"]),
        ("turnover_desc", ["300004", "600001", "600002", "000003"]),
        ("pe_desc", ["300004", "600001", "600002", "000003"]),
        ("main_desc", ["600002", "300004", "600001", "000003"]),
        ("main_asc", ["600001", "300004", "600002", "000003"]),
    ],
)
def test_missing_values_come_last_and_equal_ones_by_code(
    listed: Bench, sort: str, expected: list[str]
) -> None:
    assert codes(ask(listed, sort=sort)) == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"keyword": "600"}, {"600001", "600002"}),
        ({"keyword": "白"}, {"600001", "300004"}),
        ({"keyword": "６０ 0"}, {"600001", "600002"}),
        ({"keyword": "001"}, set()),
        ({"industry": "银行"}, {"600002", "000003"}),
        ({"sw_l1": "801120"}, {"600001"}),
        ({"sw_l2": "801125"}, {"600001"}),
        ({"codes": "000003, 600001,999999"}, {"000003", "600001"}),
        ({"price_min": 10}, {"600001", "300004"}),
        ({"price_max": 5}, {"600002"}),
        ({"change_min": -2, "change_max": 0}, {"600002"}),
        ({"cap_min": 100, "cap_max": 300}, {"600001", "300004"}),
        ({"keyword": "白", "price_max": 20}, {"600001"}),
        ({"fields": "whatever"}, {"600001", "600002", "000003", "300004"}),
    ],
)
def test_filters(listed: Bench, params: dict[str, Any], expected: set[str]) -> None:
    found = ask(listed, **params)

    assert set(codes(found)) == expected
    assert found["total"] == len(expected)


def test_pages(listed: Bench) -> None:
    assert (ask(listed, page=2, pageSize=10)["data"], ask(listed, page=2)["total"]) == ([], 4)


def test_the_list_of_another_day(listed: Bench) -> None:
    found = ask(listed, as_of=YESTERDAY)

    assert (codes(found), found["latestDate"]) == (["600001"], YESTERDAY)
    assert found["as_of"].startswith(YESTERDAY)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("page", 0),
        ("pageSize", 9),
        ("pageSize", 201),
        ("sort", "name"),
        ("codes", "1"),
        ("price_min", "nan"),
        ("as_of", "2027-01-01"),
    ],
)
def test_bad_values_are_named(listed: Bench, name: str, value: Any) -> None:
    answer = listed.api.get(LIST, params={name: value}, headers=listed.extra["headers"])

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{name}:")


def test_without_the_table_the_list_is_empty(own: Bench) -> None:
    found = own.api.get(LIST, headers=own.admin()).json()

    assert (found["data"], found["total"], found["latestDate"]) == ([], 0, None)


def test_a_failing_database_is_reported_in_the_list(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.errors import StorageError
    from serving_api.datasets import stock_base

    def broken(*_: Any) -> None:
        raise StorageError("away")

    headers = own.admin()
    monkeypatch.setattr(stock_base, "_read_snapshot", broken)
    found = own.api.get(LIST, headers=headers).json()

    assert (found["status"], found["data"], found["total"]) == ("deprecated", [], 0)
    assert found["message"]


def test_a_new_version_is_seen_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path, tables=all_tables())
    warehouse.migrate()
    put_more(warehouse, ROWS[:1])
    with running(app_over(url, tmp_path, Ticks())) as api:
        headers = bearer(api.post("/auth/login", json=ADMIN).json()["access_token"])
        bench = Bench(api, Ticks(), url, tmp_path, {"headers": headers})
        assert ask(bench)["total"] == 1
        put_more(warehouse, ROWS)
        assert ask(bench)["total"] == 4
    warehouse.close()


# -- retired writes -----------------------------------------------------------------------------------

RETIRED = {
    "/datamgr/stock-base/sync": "synced",
    "/datamgr/stock-base/sync-tencent": "synced",
    "/datamgr/stock-base/sync-tdx": "synced",
    "/datamgr/stock-base/backfill": "backfilled",
    "/datamgr/stock-base/fetch-staging": "count",
    "/datamgr/stock-base/promote": "count",
    "/datamgr/stock-base/backfill-stock-info": "backfilled",
    "/datamgr/finance/sync-tdx": "synced",
}


@pytest.mark.parametrize(("path", "counted"), RETIRED.items())
def test_retired_writes_say_so_whatever_the_body(own: Bench, path: str, counted: str) -> None:
    answer = own.api.post(path, content=b"{not json", headers=own.admin())

    assert answer.status_code == 200
    found = answer.json()["results"]
    assert (found["status"], found[counted]) == ("deprecated", 0)
    assert found["message"]
    assert own.api.post(path).status_code == 401


def test_the_staging_list_is_retired(own: Bench) -> None:
    found = own.api.get("/datamgr/stock-base/staging", headers=own.admin()).json()["results"]

    assert (found["status"], found["count"]) == ("deprecated", 0)


@pytest.mark.parametrize("tail", ["import", "sync-full"])
def test_uploads_are_checked_before_they_are_dropped(
    own: Bench, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, headers = f"/datamgr/stock-base/{tail}", own.admin()

    def send(name: str, content: bytes) -> Any:
        return own.api.post(path, files={"file": (name, content)}, headers=headers)

    good = send("List.XLSX", b"content")
    assert good.json()["results"]["status"] == "deprecated"
    assert good.json()["results"]["imported"] == 0

    bad = send("list.exe", b"content")
    assert (bad.status_code, set(bad.json())) == (400, {"detail"})
    assert ".exe" in bad.json()["detail"]

    empty = send("list.csv", b"")
    assert empty.status_code == (400 if tail == "sync-full" else 200)

    monkeypatch.setattr(uploads, "MAX_BYTES", 3)
    large = send("list.csv", b"1234")
    assert (large.status_code, "50 MB" in large.json()["detail"]) == (400, True)


def test_an_upload_beyond_the_limit_is_not_even_read(own: Bench) -> None:
    body = b"x" * 16
    headers = own.admin() | {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(60 * 1024 * 1024),
    }

    answer = own.api.post("/datamgr/stock-base/import", content=body, headers=headers)

    assert answer.status_code == 400
