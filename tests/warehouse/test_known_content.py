"""What a schedule's run takes from the ledger of batches: the same results as a comparison of every row."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.clock import ManualClock
from resources.warehouse import known_content, writer
from resources.warehouse.batch_records import Batch
from resources.warehouse.column_retention import ColumnRetention
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import Piece, WriteResult
from tests.warehouse.conftest import BARS, DAY, bars

DAYS = ("2026-08-18", "2026-08-19", DAY)
CODES = ("c600001", "c600002", "c600003")
Opened = Callable[[], Warehouse]


@pytest.fixture(autouse=True)
def _few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_BY_HASH", 1)


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each slice whose stored rows are compared."""
    compared: list[str] = []
    stored = writer.Comparison.stored

    def counted(self: Any, connection: Any, table: Any, where: Slice, *args: Any, **how: Any) -> Any:
        compared.append(str(where.since))
        return stored(self, connection, table, where, *args, **how)

    monkeypatch.setattr(writer.Comparison, "stored", counted)
    return compared


def write(
    warehouse: Warehouse, day: str, frame: pd.DataFrame, trigger: str = "schedule", **how: Any
) -> WriteResult:
    where = how.pop("where", Slice.of_date("date", day))
    return warehouse.writer.write(
        BARS, frame, where=where, batch=Batch(partition_key=day, trigger=trigger), **how
    )


def closes(warehouse: Warehouse) -> dict[tuple[str, str], float]:
    return {(row["code"], row["date"]): row["close"] for row in warehouse.rows("fusion_bars")}


def test_the_same_rows_again_are_not_compared(warehouse: Warehouse, comparisons: list[str]) -> None:
    first = write(warehouse, DAY, bars(c600001=10.0, c600002=20.0))
    comparisons.clear()

    again = write(warehouse, DAY, bars(c600002=20.0, c600001=10.0))

    assert comparisons == []
    assert (again.rows_unchanged, again.rows_written) == (2, 0)
    assert (again.content_hash, again.version) == (first.content_hash, first.version)
    ours = warehouse.rows("sys_batch", where="batch_id=?", values=(again.batch_id,))[0]
    assert (ours["version_before"], ours["version_after"]) == (first.version, first.version)
    assert (ours["only_date"], ours["content_hash"], ours["status"]) == (DAY, first.content_hash, "success")


def test_other_dates_written_since_do_not_matter(warehouse: Warehouse, comparisons: list[str]) -> None:
    write(warehouse, DAYS[0], bars(DAYS[0], c600001=10.0))
    pieces = [
        Piece(bars(day, c600001=11.0), Slice.of_date("date", day), Batch(partition_key=day))
        for day in DAYS[1:]
    ]
    warehouse.writer.write_all(BARS, pieces)
    comparisons.clear()

    assert write(warehouse, DAYS[0], bars(DAYS[0], c600001=10.0)).rows_unchanged == 1
    assert comparisons == []


def _by_codes(warehouse: Warehouse) -> None:
    frame = pd.concat([bars(DAYS[1], c600001=12.0), bars(DAY, c600001=12.0)])
    write(warehouse, "codes", frame, where=Slice.of_codes(["600001"]))


def _lost_in_the_ledger(warehouse: Warehouse) -> None:
    write(warehouse, DAYS[0], bars(DAYS[0], c600001=10.5))
    with warehouse.engine.begin() as connection:
        warehouse.sql.run(connection, "DELETE FROM sys_batch WHERE partition_key=?", (DAYS[0],))


def _cleared(warehouse: Warehouse) -> None:
    clock = ManualClock(datetime(2026, 8, 20, 17, 0))
    assert ColumnRetention(warehouse.engine, clock).clear(BARS, "close", [DAY], {}) == 1


def _deleted_by_hand(warehouse: Warehouse) -> None:
    with warehouse.engine.begin() as connection:
        warehouse.sql.run(connection, "DELETE FROM fusion_bars WHERE date=?", (DAY,))


@pytest.mark.parametrize("change", [_by_codes, _lost_in_the_ledger, _cleared, _deleted_by_hand])
def test_after_a_change_that_may_be_of_the_date_rows_are_compared(
    warehouse: Warehouse, comparisons: list[str], change: Callable[[Warehouse], None]
) -> None:
    write(warehouse, DAY, bars(c600001=10.0))
    change(warehouse)
    comparisons.clear()

    write(warehouse, DAY, bars(c600001=10.0))

    assert comparisons == [DAY]
    assert closes(warehouse)["600001", DAY] == 10.0


def test_what_a_person_asks_for_is_compared_and_brought_back(warehouse: Warehouse) -> None:
    write(warehouse, DAY, bars(c600001=10.0))
    with warehouse.engine.begin() as connection:
        warehouse.sql.run(connection, "UPDATE fusion_bars SET close=?", (99.0,))

    assert write(warehouse, DAY, bars(c600001=10.0), "manual").rows_written == 1
    assert closes(warehouse) == {("600001", DAY): 10.0}


def test_a_batch_of_some_rows_does_not_speak_for_all(warehouse: Warehouse) -> None:
    """Its hash is that of the whole date, so as many rows of another choice have another one."""
    write(warehouse, DAY, bars(c600001=10.0, c600002=20.0))
    write(warehouse, DAY, bars(c600001=10.0))

    kept = write(warehouse, DAY, bars(c600001=10.0), replace=True)

    assert (kept.rows_removed, list(closes(warehouse))) == (1, [("600001", DAY)])


def test_far_behind_rows_are_compared(
    warehouse: Warehouse, comparisons: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_content, "MOST_VERSIONS", 1)
    write(warehouse, DAYS[0], bars(DAYS[0], c600001=10.0))
    for day in DAYS[1:]:
        write(warehouse, day, bars(day, c600001=10.0))
    comparisons.clear()

    write(warehouse, DAYS[0], bars(DAYS[0], c600001=10.0))

    assert comparisons == [DAYS[0]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    made: list[Warehouse] = []

    def fresh() -> Warehouse:
        url = f"sqlite:///{tmp_path / f'{len(made)}.sqlite3'}"
        clock = ManualClock(datetime(2026, 8, 20, 16, 0))
        made.append(Warehouse(url, (BARS,), clock=clock, payload_folder=tmp_path / "payloads"))
        made[-1].migrate()
        return made[-1]

    yield fresh
    for one in made:
        one.close()


_frames = st.dictionaries(st.sampled_from(CODES), st.sampled_from([1.0, 2.0]), min_size=1)
_of_date = st.tuples(st.sampled_from(DAYS), _frames, st.booleans())
_closes = st.dictionaries(st.sampled_from(DAYS), st.sampled_from([1.0, 2.0]), min_size=1)
_of_code = st.tuples(st.just("codes"), _closes, st.booleans())
Step = tuple[str, dict[str, float], bool]


def _do(warehouse: Warehouse, step: Step, trigger: str) -> tuple[Any, ...]:
    key, values, replace = step
    if key == "codes":
        frame = pd.concat([bars(day, c600001=close) for day, close in values.items()], ignore_index=True)
        done = write(warehouse, key, frame, trigger, where=Slice.of_codes(["600001"]), replace=replace)
    else:
        done = write(warehouse, key, bars(key, **values), trigger, replace=replace)
    return (
        done.rows_in, done.rows_written, done.rows_unchanged, done.rows_removed, done.rows_superseded,
        done.content_hash, done.version,
    )  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_of_date | _of_code, min_size=2, max_size=12))
def test_both_ways_end_alike(opened: Opened, steps: Sequence[Step]) -> None:
    by_schedule, by_hand = opened(), opened()

    for step in steps:
        assert _do(by_schedule, step, "schedule") == _do(by_hand, step, "manual")
    assert closes(by_schedule) == closes(by_hand)
