"""Loads of trade dates, from the batches and responses of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from resources.warehouse.records import record
from resources.warehouse.sql import marks

Run = Callable[[str, Sequence[Any]], Sequence[Sequence[Any]]]
"""Runs a SELECT with `?` marks."""

_DAY = "partition_key LIKE '____-__-__'"
"""A batch of one trade date; the parent of a range is named `first..last`."""
RECENT_LOADS = 20
NOT_LOADED = "not_loaded"
"""Check of a batch whose rows lack columns, since a table that these need is not loaded of the date."""
CODE_HISTORY = "code_history"
"""The job that loads what belongs to some codes, from a first day on."""
_OF_CODES = ("download", "fusion_codes", CODE_HISTORY)
"""Origins of batches that hold requested codes only, not the market."""


@dataclass(frozen=True)
class Tried:
    """The batches of one trade date: rows of the fullest successful one (None: none), failed ones, the run of
    the newest failed one, and rows of the fullest one that lacks a part of the table."""

    rows: int | None
    failed: int
    run_id: str | None = None
    partial: int | None = None


@dataclass(frozen=True)
class WholeBatch:
    """A batch that wrote a trade date of the market as a whole. `status`: success, or partial."""

    batch_id: str
    table: str
    partition_key: str
    status: str


@dataclass(frozen=True)
class Load:
    """One recorded load of a table: its partition key, and its responses by upstream."""

    partition_key: str
    calls: dict[str, int]


def first_success(run: Run, table: str) -> str | None:
    """The oldest trade date that was ever loaded, if only in part."""
    found = run(
        "SELECT MIN(partition_key) FROM sys_batch WHERE table_name=? AND status IN ('success', 'partial') "
        f"AND {_DAY}",
        (table,),
    )[0][0]
    return None if found is None else str(found)


def tried(run: Run, table: str, since: str, until: str) -> dict[str, Tried]:
    """Trade date -> the attempts to load it; dates without an attempt are left out."""
    rows = run(
        "SELECT partition_key, MAX(CASE WHEN status='success' THEN "
        "COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) END), "
        "SUM(CASE WHEN status='failed' THEN 1 ELSE 0 END), "
        "MAX(CASE WHEN status IN ('failed', 'partial') THEN run_id END), MAX(CASE WHEN status='partial' THEN "
        "COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) END) "
        f"FROM sys_batch WHERE table_name=? AND partition_key>=? AND partition_key<=? AND {_DAY} "
        "GROUP BY partition_key",
        (table, since, until),
    )
    return {
        str(day): Tried(
            None if best is None else int(best),
            int(failed or 0),
            run_id,
            None if partial is None else int(partial),
        )
        for day, best, failed, run_id, partial in rows
    }


def whole_batches(run: Run, tables: Sequence[str], since: str, until: str) -> list[WholeBatch]:
    """The batches that wrote trade dates of the market as a whole into the tables."""
    rows = run(
        f"SELECT batch_id, table_name, partition_key, status FROM sys_batch WHERE table_name IN "
        f"({marks(tables)}) AND partition_key>=? AND partition_key<=? AND {_DAY} "
        f"AND status IN ('success', 'partial') AND COALESCE(trigger_ref, '') NOT IN ({marks(_OF_CODES)})",
        (*tables, since, until, *_OF_CODES),
    )
    return [record(WholeBatch, row) for row in rows]


def first_loads(
    run: Run, tables: Sequence[str], since: str, until: str, *, whole: bool = True
) -> dict[str, dict[str, str]]:
    """Table -> trade date -> end of the oldest batch of it that is known; `whole`: of those of the market,
    not of single codes."""
    more = f" AND COALESCE(trigger_ref, '') NOT IN ({marks(_OF_CODES)})" if whole else ""
    rows = run(
        f"SELECT table_name, partition_key, MIN(finished_at) FROM sys_batch WHERE table_name IN "
        f"({marks(tables)}) AND partition_key>=? AND partition_key<=? AND {_DAY} "
        f"AND status IN ('success', 'partial'){more} GROUP BY table_name, partition_key",
        (*tables, since, until, *(_OF_CODES if whole else ())),
    )
    found: dict[str, dict[str, str]] = {table: {} for table in tables}
    for table, day, at in rows:
        found[str(table)][str(day)] = str(at)
    return found


def loaded_days(run: Run, tables: Sequence[str], since: str, until: str) -> frozenset[str]:
    """The trade dates of the market as a whole that were loaded into one of the tables."""
    batches = whole_batches(run, tables, since, until)
    return frozenset(one.partition_key for one in batches if one.status == "success")


def newest_complete_day(run: Run, table: str, column: str, before: str) -> str | None:
    """The newest day before another one in a column of a table, without dates that lack a part of it.
    `column` as the engine quotes it."""
    lacking: frozenset[str] | None = None
    while True:
        found = run(f"SELECT MAX({column}) FROM {table} WHERE {column} < ?", (before,))[0][0]
        if found is None:
            return None
        day = str(found)[:10]
        if lacking is None:
            lacking = _incomplete(run, table)
        if day not in lacking:
            return day
        before = day


def _incomplete(run: Run, table: str) -> frozenset[str]:
    """The dates that were only ever loaded without a part of the table."""
    rows = run(
        f"SELECT partition_key FROM sys_batch WHERE table_name=? AND {_DAY} "
        "AND status IN ('success', 'partial') GROUP BY partition_key "
        "HAVING SUM(CASE WHEN status='success' THEN 1 ELSE 0 END)=0",
        (table,),
    )
    return frozenset(str(day) for (day,) in rows)


def lacking_a_table(run: Run, table: str, since: str, until: str) -> frozenset[tuple[str, str]]:
    """(trade date, end) of the batches whose rows lack columns because of a table that is not loaded."""
    rows = run(
        "SELECT DISTINCT b.partition_key, b.finished_at FROM sys_quality_record q "
        "JOIN sys_batch b ON b.batch_id=q.batch_id "
        "WHERE q.table_name=? AND q.check_name=? AND q.partition_key>=? AND q.partition_key<=?",
        (table, NOT_LOADED, since, until),
    )
    return frozenset((str(day), str(at)) for day, at in rows)


def written_last(
    run: Run, tables: Sequence[str], since: str, until: str, *, changed: bool = False, whole: bool = False
) -> dict[str, str]:
    """Trade date -> end of the newest successful batch of it in one of the tables. `changed`: of those that
    wrote or withdrew rows, also in part; `whole`: of those of the market, not of single codes."""
    more = " AND (COALESCE(rows_written, 0) > 0 OR COALESCE(rows_superseded, 0) > 0)" if changed else ""
    done = "'success', 'partial'" if changed else "'success'"
    values = [*tables, since, until]
    if whole:
        more += f" AND COALESCE(trigger_ref, '') NOT IN ({marks(_OF_CODES)})"
        values += _OF_CODES
    rows = run(
        f"SELECT partition_key, MAX(finished_at) FROM sys_batch WHERE table_name IN ({marks(tables)}) "
        f"AND partition_key>=? AND partition_key<=? AND {_DAY} AND status IN ({done}){more} "
        "GROUP BY partition_key",
        values,
    )
    return {str(day): str(at) for day, at in rows if at is not None}


def recent_loads(run: Run, table: str) -> list[Load]:
    """The newest successful loads of a table that have responses of their own."""
    batches = run(
        "SELECT batch_id, partition_key FROM sys_batch b WHERE table_name=? AND status='success' "
        f"AND parent_batch_id IS NULL AND COALESCE(trigger_ref, '') NOT IN ({marks(_OF_CODES)}) "
        "AND EXISTS (SELECT 1 FROM sys_fetch f WHERE f.batch_id=b.batch_id) "
        "ORDER BY started_at DESC LIMIT ?",
        (table, *_OF_CODES, RECENT_LOADS),
    )
    calls = _calls(run, [str(batch_id) for batch_id, _ in batches])
    return [Load(str(key), calls.get(str(batch_id), {})) for batch_id, key in batches]


def _calls(run: Run, batches: Sequence[str]) -> dict[str, dict[str, int]]:
    if not batches:
        return {}
    rows = run(
        "SELECT batch_id, upstream, COUNT(*) FROM sys_fetch "
        f"WHERE batch_id IN ({marks(batches)}) GROUP BY batch_id, upstream",
        tuple(batches),
    )
    found: dict[str, dict[str, Any]] = {}
    for batch_id, upstream, count in rows:
        found.setdefault(str(batch_id), {})[str(upstream)] = int(count)
    return found
