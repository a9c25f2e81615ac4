"""The difference between a frame and the stored rows of a slice: what a batch has to do.

Pure: rows in, rows out. Equal content is left alone, changed rows name their old version for the
history, absent rows are removed only when the caller replaces the slice.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from platform_assets.declaration.frames import rows
from platform_assets.declaration.tables import Layer, Table
from resources.errors import StorageError

Row = tuple[Any, ...]


def pattern_id(pattern: str) -> int:
    """63 bits of the hash of a provenance pattern's canonical JSON; equal on every machine."""
    return int.from_bytes(hashlib.sha256(pattern.encode()).digest()[:8], "big") >> 1


@dataclass
class Plan:
    """The difference between a frame and the stored slice, as rows ready for the driver."""

    rows_in: int = 0
    warnings: int = 0
    added: int = 0
    written: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    patterns: dict[int, str] = field(default_factory=dict)
    latest_date: str | None = None
    content_hash: str = ""

    @classmethod
    def make(
        cls,
        *,
        table: Table,
        frame: pd.DataFrame,
        stored: list[Row],
        batch_id: str,
        now: str,
        public_at: Sequence[str | None] | None,
        source_rank: Mapping[str, int],
        replace: bool,
        provenance: Sequence[Any] | None,
    ) -> "Plan":
        plan = cls(rows_in=len(frame))
        names = table.names
        at = {name: i for i, name in enumerate(names)}
        key_at = [at[name] for name in table.key]
        content_at = [at[name] for name in table.content]
        if table.layer is Layer.RAW and "payload" in at:
            content_at.append(at["payload"])
        pick_key = _picker(key_at)
        pick_content = _picker(content_at)
        old = {pick_key(row): row for row in stored}
        hashed = {k: pick_content(row) for k, row in old.items()} if not replace else {}
        seen: set[Any] = set()
        incoming = rows(frame, names)
        order = sorted(range(len(incoming)), key=lambda i: _sortable(pick_key(incoming[i])))
        for i in order:
            row = list(incoming[i])
            if "quality" in at and row[at["quality"]] is None:
                row[at["quality"]] = "ok"
            row_key = pick_key(row)
            if row_key in seen:
                raise StorageError(f"{table.name}: the key {row_key} occurs twice in one batch")
            seen.add(row_key)
            before = old.get(row_key)
            if before is not None and (
                pick_content(row) == pick_content(before) or _outranked(row, before, at, source_rank)
            ):
                hashed[row_key] = pick_content(before)
                plan._count(before, at)
                continue
            hashed[row_key] = pick_content(row)
            plan._stamp(
                row,
                before,
                at,
                batch_id=batch_id,
                now=now,
                public_at=public_at[i] if public_at else None,
                versioned=table.has_history,
            )
            if provenance is not None and "provenance" in at:
                plan._provenance(row, at, provenance[i])
            plan._count(row, at)
            if before is None:
                plan.added += 1
            elif table.has_history:
                plan.history.append((*before, row[at["valid_from"]], batch_id))
            plan.written.append(tuple(row))
        if replace:
            plan.removed = [k if isinstance(k, tuple) else (k,) for k in old if k not in seen]
        if table.date_column:
            dates = [row[at[table.date_column]] for row in plan.written if row[at[table.date_column]]]
            plan.latest_date = max(dates)[:10] if dates else None
        plan.content_hash = _hash(hashed)
        return plan

    def _count(self, row: Sequence[Any], at: Mapping[str, int]) -> None:
        if "quality" in at and row[at["quality"]] == "warning":
            self.warnings += 1

    @staticmethod
    def _stamp(
        row: list[Any],
        before: Row | None,
        at: Mapping[str, int],
        *,
        batch_id: str,
        now: str,
        public_at: str | None,
        versioned: bool,
    ) -> None:
        """Audit values of a row that will be written."""
        for name in ("imported_at", "updated_at"):
            if name in at:
                row[at[name]] = now
        if "batch_id" in at:
            row[at["batch_id"]] = batch_id
        if "created_at" in at:
            row[at["created_at"]] = now if before is None else before[at["created_at"]]
        # A reference table may have a `valid_from` of its own, which is content.
        if versioned:
            if before is None:
                # A first version is valid from when it was public, never from after it was known to us.
                row[at["valid_from"]] = min(public_at, now) if public_at else now
            else:
                row[at["valid_from"]] = max(now, before[at["valid_from"]])

    def _provenance(self, row: list[Any], at: Mapping[str, int], pattern: Any) -> None:
        if isinstance(pattern, str):
            number = pattern_id(pattern)
            self.patterns[number] = pattern
            row[at["provenance"]] = number
        else:
            row[at["provenance"]] = None


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
    return lambda row: tuple(row[i] for i in places)


def _sortable(key: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(str(part) for part in key)


def _outranked(row: Sequence[Any], before: Row, at: Mapping[str, int], rank: Mapping[str, int]) -> bool:
    """A stored ok row stands against a warning row of a worse source."""
    if not rank or "quality" not in at:
        return False
    if before[at["quality"]] != "ok" or row[at["quality"]] != "warning":
        return False
    worst = len(rank)
    return rank.get(str(row[at["src"]]), worst) > rank.get(str(before[at["src"]]), worst)


def _hash(content: Mapping[tuple[Any, ...], tuple[Any, ...]]) -> str:
    digest = hashlib.sha256()
    for key in sorted(content, key=_sortable):
        digest.update(repr((key, content[key])).encode())
    return digest.hexdigest()
