"""Who of several API processes asks: claims of stored answers, on both engines."""

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from core.declaration.registry import builtin_registry
from resources.warehouse.warehouse import Warehouse
from serving_api.live.claims import Claims
from serving_api.live.queries import snapshot_row
from serving_api.live.snapshots import Snapshot, put
from tests.serving_api import market as stored

DAY, KIND = "2026-08-21", "distribution"
ROW = snapshot_row(KIND, DAY)
PROCESSES = 6


@pytest.fixture
def warehouse(warehouse_url: str, tmp_path: Path) -> Iterator[Warehouse]:
    tables = builtin_registry().tables
    opened = stored.open_warehouse(warehouse_url, tmp_path, tables=tables)
    opened.migrate()
    yield opened
    opened.close()


def answer(second: int, *, final: bool = False, value: int = 1) -> Snapshot:
    at = datetime(2026, 8, 21, 10, 30, second)
    return Snapshot(DAY, {"up": value}, "tcp_terminal", final, at)


def reported(warehouse: Warehouse) -> list[tuple[object, ...]]:
    return warehouse.query(f"SELECT payload_json, is_final FROM sys_market_snapshot WHERE data_type='{KIND}'")


def test_of_many_processes_that_claim_at_once_one_asks(warehouse: Warehouse) -> None:
    writers = [Claims(warehouse, lambda: 1_000.0) for _ in range(PROCESSES)]
    start, won, failed = threading.Barrier(PROCESSES), [], []

    def claim(writer: Claims) -> None:
        start.wait()
        try:
            if writer.claim(ROW, 5.0):
                won.append(writer)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=claim, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert len(won) == 1


def test_a_claim_ends_with_its_time_its_release_or_its_answer(warehouse: Warehouse) -> None:
    now = [1_000.0]
    first, second = (Claims(warehouse, lambda: now[0]) for _ in range(2))
    assert first.claim(ROW, 5.0)
    assert first.claim(ROW, 5.0), "one's own claim is no obstacle"
    assert not second.claim(ROW, 5.0)
    now[0] += 5.1
    assert second.claim(ROW, 5.0), "a process that died holds it no longer"
    first.release(ROW)
    assert not first.claim(ROW, 5.0), "nobody gives back what another holds"
    second.release(ROW)
    assert first.claim(ROW, 5.0)
    assert put(first, KIND, answer(0))
    assert second.claim(ROW, 5.0)


def test_the_newest_answer_is_stored_and_the_final_one_is_never_replaced(warehouse: Warehouse) -> None:
    first, second = (Claims(warehouse, lambda: 1_000.0) for _ in range(2))
    assert put(first, KIND, answer(10, value=1))
    assert not put(second, KIND, answer(9, value=2)), "an answer that came late is older"
    assert put(second, KIND, answer(11, value=3))
    assert put(first, KIND, answer(12, final=True, value=4))
    assert not put(second, KIND, answer(13, final=True, value=5))
    assert [(str(payload).replace(" ", ""), bool(final)) for payload, final in reported(warehouse)] == [
        ('{"up":4}', True)
    ]
