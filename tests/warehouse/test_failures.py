"""A full disk is named, and the write probe reports the error of a real write."""

import errno
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from core.clock import SystemClock
from core.errors import DiskFull, StorageError
from resources.transport.state import SqliteStore
from resources.warehouse.engine import make_engine, reading, transaction
from resources.warehouse.failures import is_full, storage_error
from resources.warehouse.payloads import FolderPayloads
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.write_probe import WriteProbe
from tests.warehouse.test_payloads import fetch_of


def fill(engine: Engine) -> None:
    """Writes until the engine's own bound says that there is no room."""
    with transaction(engine) as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("CREATE TABLE filled (text TEXT)")
            connection.exec_driver_sql("PRAGMA max_page_count=1")
        else:
            connection.exec_driver_sql("SET max_heap_table_size=16384")
            connection.exec_driver_sql("CREATE TEMPORARY TABLE filled (text CHAR(200)) ENGINE=MEMORY")
        for _ in range(2000):
            connection.exec_driver_sql(f"INSERT INTO filled VALUES ('{'x' * 200}')")


def test_a_full_disk_is_named_on_either_engine(warehouse_url: str) -> None:
    engine = make_engine(warehouse_url)
    with pytest.raises(DiskFull, match=r"^the disk is full: .*full"):
        fill(engine)
    engine.dispose()


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (Exception(1021, "Disk full (/tmp/x); waiting for someone to free some space..."), True),
        (Exception(1030, 'Got error 28 "No space left on device" from storage engine InnoDB'), True),
        (Exception(1030, "Got error 128 from storage engine"), False),
        (Exception(3, "Error writing file '/tmp/x' (Errcode: 28 \"No space left on device\")"), True),
        (Exception(1205, "Lock wait timeout exceeded"), False),
        (sqlite3.OperationalError("database is locked"), False),
        (Exception(), False),
    ],
)
def test_what_means_that_there_is_no_room(error: BaseException, full: bool) -> None:
    assert is_full(error) is full
    assert isinstance(storage_error(error), DiskFull) is full


def test_payloads_and_the_state_of_the_transport_say_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(DiskFull):
        FolderPayloads(tmp_path).put_all([fetch_of(b"body")])

    store = SqliteStore(tmp_path / "transport.sqlite3")
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    with pytest.raises(DiskFull), store.step():
        raise full
    store.close()


def test_a_real_write_and_what_keeps_it(warehouse_url: str, tmp_path: Path) -> None:
    warehouse = Warehouse(warehouse_url, (), clock=SystemClock(), payload_folder=tmp_path)
    warehouse.migrate()
    probe = WriteProbe(warehouse_url, "test", wait_s=0.1)
    assert probe.write() >= 0
    assert probe.write() >= 0

    with warehouse.engine.connect() as holder:
        if warehouse.sqlite:
            holder.exec_driver_sql("SELECT 1")  # opens BEGIN IMMEDIATE: the writer's lock
        else:
            holder.exec_driver_sql("LOCK TABLES sys_heartbeat READ")
        with pytest.raises(StorageError, match=r"locked|timeout"):
            probe.write()
        if not warehouse.sqlite:
            holder.exec_driver_sql("UNLOCK TABLES")
    assert probe.write() >= 0
    with reading(warehouse.engine) as connection:
        rows = connection.exec_driver_sql("SELECT role FROM sys_heartbeat").scalars().all()
    assert rows == ["probe"]
    probe.close()
    warehouse.close()
