"""The lake in an S3-compatible store: moto's server, over HTTP."""

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from core.clock import ManualClock
from core.errors import ConflictError, StorageError
from resources.lake.checking import checked
from resources.lake.location import Lake
from resources.lake.panel import read_panel
from resources.lake.publishing import Publisher
from resources.lake.reading import LakeReader, read_published
from resources.lake.upkeep import tidy
from resources.warehouse.panel import read_panel as warehouse_panel
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, TABLES
from tests.lake.test_publishing import bar, write
from tests.lake.test_reading import DAYS, answer, random_history, read


@pytest.fixture
def warehouse(clock: ManualClock, tmp_path: Path) -> Iterator[Warehouse]:
    opened = Warehouse(
        f"sqlite:///{tmp_path / 'w.sqlite3'}", TABLES, clock=clock, payload_folder=tmp_path,
        lake_url="s3://research/lake",
    )  # fmt: skip
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Address of the lake in a bucket of a server of its own; in a process of its own, since the library
    keeps other threads of ours waiting while it waits for the store."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{port}")
    _wait_for(port)
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="research")
    yield "s3://research/lake"
    server.terminate()
    server.wait(10)


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the store does not answer")


def test_a_store_holds_the_same_lake(store: str, warehouse: Warehouse, clock: ManualClock) -> None:
    random_history(warehouse, clock, random.Random(4), 3)
    lake = Lake(store)
    assert lake.names() == []
    for table in TABLES:
        Publisher(warehouse, lake).publish(table)
        assert {one.status for one in checked(warehouse, lake, table)} <= {"same"}
    again = Publisher(warehouse, lake).publish(BARS)
    rows = LakeReader(warehouse, lake).read(BARS.name)
    window = {"since": DAYS[0], "until": DAYS[-1]}
    panel = read_panel(warehouse, BARS.name, ("close",), **window)

    assert lake.names() == sorted(table.name for table in TABLES)
    assert again.months == ()
    assert read(rows, BARS) == answer(warehouse, BARS, None)
    assert panel.codes == warehouse_panel(warehouse, BARS.name, ("close",), **window).codes
    assert tidy(lake, BARS.name).deleted == 0


def test_of_two_publications_at_once_one_is_refused(store: str, warehouse: Warehouse) -> None:
    write(warehouse, BARS, [bar("600001", "2026-08-03", 1.0)])
    lake, other = Lake(store), Lake(store)
    Publisher(warehouse, lake).publish(BARS)
    write(warehouse, BARS, [bar("600002", "2026-08-03", 1.0)])
    first, second = Publisher(warehouse, lake), Publisher(warehouse, other)
    plain = second._commit

    def overtaken(*args: object) -> object:
        first.publish(BARS)
        return plain(*args)  # type: ignore[arg-type]

    second._commit = overtaken  # type: ignore[assignment, method-assign]
    with pytest.raises(ConflictError, match="another process has published"):
        second.publish(BARS)
    assert len(read_published(lake.table(BARS.name))) == 2


def test_a_store_that_is_away_is_named(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    options = {"max_retries": "0", "retry_timeout": "1s", "connect_timeout": "1s"}
    with pytest.raises(StorageError, match="fusion_bars") as found:
        Lake("s3://research/lake", options).table("fusion_bars")
    assert "a secret" not in str(found.value)
