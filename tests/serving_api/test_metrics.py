"""/metrics as a scraper reads it, with the parser of the public client package; on both engines."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain

from core.errors import ConflictError, InputError, Refused
from resources.settings import load_settings
from resources.transport.gates import deployment_gate
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.table_versions import claim_version
from serving_api.framework.state import State
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@contextmanager
def measured(url: str, folder: Path, readers: str, *, peer: str = "127.0.0.1") -> Iterator[Bench]:
    ticks = Ticks()
    warehouse = market.open_warehouse(url, folder)
    warehouse.migrate()
    market.fill(warehouse)
    with running(make_app(url, folder, ticks, metrics=readers), peer=peer) as api:
        yield Bench(api, ticks, url, folder)
    warehouse.close()


def samples(answer: httpx.Response, parse: Any = plain) -> Samples:
    assert answer.status_code == 200, answer.text[:300]
    found = [sample for family in parse(answer.text) for sample in family.samples]
    named = {(one.name, frozenset(one.labels.items())): float(one.value) for one in found}
    assert len(named) == len(found)  # no series twice
    return named


def value(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


def test_a_scrape_tells_requests_and_the_state_of_the_platform(warehouse_url: str, tmp_path: Path) -> None:
    with measured(warehouse_url, tmp_path, "loopback") as bench:
        state: State = bench.api.app.state.platform
        CommandQueue(bench.warehouse().engine).enqueue("run_job", {"job": "x"}, requested_by="test")
        gate = deployment_gate(state.settings)
        gate.enter("tencent", "qt.gtimg.cn")
        gate.succeeded("tencent", "qt.gtimg.cn")
        gate.enter("tencent", "qt.gtimg.cn")
        gate.failed("tencent", "qt.gtimg.cn", Refused("HTTP 403"))
        gate.close()
        locks = bench.warehouse().locks
        with locks.held(("kline",), "one run"), pytest.raises(ConflictError):
            locks.take(("kline", "wide"), "another run")
        for _ in range(3):
            assert bench.api.get("/stocks/600519/kline").status_code == 200
        assert bench.api.get("/stocks/1/kline").status_code == 422
        assert bench.api.get("/nowhere").status_code == 404

        answer = bench.api.get("//metrics")
        found = samples(answer)
        again = samples(
            bench.api.get("//metrics", headers={"Accept": "application/openmetrics-text"}), openmetrics
        )

    assert answer.headers["cache-control"] == "no-store"
    route = {"handler": "/api/v1/stocks/{code}/kline", "method": "GET"}
    assert value(found, "http_requests_total", **route, status="200") == 3
    assert value(found, "http_requests_total", **route, status="422") == 1
    assert value(found, "http_requests_total", handler="none", method="GET", status="404") == 1
    assert value(found, "http_request_duration_seconds_count", **route) == 4
    assert value(found, "http_request_duration_seconds_bucket", **route, le="+Inf") == 4
    assert value(found, "ashare_commands", command="run_job", status="queued") == 1
    assert value(found, "ashare_upstream_requests_total", upstream="tencent") == 2
    called = {"upstream": "tencent", "host": "qt.gtimg.cn"}
    assert value(found, "ashare_upstream_calls_total", **called, outcome="ok") == 1
    assert value(found, "ashare_upstream_calls_total", **called, outcome="refused") == 1
    assert value(found, "ashare_lock_refusals_total", domain="kline") == 1
    assert value(found, "ashare_lock_refusals_total", domain="wide") == 0
    assert value(found, "ashare_breaker_state", breaker="eastmoney") in {0, None}
    assert value(found, "ashare_lock_held", domain="kline") == 0
    assert value(found, "ashare_dataset_stale", table="fusion_kline_daily") in {0, 1}
    parts = {dict(labels)["part"]: one for (name, labels), one in found.items() if name == "ashare_scrape_ok"}
    assert set(parts.values()) == {1.0}
    assert {
        "upstreams",
        "queue",
        "scheduled_runs",
        "locks",
        "heartbeats",
        "rows_written",
        "freshness",
    } == set(parts)
    assert value(again, "ashare_commands", command="run_job", status="queued") == 1


def test_series_do_not_grow_with_what_callers_send(warehouse_url: str, tmp_path: Path) -> None:
    with measured(warehouse_url, tmp_path, "loopback") as bench:
        bench.api.get("/stocks/600519/kline")
        bench.api.get("/nothing/0")
        before = samples(bench.api.get("//metrics"))
        for number in range(30):
            bench.api.get(f"/stocks/{600520 + number}/kline")
            bench.api.get(f"/nothing/{number}")
        after = samples(bench.api.get("//metrics"))

    # /metrics itself was counted in between.
    own = {key for key in after.keys() - before.keys() if ("handler", "/metrics") not in key[1]}
    assert {dict(labels).get("status") for _, labels in own} <= {"404", None}
    assert len(own) <= 6


def test_it_is_off_unless_it_is_asked_for(bench: Bench) -> None:
    assert bench.api.get("//metrics").status_code == 404
    with pytest.raises(InputError) as caught:
        load_settings({"METRICS": "everybody"}, dotenv=Path("none"))
    assert caught.value.parameter == "METRICS"


def test_only_those_read_it_whom_the_setting_names(warehouse_url: str, tmp_path: Path) -> None:
    with measured(warehouse_url, tmp_path, "loopback") as bench:
        through = bench.api.get("//metrics", headers={"X-Forwarded-For": "127.0.0.1"})
        assert (through.status_code, through.json()["detail"]) == (
            403,
            "metrics are for callers of this machine",
        )
    with measured(warehouse_url, tmp_path, "loopback", peer="10.0.0.1") as bench:
        assert bench.api.get("//metrics").status_code == 403
    with measured(warehouse_url, tmp_path, "admin") as bench:
        assert bench.api.get("//metrics").status_code == 401
        assert bench.api.get("//metrics", headers=bench.member()).status_code == 403
        assert bench.api.get("//metrics", headers=bench.admin()).status_code == 200


def test_without_the_database_requests_are_still_told(tmp_path: Path) -> None:
    with measured(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, "loopback") as bench:
        bench.api.get("/stocks/600519/kline")
        bench.lose_database()
        found = samples(bench.api.get("//metrics"))

    handler = "/api/v1/stocks/{code}/kline"
    assert value(found, "http_requests_total", handler=handler, method="GET", status="200") == 1
    assert value(found, "ashare_scrape_ok", part="queue") == 0
    assert value(found, "ashare_scrape_ok", part="locks") == 0


def test_a_write_that_waits_for_another_writer_is_told(warehouse_url: str, tmp_path: Path) -> None:
    with measured(warehouse_url, tmp_path, "loopback") as bench:
        holder, writer = bench.warehouse(), bench.warehouse()
        began = threading.Event()

        def write() -> None:
            began.set()
            market.put(writer, market.KLINE, [market.bar("000001", market.TODAY, 12.0)])

        waiting = threading.Thread(target=write)
        with transaction(holder.engine) as connection:
            claim_version(holder.sql, connection, market.KLINE)
            waiting.start()
            began.wait()
            time.sleep(0.5)
        waiting.join()
        found = samples(bench.api.get("//metrics"))

    longest = value(found, "ashare_lock_wait_seconds_max_last_day", table="fusion_kline_daily")
    assert longest is not None
    assert longest >= 0.25
    assert value(found, "ashare_lock_wait_seconds_max_last_day", table="fusion_stock_master") is not None
