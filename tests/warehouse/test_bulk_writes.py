"""Many rows at once: loaded and compared by the server, with the same outcome as row by row."""

import logging
import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.clock import ManualClock
from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table
from core.errors import StorageError
from resources.warehouse import bulk_load
from resources.warehouse.batch_records import Batch
from resources.warehouse.bulk_load import BulkLoad, text_of
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import WriteResult
from tests.conftest import mariadb_database
from tests.warehouse.conftest import BARS, DAY, MEMBERS, QUOTES

ROWS = 60
TEXTS = (
    "",
    " ",
    "a",
    "a ",
    "平安",
    "\\N",
    "tab\there",
    "two\nlines",
    "back\\slash",
    "\r",
    "'\"",
    "\x1f",
    None,
)
NUMBERS = (0.0, 0.1 + 0.2, 1e15, 1.5e-7, -3.25, 1e300, 123456.789, None)
WIDE = Table(
    "fusion_wide",
    Layer.DWD,
    columns_from("code:code date:date ratio:f volume:big halted:bool note:s64 story:text tags:json seen:ts"),
    ("code", "date"),
    date_column="date",
)
SEEN = ("2026-08-20 09:30:00.000000", "2026-08-20 09:30:00.000001", None)


def frame(chance: random.Random, codes: range, *, src: str = "tdx") -> pd.DataFrame:
    """Rows of a date with values that are hard to carry."""
    rows = [
        {
            "code": f"{600000 + number}", "date": DAY, "ratio": chance.choice(NUMBERS),
            "volume": chance.choice((0, 7, 2**53, None)), "halted": chance.choice((True, False, None)),
            "note": chance.choice(TEXTS), "story": chance.choice(TEXTS),
            "tags": chance.choice(('["a"]', None)), "seen": chance.choice(SEEN), "src": src,
            "provenance": chance.choice(('{"tdx":["ratio"]}', None)),
            "quality": chance.choice(("ok", "warning")), "quality_flags": None,
        }
        for number in codes
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"volume": "Int64", "halted": "boolean"})


def edited(chance: random.Random, before: pd.DataFrame, share: float) -> pd.DataFrame:
    """The same rows, some of them with other values."""
    other = frame(chance, range(len(before)))
    changed = pd.Series([chance.random() < share for _ in range(len(before))], index=before.index)
    return before.where(~changed, other)


def opened(url: str, clock: ManualClock, folder: Path) -> Warehouse:
    made = Warehouse(url, (BARS, QUOTES, MEMBERS, WIDE), clock=clock, payload_folder=folder / "payloads")
    made.migrate()
    return made


@pytest.fixture
def two(clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Warehouse]]:
    """A MariaDB warehouse that loads from the first row on, and a SQLite one, which writes row by row."""
    monkeypatch.setattr(bulk_load, "FEW", 1)
    for url in mariadb_database(f"{__package__}.bulk"):
        both = [
            opened(url, clock, tmp_path),
            opened(f"sqlite:///{tmp_path / 'rows.sqlite3'}", clock, tmp_path),
        ]
        yield both
        for one in both:
            one.close()


def write(warehouse: Warehouse, rows: pd.DataFrame, number: int, **how: Any) -> WriteResult:
    how.setdefault("where", Slice.of_date("date", DAY))
    batch = Batch(partition_key=DAY, batch_id=f"{number:032d}")
    return warehouse.writer.write(
        WIDE, rows, batch=batch, source_rank={"tdx": 0, "tencent": 1},
        public_at=[f"{DAY} 15:00:00.000000"] * len(rows), **how,
    )  # fmt: skip


def everything(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    """What the writer keeps, without the numbers that an engine counts up itself."""
    names = ", ".join(WIDE.names)
    version = "table_name, version, row_count, updated_at, confirmed_at, last_batch_id, latest_date"
    counts = "batch_id, status, rows_in, rows_ok, rows_warning, rows_unchanged, rows_written, rows_superseded"
    asked = {
        "rows": f"SELECT {names} FROM fusion_wide ORDER BY code",
        "history": f"SELECT {names}, valid_to, superseded_by FROM fusion_wide_history "
        "ORDER BY code, superseded_by",
        "version": f"SELECT {version} FROM table_version WHERE table_name='fusion_wide'",
        "batches": f"SELECT {counts}, content_hash FROM sys_batch ORDER BY batch_id",
        "months": "SELECT version, month, batch_id FROM sys_batch_month ORDER BY version, month",
        "patterns": "SELECT id, pattern FROM sys_provenance ORDER BY id",
    }
    return {name: warehouse.query(statement) for name, statement in asked.items()}


@pytest.mark.parametrize("seed", range(4))
def test_loaded_and_compared_by_the_server_is_as_row_by_row(
    two: list[Warehouse], clock: ManualClock, seed: int
) -> None:
    chance = random.Random(seed)
    day = frame(chance, range(ROWS))
    few = edited(chance, day, 0.1)
    codes = tuple(f"{600000 + number}" for number in range(ROWS * 2))
    steps: list[tuple[pd.DataFrame, dict[str, Any]]] = [
        (day, {}),
        (day, {}),
        (few, {}),
        (few.sample(frac=1, random_state=seed), {}),
        (few.head(ROWS // 2), {}),
        (frame(chance, range(ROWS // 2, ROWS * 2)), {}),
        (edited(chance, few, 0.5).assign(src="tencent", quality="warning"), {}),
        (frame(chance, range(10, ROWS)), {"replace": True}),
        (frame(chance, range(ROWS)), {"later": ("ratio", "note")}),
        (
            frame(chance, range(ROWS * 2)),
            {"where": Slice.of_codes(codes)},
        ),
    ]

    for number, (rows, how) in enumerate(steps):
        loaded, by_rows = (write(one, rows, number, **how) for one in two)
        assert loaded == by_rows
        clock.advance(timedelta(minutes=7))

    loaded_all, by_rows_all = (everything(one) for one in two)
    assert loaded_all == by_rows_all
    assert loaded_all["history"]


def test_the_rows_of_a_load_are_never_sent_as_values(
    two: list[Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fast way is really taken, and the compared rows do not come back."""
    warehouse = two[0]
    day = frame(random.Random(1), range(ROWS))
    write(warehouse, day, 1)
    sent: list[tuple[str, int]] = []
    load = BulkLoad.load

    def counted(self: BulkLoad, connection: Any, table: str, columns: Any, rows: Any, **how: Any) -> None:
        sent.append((table, len(rows)))
        load(self, connection, table, columns, rows, **how)

    monkeypatch.setattr(BulkLoad, "load", counted)
    write(warehouse, day.assign(ratio=5.5), 2)

    assert sent == [("ashare_incoming", ROWS), ("fusion_wide_history", ROWS), ("fusion_wide", ROWS)]


def test_a_value_that_does_not_fit_is_refused_as_row_by_row(two: list[Warehouse]) -> None:
    """A LOAD would cut it off with a warning."""
    warehouse = two[0]
    day = frame(random.Random(2), range(ROWS)).assign(note="x" * 65)

    with pytest.raises(StorageError, match="Data too long"):
        write(warehouse, day, 1)

    assert warehouse.query("SELECT COUNT(*) FROM fusion_wide") == [(0,)]
    assert warehouse.query("SELECT COUNT(*) FROM sys_batch") == [(0,)]


def test_where_the_server_refuses_to_load_rows_are_written_all_the_same(
    clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from pymysql.constants import CLIENT

    monkeypatch.setattr(bulk_load, "FEW", 1)
    monkeypatch.setattr(CLIENT, "LOCAL_FILES", 0)
    caplog.set_level(logging.WARNING)
    day = frame(random.Random(3), range(ROWS))
    for url in mariadb_database(f"{__package__}.bulk"):
        warehouse = opened(url, clock, tmp_path)
        first, again = write(warehouse, day, 1), write(warehouse, day.assign(ratio=1.0), 2)
        warehouse.close()

    assert (first.rows_written, again.rows_in) == (ROWS, ROWS)
    assert len([one for one in caplog.records if "local_infile" in one.getMessage()]) == 1


def test_text_of_rows() -> None:
    rows = [("600001", 1.5, 7, True, None, "a\tb\n\\"), ("600002", None, None, False, "平安", "")]

    assert text_of(rows).decode() == "600001\t1.5\t7\t1\t\\N\ta\\tb\\n\\\\\n600002\t\\N\t\\N\t0\t平安\t\n"
