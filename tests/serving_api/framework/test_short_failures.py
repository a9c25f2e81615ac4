"""A read that fails while the database is there is an error; one of a database that is away is empty."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.serving_api import market
from tests.serving_api.conftest import Bench

CODE = "600519"
KLINE = f"/stocks/{CODE}/kline?days=30"


@pytest.fixture
def filled(bench: Bench) -> Bench:
    warehouse = bench.warehouse()
    bar: dict[str, Any] = {
        "code": CODE, "date": "2026-08-21", "market": "SH", "sec_type": "stock", "open": 10.0, "high": 11.0,
        "low": 9.0, "close": 10.0, "volume": 1000, "amount": 10000.0, "is_suspended": False,
        "adj_factor": 1.0,
    }  # fmt: skip
    market.put(warehouse, market.KLINE, [bar])
    warehouse.close()
    bench.ticks.advance(2.0)  # MariaDB is asked for versions once a second
    return bench


@contextmanager
def failing(bench: Bench, table: str) -> Iterator[None]:
    """Reads of a table fail; the database answers everything else."""
    warehouse = bench.warehouse()

    def rename(old: str, new: str) -> None:
        with warehouse.engine.begin() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")

    rename(table, f"{table}_away")
    try:
        yield
    finally:
        rename(f"{table}_away", table)
        warehouse.close()


@pytest.mark.parametrize("path", [KLINE, f"/stocks/batch-kline?codes={CODE}", f"/stocks/{CODE}/vpa?days=60"])
def test_a_read_that_fails_is_no_empty_answer(filled: Bench, path: str) -> None:
    before = filled.api.get(path)
    assert before.status_code == 200

    with failing(filled, "fusion_kline_daily"):
        # A query of its own: what this process holds of the first one is still right.
        failed = filled.api.get(f"{path}{'&' if '?' in path else '?'}as_of=2026-08-21")

    assert failed.status_code == 503
    assert "ETag" not in failed.headers
    assert failed.headers["Cache-Control"] == "no-store"
    assert int(failed.headers["Retry-After"]) > 0
    after = filled.api.get(path)
    assert (after.status_code, after.json()["results"]) == (200, before.json()["results"])


def test_the_answer_after_a_failure_has_the_rows(filled: Bench) -> None:
    with failing(filled, "fusion_kline_daily"):
        assert filled.api.get(f"{KLINE}&adjust=none").status_code == 503

    shown = filled.api.get(f"{KLINE}&adjust=none").json()["results"]
    assert shown[-1]["date"] == "2026-08-21"


def test_a_tool_says_that_its_read_failed(filled: Bench) -> None:
    arguments = {"interface": "get_kline_daily", "params": {"code": CODE, "limit": 5}}
    params = {"name": "app_info", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    with failing(filled, "fusion_kline_daily"):
        failed = filled.api.post("//mcp/tools/call", json=body).json()
    whole = filled.api.post("//mcp/tools/call", json=body).json()

    assert failed["result"]["isError"] is True
    assert not whole["result"].get("isError")


def test_an_empty_answer_without_a_database_is_kept_by_nobody(own: Bench) -> None:
    own.lose_database()

    answer = own.api.get(KLINE)

    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert answer.headers["Cache-Control"] == "no-store"
    assert "ETag" not in answer.headers
