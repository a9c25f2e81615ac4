"""The difference between a frame and the stored rows of a slice: what a batch has to do.

Pure: rows in, rows out. Equal content is left alone, changed rows name their old version for the
history, absent rows are removed only when the caller replaces the slice, and stay in the history too.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import orjson

from core.declaration.tables import Layer, Table
from core.errors import StorageError

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
    months: set[str] = field(default_factory=set)
    """Months with a row that is written, superseded or removed (`Table.month_of`)."""

    @classmethod
    def make(
        cls,
        *,
        table: Table,
        incoming: Sequence[Row],
        stored: list[Row],
        batch_id: str,
        now: str,
        public_at: Sequence[str | None] | None,
        source_rank: Mapping[str, int],
        replace: bool,
        provenance: Sequence[Any] | None,
        later: Sequence[str] = (),
        later_rows: Sequence[bool] | None = None,
        equal: Container[Row] = (),
    ) -> "Plan":
        """`stored` are the stored rows of the slice; those whose keys are in `equal` may be missing: the
        incoming row has the same content."""
        plan = cls(rows_in=len(incoming))
        names = table.names
        at = {name: i for i, name in enumerate(names)}
        pick_key = picker([at[name] for name in table.key])
        pick_content = picker([at[name] for name in compared(table)])
        old = {pick_key(row): row for row in stored}
        incoming = _with_quality(incoming, at.get("quality"))
        keys = [pick_key(row) for row in incoming]
        hashed = {} if replace else {key: pick_content(row) for key, row in old.items()}
        place_of = {key: i for i, key in enumerate(keys)}
        if len(place_of) < len(keys):
            raise StorageError(f"{table.name}: the key {_repeated(keys)} occurs twice in one batch")
        stamps = _Stamps.make(table, at, batch_id=batch_id, now=now)
        for key in _in_order(keys):
            i = place_of[key]
            found = incoming[i]
            content = pick_content(found)
            before = old.get(key)
            if key in equal:
                hashed[key] = content
                plan._count(found, at)
                continue
            if before is not None:
                known = pick_content(before)
                if content == known or _outranked(found, before, at, source_rank):
                    hashed[key] = known
                    plan._count(before, at)
                    continue
            hashed[key] = content
            row = stamps.stamped(found, before, public_at[i] if public_at else None)
            if provenance is not None and "provenance" in at:
                plan._provenance(row, at, provenance[i])
            plan._count(row, at)
            if before is None:
                plan.added += 1
                if later and (later_rows is None or later_rows[i]):
                    plan._keep_without(row, at, later, now=now, batch_id=batch_id)
            elif table.has_history:
                plan.history.append((*before, row[at["valid_from"]], batch_id))
            plan.written.append(tuple(row))
        if replace:
            plan.removed = [key for key in old if key not in place_of]
            plan.history += [(*old[key], now, batch_id) for key in plan.removed if table.has_history]
        if table.published:
            plan.months = _months(table, plan, old, pick_key)
        if table.date_column:
            dates = [row[at[table.date_column]] for row in plan.written if row[at[table.date_column]]]
            plan.latest_date = max(dates)[:10] if dates else None
        plan.content_hash = _hash(hashed)
        return plan

    @property
    def changes(self) -> bool:
        """Whether a row is written or removed."""
        return bool(self.written or self.removed)

    def _count(self, row: Sequence[Any], at: Mapping[str, int]) -> None:
        if "quality" in at and row[at["quality"]] == "warning":
            self.warnings += 1

    def _keep_without(
        self, row: list[Any], at: Mapping[str, int], later: Sequence[str], *, now: str, batch_id: str
    ) -> None:
        """A first version that holds columns of a `later` day: when it was published it had none of them, so
        that version stays, and the whole row is valid from now."""
        known = [at[name] for name in later if row[at[name]] is not None]
        if not known or row[at["valid_from"]] >= now:
            return
        first = list(row)
        for place in known:
            first[place] = None
        self.history.append((*first, now, batch_id))
        row[at["valid_from"]] = now

    def _provenance(self, row: list[Any], at: Mapping[str, int], pattern: Any) -> None:
        if isinstance(pattern, str):
            number = pattern_id(pattern)
            self.patterns[number] = pattern
            row[at["provenance"]] = number
        else:
            row[at["provenance"]] = None


@dataclass(frozen=True)
class _Stamps:
    """Audit values of the rows that a batch writes."""

    fixed: list[tuple[int, str]]
    created_at: int | None
    valid_from: int | None
    now: str

    @classmethod
    def make(cls, table: Table, at: Mapping[str, int], *, batch_id: str, now: str) -> "_Stamps":
        audit = {"imported_at": now, "updated_at": now, "batch_id": batch_id, "created_at": now}
        fixed = [(at[name], value) for name, value in audit.items() if name in at]
        # A reference table may have a `valid_from` of its own, which is content.
        valid_from = at["valid_from"] if table.has_history else None
        return cls(fixed, at.get("created_at"), valid_from, now)

    def stamped(self, found: Row, before: Row | None, public_at: str | None) -> list[Any]:
        """A row that will be written, in the place of the stored one or as the first of its key."""
        row = list(found)
        for place, value in self.fixed:
            row[place] = value
        if before is not None and self.created_at is not None:
            row[self.created_at] = before[self.created_at]
        if self.valid_from is not None:
            if before is None:
                # A first version is valid from when it was public, never from after it was known to us.
                row[self.valid_from] = min(public_at, self.now) if public_at else self.now
            else:
                row[self.valid_from] = max(self.now, before[self.valid_from])
        return row


def _months(
    table: Table, plan: Plan, old: Mapping[Row, Row], pick_key: Callable[[Sequence[Any]], Row]
) -> set[str]:
    """Months of the rows that a plan writes or removes, and of the stored rows that these replace: a row
    whose date is corrected may leave its month."""
    column = table.month_column
    if column is None:
        return {table.month_of(None)} if plan.written or plan.removed else set()
    place = table.names.index(column)
    changed = [*plan.written, *(old[key] for key in plan.removed)]
    if column not in table.key:
        changed += [old[key] for key in map(pick_key, plan.written) if key in old]
    return {table.month_of(day) for day in {row[place] for row in changed}}


def compared(table: Table) -> tuple[str, ...]:
    """Columns outside the key that make a row another one when they differ."""
    kept_as_received = table.layer is Layer.RAW and "payload" in table.names
    return (*table.content, "payload") if kept_as_received else table.content


def merged(table: Table, plans: Sequence[Plan]) -> list[Row]:
    """The written rows of all plans in the order of the table's key. Raises StorageError when two plans
    write the same key: neither saw the other's row."""
    if len(plans) == 1:
        return plans[0].written
    pick = picker([table.names.index(name) for name in table.key])
    by_key = {pick(row): row for plan in plans for row in plan.written}
    if len(by_key) < sum(len(plan.written) for plan in plans):
        raise StorageError(f"{table.name}: two batches of one transaction write the same key")
    return [by_key[key] for key in _in_order(by_key)]


def picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Row]:
    """A function that takes the values at `places` out of a row, as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda row: tuple(row[i] for i in places)


def _with_quality(incoming: Sequence[Row], place: int | None) -> Sequence[Row]:
    """Rows without a quality are 'ok'."""
    if place is None:
        return incoming
    return [row if row[place] is not None else (*row[:place], "ok", *row[place + 1 :]) for row in incoming]


def _repeated(keys: Iterable[Any]) -> Any:
    return Counter(keys).most_common(1)[0][0]


def _in_order(keys: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Keys ascending, so that writes follow the clustered index. Keys with a null sort as text."""
    listed = list(keys)
    try:
        return sorted(listed)
    except TypeError:
        return sorted(listed, key=lambda key: tuple(str(part) for part in key))


def _outranked(row: Sequence[Any], before: Row, at: Mapping[str, int], rank: Mapping[str, int]) -> bool:
    """A warning row of a worse source does not replace a stored ok row."""
    if not rank or "quality" not in at:
        return False
    if before[at["quality"]] != "ok" or row[at["quality"]] != "warning":
        return False
    worst = len(rank)
    return rank.get(str(row[at["src"]]), worst) > rank.get(str(before[at["src"]]), worst)


def _hash(content: Mapping[tuple[Any, ...], tuple[Any, ...]]) -> str:
    """Hash of keys and contents in the order of the keys; equal on both engines and every machine."""
    ordered = [(key, content[key]) for key in _in_order(content)]
    return hashlib.sha256(orjson.dumps(ordered)).hexdigest()
