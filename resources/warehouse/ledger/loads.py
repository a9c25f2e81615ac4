"""Loads of trade dates, from the batches and responses of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from resources.warehouse.sql import marks

Run = Callable[[str, Sequence[Any]], Sequence[Sequence[Any]]]
"""Runs a SELECT with `?` marks."""

_DAY = "partition_key LIKE '____-__-__'"
"""A batch of one trade date; the parent of a range is named `first..last`."""
RECENT_LOADS = 20
_OF_CODES = ("download", "fusion_codes")
"""Origins of batches that hold requested codes only, not the market."""


@dataclass(frozen=True)
class Tried:
    """The batches of one trade date: rows of the fullest successful one (None: none), failed ones, and the
    run of the newest failed one."""

    rows: int | None
    failed: int
    run_id: str | None = None


@dataclass(frozen=True)
class Load:
    """One recorded load of a table: its partition key, and its responses by upstream."""

    partition_key: str
    calls: dict[str, int]


def first_success(run: Run, table: str) -> str | None:
    """The oldest trade date that was ever loaded."""
    found = run(
        f"SELECT MIN(partition_key) FROM sys_batch WHERE table_name=? AND status='success' AND {_DAY}",
        (table,),
    )[0][0]
    return None if found is None else str(found)


def tried(run: Run, table: str, since: str, until: str) -> dict[str, Tried]:
    """Trade date -> the attempts to load it; dates without an attempt are left out."""
    rows = run(
        "SELECT partition_key, MAX(CASE WHEN status='success' THEN "
        "COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) END), "
        "SUM(CASE WHEN status='failed' THEN 1 ELSE 0 END), MAX(CASE WHEN status='failed' THEN run_id END) "
        f"FROM sys_batch WHERE table_name=? AND partition_key>=? AND partition_key<=? AND {_DAY} "
        "GROUP BY partition_key",
        (table, since, until),
    )
    return {
        str(day): Tried(None if best is None else int(best), int(failed or 0), run_id)
        for day, best, failed, run_id in rows
    }


def loaded_days(run: Run, tables: Sequence[str], since: str, until: str) -> frozenset[str]:
    """The trade dates of the market as a whole that were loaded into one of the tables."""
    rows = run(
        f"SELECT DISTINCT partition_key FROM sys_batch WHERE table_name IN ({marks(tables)}) "
        f"AND partition_key>=? AND partition_key<=? AND {_DAY} AND status='success' "
        "AND COALESCE(trigger_ref, '') NOT IN (?, ?)",
        (*tables, since, until, *_OF_CODES),
    )
    return frozenset(str(day) for (day,) in rows)


def written_last(
    run: Run, tables: Sequence[str], since: str, until: str, *, changed: bool = False, whole: bool = False
) -> dict[str, str]:
    """Trade date -> end of the newest successful batch of it in one of the tables. `changed`: of those that
    wrote or withdrew rows; `whole`: of those of the market, not of single codes."""
    more = " AND (COALESCE(rows_written, 0) > 0 OR COALESCE(rows_superseded, 0) > 0)" if changed else ""
    values = [*tables, since, until]
    if whole:
        more += " AND COALESCE(trigger_ref, '') NOT IN (?, ?)"
        values += _OF_CODES
    rows = run(
        f"SELECT partition_key, MAX(finished_at) FROM sys_batch WHERE table_name IN ({marks(tables)}) "
        f"AND partition_key>=? AND partition_key<=? AND {_DAY} AND status='success'{more} "
        "GROUP BY partition_key",
        values,
    )
    return {str(day): str(at) for day, at in rows if at is not None}


def recent_loads(run: Run, table: str) -> list[Load]:
    """The newest successful loads of a table that have responses of their own."""
    batches = run(
        "SELECT batch_id, partition_key FROM sys_batch b WHERE table_name=? AND status='success' "
        "AND parent_batch_id IS NULL AND COALESCE(trigger_ref, '') NOT IN (?, ?) "
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
