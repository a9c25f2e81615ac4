"""The contract of one batch, the same on both engines."""

from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from core.clock import ManualClock
from core.declaration.frames import coerce, rows
from core.declaration.tables import Table
from core.errors import ConflictError, LockLost, StorageError
from resources.fetch_record import Fetch, Outcome
from resources.warehouse import writer
from resources.warehouse.batch_records import Batch, Quality
from resources.warehouse.slices import Slice
from resources.warehouse.stored import ANY
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import Piece, WriteResult
from tests.warehouse.conftest import BARS, DAY, MEMBERS, QUOTES, bars


def write(warehouse: Warehouse, frame: pd.DataFrame, table: Table = BARS, **how: Any) -> WriteResult:
    how.setdefault("where", Slice.of_date("date", DAY))
    how.setdefault("batch", Batch(partition_key=DAY))
    return warehouse.writer.write(table, frame, **how)


def counters_hold(warehouse: Warehouse, name: str = "fusion_bars") -> None:
    """table_version equals what the specification promises: COUNT(*) and MAX(updated_at)."""
    version = warehouse.versions()[name]
    count, newest = warehouse.query(f"SELECT COUNT(*), MAX(updated_at) FROM {name}")[0]
    assert version["row_count"] == count
    assert version["updated_at"] == newest


def test_new_rows_are_written_with_their_batch(warehouse: Warehouse) -> None:
    result = write(warehouse, bars(c600001=10.0, c600002=20.5), public_at=[f"{DAY} 15:00:00.000000"] * 2)

    assert (result.rows_in, result.rows_written, result.rows_unchanged) == (2, 2, 0)
    row = warehouse.rows("fusion_bars", ANY.code == "600002")[0]
    assert (row["close"], row["volume"], row["halted"], row["quality"]) == (20.5, 100, False, "ok")
    assert row["valid_from"] == f"{DAY} 15:00:00.000000"
    assert row["batch_id"] == result.batch_id
    batch = warehouse.rows("sys_batch")[0]
    assert (batch["status"], batch["rows_written"], batch["partition_key"]) == ("success", 2, DAY)
    counters_hold(warehouse)


def test_the_same_content_again_touches_nothing(warehouse: Warehouse, clock: ManualClock) -> None:
    first = write(warehouse, bars(c600001=10.0))
    before = warehouse.rows("fusion_bars")
    clock.advance(timedelta(hours=1))

    again = write(warehouse, bars(c600001=10.0))

    assert (again.rows_written, again.rows_unchanged, again.content_hash) == (0, 1, first.content_hash)
    assert warehouse.rows("fusion_bars") == before
    assert warehouse.versions()["fusion_bars"]["confirmed_at"] == f"{DAY} 17:00:00.000000"
    assert again.version == first.version
    counters_hold(warehouse)


@pytest.mark.parametrize("trigger", ["schedule", "manual"])
def test_a_row_that_was_changed_by_hand_is_brought_back(warehouse: Warehouse, trigger: str) -> None:
    """Whatever loads its date next."""
    write(warehouse, bars(c600001=10.0, c600002=20.0))
    with warehouse.engine.begin() as connection:
        warehouse.sql.run(connection, "UPDATE fusion_bars SET close=? WHERE code=?", (99.0, "600001"))

    batch = Batch(partition_key=DAY, trigger=trigger)
    again = warehouse.writer.write(
        BARS, bars(c600001=10.0, c600002=20.0), where=Slice.of_date("date", DAY), batch=batch
    )

    assert (again.rows_written, again.rows_unchanged) == (1, 1)
    assert [row["close"] for row in warehouse.rows("fusion_bars", order=["code"])] == [10.0, 20.0]


def test_what_became_known_later_is_not_in_the_first_version(warehouse: Warehouse) -> None:
    """A backfill holds the day after; a read as of the evening before does not see it."""
    public = f"{DAY} 15:00:00.000000"

    def closes(as_of: str | None) -> list[float | None]:
        return [row["close"] for row in warehouse.rows("fusion_bars", columns=("close",), as_of=as_of)]

    first = write(warehouse, bars(c600001=10.0), public_at=[public], later=("close",))

    assert (first.rows_in, first.rows_written) == (1, 1)
    assert closes(f"{DAY} 14:59:59.000000") == []
    assert closes(public) == [None]
    assert closes(f"{DAY} 15:59:59.000000") == [None]
    assert closes(f"{DAY} 16:00:00.000000") == closes(None) == [10.0]
    counters_hold(warehouse)
    again = write(warehouse, bars(c600001=10.0), public_at=[public], later=("close",))
    assert (again.rows_written, again.rows_superseded) == (0, 0)
    assert closes(public) == [None]
    # Nothing to leave out: valid from when it was public.
    write(warehouse, bars(c600002=None), public_at=[public], later=("close",))
    assert warehouse.rows("fusion_bars", ANY.code == "600002")[0]["valid_from"] == public


def test_a_correction_makes_one_revision_that_as_of_can_see(warehouse: Warehouse, clock: ManualClock) -> None:
    write(warehouse, bars(c600001=10.0, c600002=20.0), public_at=[f"{DAY} 15:00:00.000000"] * 2)
    clock.at = datetime(2026, 8, 21, 9, 0)

    fixed = write(warehouse, bars(c600001=10.5, c600002=20.0))

    assert (fixed.rows_written, fixed.rows_superseded) == (1, 1)

    def close(as_of: str | None) -> list[float]:
        found = warehouse.rows("fusion_bars", ANY.code == "600001", columns=("close",), as_of=as_of)
        return [row["close"] for row in found]

    assert close(None) == [10.5]
    assert close("2026-08-21 08:59:59.000000") == [10.0]
    assert close("2026-08-21 09:00:00.000000") == [10.5]
    assert close(f"{DAY} 14:59:59.000000") == []
    old = warehouse.query("SELECT close, valid_to, superseded_by FROM fusion_bars_history")[0]
    assert old == (10.0, "2026-08-21 09:00:00.000000", fixed.batch_id)
    counters_hold(warehouse)


def test_a_backfill_is_visible_to_a_past_as_of(warehouse: Warehouse, clock: ManualClock) -> None:
    clock.at = datetime(2026, 9, 30, 12, 0)
    write(warehouse, bars(c600001=10.0), public_at=[f"{DAY} 15:00:00.000000"])

    found = warehouse.rows("fusion_bars", columns=("close",), as_of="2026-08-25 00:00:00.000000")

    assert [row["close"] for row in found] == [10.0]


def test_a_first_version_is_never_valid_from_after_its_batch(
    warehouse: Warehouse, clock: ManualClock
) -> None:
    write(warehouse, bars(c600001=10.0), public_at=["2027-01-01 00:00:00.000000"])

    assert warehouse.rows("fusion_bars")[0]["valid_from"] == "2026-08-20 16:00:00.000000"


def test_absence_deletes_nothing(warehouse: Warehouse) -> None:
    write(warehouse, bars(c600001=10.0, c600002=20.0))

    write(warehouse, bars(c600001=10.0))

    assert len(warehouse.rows("fusion_bars")) == 2


def test_replacing_a_slice_removes_what_is_gone(warehouse: Warehouse) -> None:
    members = pd.DataFrame({"block": ["gn", "gn"], "code": ["600001", "600002"]})
    write(warehouse, members, MEMBERS, where=Slice(), replace=True)

    result = write(warehouse, members.head(1), MEMBERS, where=Slice(), replace=True)

    assert (result.rows_removed, result.rows_unchanged) == (1, 1)
    assert [row["code"] for row in warehouse.rows("ref_members")] == ["600001"]
    counters_hold(warehouse, "ref_members")


def test_null_and_zero_and_quality_are_content(warehouse: Warehouse) -> None:
    write(warehouse, bars(c600001=None))
    assert write(warehouse, bars(c600001=None)).rows_written == 0
    assert write(warehouse, bars(c600001=0.0)).rows_written == 1

    flagged = bars(c600001=0.0).assign(quality="warning", quality_flags='["odd"]')

    assert write(warehouse, flagged).rows_warning == 1
    assert warehouse.rows("fusion_bars")[0]["quality_flags"] == '["odd"]'


def test_another_source_with_equal_values_makes_no_revision(warehouse: Warehouse) -> None:
    write(warehouse, bars(c600001=10.0))

    result = write(warehouse, bars(c600001=10.0).assign(src="tencent", provenance='{"tencent":["close"]}'))

    assert result.rows_unchanged == 1
    assert warehouse.rows("fusion_bars")[0]["src"] == "tdx"


def test_a_warning_of_a_worse_source_does_not_replace_an_ok_row(warehouse: Warehouse) -> None:
    rank = {"tdx": 0, "tencent": 1}
    write(warehouse, bars(c600001=10.0), source_rank=rank)
    worse = bars(c600001=11.0).assign(src="tencent", quality="warning")

    kept = write(warehouse, worse, source_rank=rank)
    taken = write(warehouse, worse.assign(src="tdx"), source_rank=rank)

    assert (kept.rows_written, taken.rows_written) == (0, 1)
    assert warehouse.rows("fusion_bars")[0]["close"] == 11.0


def test_provenance_is_stored_once_per_pattern(warehouse: Warehouse) -> None:
    pattern = '{"tencent":["volume"]}'

    write(warehouse, bars(c600001=1.0, c600002=2.0).assign(provenance=[pattern, pattern]))

    stored = warehouse.query("SELECT id, pattern FROM sys_provenance")
    assert [text for _, text in stored] == [pattern]
    assert {row["provenance"] for row in warehouse.rows("fusion_bars")} == {stored[0][0]}


def test_fetches_and_quality_records_commit_with_the_batch(warehouse: Warehouse) -> None:
    fetch = Fetch(
        upstream="tdx",
        call_name="quotes",
        request="tdx://quotes?symbols=sh600001",
        outcome=Outcome.OK,
        body=b"\x01\x02" * 100,
        received_at=datetime(2026, 8, 20, 15, 59),
    )
    failing = [Quality("c", "hard", "rejected", natural_key=str(i)) for i in range(250)]

    result = write(
        warehouse, bars(c600001=1.0), fetches=[fetch], rejected=250,
        quality=[*failing, Quality("c", "hard", "rejected", failed_count=250)],
    )  # fmt: skip

    stored = warehouse.rows("sys_fetch")[0]
    assert (stored["batch_id"], stored["sha256"], stored["byte_count"]) == (
        result.batch_id,
        fetch.sha256,
        200,
    )
    assert warehouse.payloads.get(stored["body_path"]) == fetch.body
    records = warehouse.rows("sys_quality_record", order=["id"])
    assert len(records) == 201
    assert records[-1]["failed_count"] == 250
    assert (result.rows_in, result.rows_rejected) == (251, 250)


def test_a_failing_write_leaves_nothing_behind(warehouse: Warehouse) -> None:
    twice = pd.concat([bars(c600001=1.0), bars(c600001=2.0)])

    with pytest.raises(StorageError, match="twice"):
        write(warehouse, twice)

    assert warehouse.rows("fusion_bars") == []
    assert warehouse.rows("sys_batch") == []
    assert warehouse.versions()["fusion_bars"]["row_count"] == 0


def test_raw_rows_are_replaced_in_place_per_source(warehouse: Warehouse) -> None:
    rows = pd.DataFrame(
        {"code": ["600001"] * 2, "date": [DAY] * 2, "src": ["tdx", "tencent"], "price": [1.0, 1.1]}
    )
    write(warehouse, rows.assign(payload="{}"), QUOTES)

    write(warehouse, rows.assign(price=[1.0, 1.2], payload="{}"), QUOTES)

    assert {row["src"]: row["price"] for row in warehouse.rows("raw_quotes")} == {"tdx": 1.0, "tencent": 1.2}


def test_an_owner_that_lost_its_lease_writes_nothing(warehouse: Warehouse) -> None:
    lease = warehouse.locks.take(("kline",), "first")
    with warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sys_domain_lock SET expires_at=0")
    warehouse.locks.take(("kline", "daily"), "second")

    with pytest.raises(LockLost):
        write(warehouse, bars(c600001=1.0), lease=lease)

    assert warehouse.rows("fusion_bars") == []


def test_leases_are_all_or_nothing(warehouse: Warehouse) -> None:
    with warehouse.locks.held(("daily",), "somebody"):
        with pytest.raises(ConflictError, match="daily is held by somebody"):
            warehouse.locks.take(("kline", "daily", "wide"), "full fusion")
        assert {s.domain for s in warehouse.locks.states() if s.held} == {"daily"}

    assert not any(state.held for state in warehouse.locks.states())


def test_migration_is_idempotent_and_adds_what_a_declaration_gained(warehouse: Warehouse) -> None:
    from core.declaration.columns import columns_from

    assert warehouse.migrate() == []
    wider = Table(
        BARS.name, BARS.layer, (*BARS.columns, *columns_from("extra:px")), BARS.key, date_column="date"
    )
    again = Warehouse(
        warehouse.url,
        (wider, QUOTES, MEMBERS),
        clock=warehouse.clock,
        payload_folder=warehouse.payloads._folder,
    )
    write(warehouse, bars(c600001=1.0))

    added = again.migrate()

    assert added == ["fusion_bars.extra", "fusion_bars_history.extra"]
    assert again.rows("fusion_bars")[0]["extra"] is None
    again.close()


def piece(day: str, batch_id: str, **closes: float) -> Piece:
    frame = bars(day, **closes)
    return Piece(frame, Slice.of_date("date", day), Batch(partition_key=day, batch_id=batch_id), rejected=1)


def test_many_dates_in_one_transaction_are_a_batch_each(warehouse: Warehouse, clock: ManualClock) -> None:
    days = ("2026-08-18", "2026-08-19", DAY)
    first = warehouse.writer.write_all(
        BARS, [piece(day, f"{at}" * 32, c600001=10.0 + at, c600002=20.0) for at, day in enumerate(days)]
    )
    clock.advance(timedelta(hours=1))
    second = warehouse.writer.write_all(
        BARS, [piece(day, f"{at + 3}" * 32, c600001=10.0, c600002=20.0) for at, day in enumerate(days)]
    )

    assert [item.partition_key for item in first] == list(days)
    assert [item.version for item in first] == [first[0].version + at for at in range(3)]
    assert [(item.rows_in, item.rows_written, item.rows_unchanged) for item in second] == [
        (3, 0, 2),
        (3, 1, 1),
        (3, 1, 1),
    ]
    rows = warehouse.rows("fusion_bars", order=["date", "code"])
    assert [(row["date"], row["close"]) for row in rows] == [
        (day, close) for day in days for close in (10.0, 20.0)
    ]
    assert [row["batch_id"][0] for row in rows] == ["0", "0", "4", "1", "5", "2"]
    assert len(warehouse.rows("sys_batch", ANY.status == "success")) == 6
    counters_hold(warehouse)


def test_many_frames_are_converted_at_once_and_as_each_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["date", "code", "close", "volume"]
    frames = [
        pd.DataFrame([(DAY, "600001", 10.0 + at, at), (DAY, "600002", None, 7)], columns=names)
        for at in range(50)
    ]
    frames[7] = frames[7].iloc[:0]
    frames[9]["volume"] = [1.5, None]  # whole numbers elsewhere
    frames[11]["close"] = ["10.25", "nonsense"]
    single = [rows(coerce(frame, BARS.all_columns)[0], BARS.names) for frame in frames]
    asked: list[int] = []

    def counted(frame: pd.DataFrame, columns: Any) -> Any:
        asked.append(len(frame))
        return coerce(frame, columns)

    monkeypatch.setattr(writer, "coerce", counted)
    assert writer.incoming_of(BARS, frames) == single
    assert len(asked) <= 3
    kinds = {type(value) for frame in writer.incoming_of(BARS, frames) for row in frame for value in row}
    assert kinds <= {str, int, float, bool, type(None)}


def test_two_batches_of_one_transaction_with_the_same_key_write_nothing(warehouse: Warehouse) -> None:
    twice = [piece(DAY, "a" * 32, c600001=10.0), piece(DAY, "b" * 32, c600001=11.0)]

    with pytest.raises(StorageError, match="same key"):
        warehouse.writer.write_all(BARS, twice)

    assert warehouse.rows("fusion_bars") == []
    assert warehouse.rows("sys_batch") == []
