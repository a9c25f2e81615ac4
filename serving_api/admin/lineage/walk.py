"""value -> fused row -> batch -> staged row of the winning source -> RAW row -> upstream response.

Datasets without staging lead from the batch directly to the response, computed ones to the rows that they
were computed from. A staged or RAW row is named only while it is still the one that was read; when a later
batch has overwritten it, the batches and their responses are still listed.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json
from core.declaration.registry import Registry
from core.declaration.tables import Layer, Table
from core.errors import InputError, NotFound
from resources.settings import Settings
from serving_api.admin.batches import Batch, batch_facts
from serving_api.admin.lineage import queries
from serving_api.admin.lineage.derived import asked_nobody, holder, key_of, rows_behind
from serving_api.admin.lineage.revisions import Version, chain, decoded, following, revisions, valid_at
from serving_api.admin.lineage.visited_batches import VisitedBatches
from serving_api.admin.shared import parse_json
from serving_api.db.sessions import Session
from serving_api.framework.envelope import instant

COMPUTED = "computed"
IMPORTED = "import:"
MAX_RAW = 40
MAX_BATCHES = 50
_MAX_ROWS = 50
_LEVELS = 6


@dataclass(frozen=True)
class LineageTarget:
    """What is asked for: which row, which column of it (None = all), as of when (None = now), with or without
    bodies."""

    table: Table
    key: Mapping[str, Any]
    column: str | None = None
    as_of: str | None = None
    payload: bool = False


@dataclass
class Walk:
    """One lineage search through one consistent snapshot of the database."""

    session: Session
    registry: Registry
    settings: Settings
    visited: VisitedBatches
    target: LineageTarget
    raw: list[dict[str, Any]] = field(default_factory=list)
    level: int = 0

    def answer(self) -> dict[str, Any]:
        """The model `Lineage`. Raises NotFound when there is no such row (at that time)."""
        table, target = self.target.table, self.target
        versions = self._versions()
        row = valid_at(versions, target.as_of)
        if row is None:
            named = ", ".join(f"{name}={value}" for name, value in target.key.items())
            then = f" as of {target.as_of}" if target.as_of else ""
            raise NotFound(f"{table.name} has no row with {named}{then}")
        requested = [target.column] if target.column else self._content()
        sources = self._sources(row)
        self.visited.visit([row["batch_id"]] if "batch_id" in row else [])
        origins = self._follow(row, sources, requested)
        self._visit_inputs()
        visited = list(self.visited.batches.values())
        compared = requested if target.column else [*requested, "quality", "quality_flags"]
        changes = revisions(table, versions, compared, target.as_of) if table.has_history else []
        return {
            "table": table.name,
            "key": dict(target.key),
            **{name: instant(row.get(name)) for name in ("valid_from", "valid_to")},
            "quality": row.get("quality"),
            "quality_flags": parse_json(row.get("quality_flags"), []),
            "columns": {
                name: {
                    "value": decoded(table, name, row[name]),
                    "source": sources[name],
                    "batch_id": row.get("batch_id"),
                    "from": origins.get(name),
                }
                for name in self._content()
                if name in requested
            },
            "batches": [
                Batch.model_validate(batch_facts(batch, self.settings)).model_dump()
                for batch in visited[:MAX_BATCHES]
            ],
            "raw": self.raw[:MAX_RAW],
            "revisions": changes,
        }

    # -- the row ----------------------------------------------------------------------------------

    def _versions(self) -> list[Version]:
        table, key = self.target.table, self.target.key
        if not table.has_history:
            if self.target.as_of is not None:
                raise InputError("as_of", f"{table.name} keeps no versions")
            found = queries.current(self.session, table, key)
            return [] if found is None else [{**found, "valid_to": None}]
        row = queries.current(self.session, table, key)
        newest = None if row is None else {**row, "valid_to": None}
        old: list[Version] = [*queries.old_versions(self.session, table, key)]
        if newest is not None and any(one["batch_id"] == newest["batch_id"] for one in old):
            return old  # the warehouse has no row of it
        return following(old, chain(newest, queries.superseded(self.session, table, key)))

    def _content(self) -> list[str]:
        table = self.target.table
        return [spec.name for spec in table.columns if spec.name not in table.key]

    def _sources(self, row: Version) -> dict[str, str | None]:
        """Column -> source: the row's, unless the provenance pattern or the declaration says otherwise."""
        table = self.target.table
        other: dict[str, str] = {}
        if row.get("provenance") is not None:
            pattern = parse_json(queries.pattern(self.session, int(row["provenance"])), {})
            other = {column: source for source, columns in pattern.items() for column in columns}
        found: dict[str, str | None] = {}
        for spec in table.columns:
            if row[spec.name] is None:
                found[spec.name] = None
            elif spec.computed or table.layer is Layer.CALC:
                found[spec.name] = COMPUTED
            else:
                found[spec.name] = other.get(spec.name, row.get("src"))
        return found

    # -- the way down -----------------------------------------------------------------------------

    def _follow(
        self, row: Version, sources: Mapping[str, str | None], requested: Iterable[str]
    ) -> dict[str, dict[str, Any]]:
        """Collects batches and RAW entries; returns column -> the row that its value was taken from."""
        table = self.target.table
        dataset = self.registry.of_table(table.name)
        names = {sources[name] for name in requested} - {None}
        if COMPUTED in names or not names:
            # A derived value depends on every source of its row.
            names |= {row.get("src"), *(sources.values())} - {None}
        used = sorted(str(name) for name in names - {COMPUTED})
        if table.layer is Layer.RAW:
            self._raw_entries(table, [row], used)
            return {}
        files = [name for name in used if name.startswith(IMPORTED)]
        if files and dataset.importable:
            origins = self._from_files(dataset, row, sources, files)
            rest = [name for name in used if name not in files]
            return {**self._followed(dataset, row, sources, rest), **origins} if rest else origins
        return self._followed(dataset, row, sources, used)

    def _from_files(
        self, dataset: Dataset, row: Version, sources: Mapping[str, str | None], files: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """RAW entries of imported rows, with file and row; column -> the staged row of its value."""
        key = {part: row[part] for part in dataset.key}
        found = queries.rows_of(self.session, dataset.import_table, key, files, _MAX_ROWS)
        staged = queries.rows_of(self.session, dataset.stage_table, key, files, _MAX_ROWS)
        self.visited.visit(item["batch_id"] for item in (*staged, *found))
        self._raw_entries(dataset.import_table, found, files)
        old = queries.old_versions(self.session, self.target.table, self.target.key)
        own = [one for one in old if one["batch_id"] == row["batch_id"]]
        self._raw_entries(
            self.target.table, [{**one, "imported_at": one["created_at"]} for one in own], files
        )
        named = {str(item["src"]): item for item in staged}
        return {
            name: {"table": dataset.stage_name, "key": {**key, "src": source}, "column": name}
            for name, source in sources.items()
            if source in named and named[source].get(name) == row[name]
        }

    def _followed(
        self, dataset: Dataset, row: Version, sources: Mapping[str, str | None], used: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """What upstreams answered for a row, or the stored rows that it was computed from."""
        table = self.target.table
        if dataset.model is not None and dataset.staged and table.name == dataset.table_name:
            return self._from_staging(dataset, row, sources, used)
        if dataset.staged and table.name == dataset.stage_name:
            self._from_raw(dataset, [str(row["batch_id"])], used)
            return self._raw_origins(dataset, row)
        batch = next(iter(self.visited.visit([row.get("batch_id")])), None)
        if batch is not None and (
            asked_nobody(batch) or (dataset.owners and not self._answered(batch, used))
        ):
            return self._from_reads(dataset, table, row, batch)
        if row.get("batch_id"):
            self._response_entries(str(row["batch_id"]), used)
        return {}

    def _from_reads(
        self, dataset: Dataset, table: Table, row: Version, batch: Mapping[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """For a computed row: column -> the row that holds its value, where one does. When one column is
        asked for, the search follows only its owner, else every row that was read."""
        if self.level >= _LEVELS:
            return {}
        behind = [
            (read, version)
            for read in map(self._table_read, dataset.reads)
            for version in rows_behind(self.session, self.visited, read, table, row, batch)
        ]
        held = {
            column: place
            for column in self._content()
            if row[column] is not None and (place := holder(dataset.owners.get(column), column, row, behind))
        }
        asked = self.target.column
        followed = [held[asked]] if asked in held else [(read, version, None) for read, version in behind]
        for read, version, theirs in followed:
            below = LineageTarget(read, key_of(read, version), theirs, None, self.target.payload)
            Walk(
                self.session, self.registry, self.settings, self.visited, below, self.raw, self.level + 1
            ).descend(version)
        return {
            column: {"table": read.name, "key": key_of(read, version), "column": theirs}
            for column, (read, version, theirs) in held.items()
            if theirs is not None and version[theirs] == row[column]
        }

    def _answered(self, batch: Mapping[str, Any], used: Sequence[str]) -> bool:
        """Whether one of these upstreams answered for the row in this batch."""
        return any(item["upstream"] in used for item in self.visited.responses(str(batch["batch_id"]), used))

    def _table_read(self, name: str) -> Table:
        return next(one for one in self.registry.of_table(name).tables() if one.name == name)

    def descend(self, row: Version) -> None:
        """Batches and RAW entries behind a row that another row was computed from."""
        self.visited.visit([row.get("batch_id")])
        requested = [self.target.column] if self.target.column else self._content()
        self._follow(row, self._sources(row), requested)

    def _from_staging(
        self, dataset: Dataset, row: Version, sources: Mapping[str, str | None], used: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        stage = dataset.stage_table
        staged = {
            str(item["src"]): item
            for item in queries.rows_of(self.session, stage, self.target.key, used, _MAX_ROWS)
        }
        origins = {
            name: {"table": stage.name, "key": {**self.target.key, "src": source}, "column": name}
            for name, source in sources.items()
            if source in staged and name in staged[source] and staged[source][name] == row[name]
        }
        fused = self.visited.visit([row["batch_id"]])
        read = self.visited.inputs(fused[0], stage.name) if fused else []
        mine = [str(item["batch_id"]) for item in staged.values() if not read or item["batch_id"] in read]
        # Overwritten since: the batches that were read are still known.
        self._from_raw(dataset, mine or read, used)
        return origins

    def _from_raw(self, dataset: Dataset, stage_batches: Sequence[str], used: Sequence[str]) -> None:
        for feed in dataset.feeds:
            table = self.registry.raws[feed].table
            visited = self.visited.visit(stage_batches)
            read = list(dict.fromkeys(one for batch in visited for one in self.visited.inputs(batch, feed)))
            rows = queries.rows_of(self.session, table, self._shared_key(table), used, _MAX_ROWS)
            mine = [item for item in rows if item["batch_id"] in read]
            self.visited.visit(item["batch_id"] for item in mine)
            if mine:
                self._raw_entries(table, mine, used)
            else:
                for batch_id in read:
                    self._response_entries(batch_id, used)

    def _shared_key(self, table: Table) -> dict[str, Any]:
        """The columns that match a RAW row to this key; empty when only dates or kinds would match."""
        key = {
            name: value
            for name, value in self.target.key.items()
            if name in table.key and name not in {"src", "batch_id"}
        }
        return key if "code" in key or key.keys() == set(table.key) - {"src"} else {}

    def _raw_origins(self, dataset: Dataset, row: Version) -> dict[str, dict[str, Any]]:
        """For a staged row: which RAW row holds each value."""
        origins: dict[str, dict[str, Any]] = {}
        for feed in dataset.feeds:
            table = self.registry.raws[feed].table
            rows = queries.rows_of(self.session, table, self._shared_key(table), [str(row["src"])], _MAX_ROWS)
            for item in rows:
                for name in self._content():
                    if name in item and item[name] == row[name] and row[name] is not None:
                        key = {part: item[part] for part in table.key}
                        origins.setdefault(name, {"table": table.name, "key": key, "column": name})
        return origins

    # -- RAW rows and responses -------------------------------------------------------------------

    def _raw_entries(self, table: Table, rows: Sequence[Version], used: Sequence[str]) -> None:
        for row in rows:
            if len(self.raw) >= MAX_RAW:
                return
            source = row.get("src")
            entry = {
                "table": table.name,
                "source": source,
                "key": {part: row[part] for part in table.key},
                "batch_id": row["batch_id"],
                "row_hash": _row_hash(table, row),
                "imported_at": instant(row["imported_at"]),
            }
            if row.get("file_hash"):
                entry["file"] = {"name": row["file_name"], "row": row["file_row"], "sha256": row["file_hash"]}
            if any(known["table"] == table.name and known["key"] == entry["key"] for known in self.raw):
                continue  # two computed columns come from the same RAW row
            found = self.visited.responses(str(row["batch_id"]), [str(source)] if source else used)
            self.raw += [{**entry, **self._response(item)} for item in found] or [{**entry, "fetch": None}]

    def _response_entries(self, batch_id: str, used: Sequence[str]) -> None:
        for item in self.visited.responses(batch_id, used):
            entry = dict.fromkeys(("table", "row_hash", "imported_at"))
            key = dict(self.target.key)
            about = {"source": item["upstream"], "batch_id": item["batch_id"], "key": key}
            self.raw.append({**entry, **about, **self._response(item)})
            self.visited.visit([item["batch_id"]])

    def _response(self, item: Mapping[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {"fetch": self.visited.fetch_view(item)}
        if self.target.payload:
            shown["payload"] = self.visited.payload(item)
        return shown

    def _visit_inputs(self) -> None:
        """Batches that were read by those already visited, unless one of their table was visited: a
        calculated or joined row has no single row behind it. When one column is asked for, only those of
        its owner."""
        if self.target.column is not None and any(map(asked_nobody, self.visited.batches.values())):
            return
        for _ in range(_LEVELS):
            tables = {batch["table_name"] for batch in self.visited.batches.values()}
            ids = [
                one
                for batch in list(self.visited.batches.values())
                for item in parse_json(batch["inputs_json"], [])
                if item.get("table") not in tables
                for one in item.get("batch_ids") or []
            ]
            if not ids or len(self.visited.batches) >= MAX_BATCHES:
                return
            before = len(self.visited.batches)
            self.visited.visit(ids[:MAX_BATCHES])
            if len(self.visited.batches) == before:
                return


def _row_hash(table: Table, row: Version) -> str:
    """SHA-256 of the row's content and record, as canonical JSON."""
    names = [spec.name for spec in table.columns]
    if "payload" in row:
        names.append("payload")
    return hashlib.sha256(canonical_json({name: row[name] for name in names}).encode()).hexdigest()
