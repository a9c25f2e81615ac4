"""The ledger of imported files: how each is read, its place among the sources, which months are done."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy.engine import Engine

from core.clock import Clock, stamp
from core.declaration.frames import canonical_json
from resources.warehouse.engine import transaction
from resources.warehouse.records import record
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, Where, select, update

PREFIX = "import:"
FIRST, LAST, AFTER = "first", "last", "after "
_DONE = "success"


@dataclass(frozen=True)
class ImportKey:
    """One file (or folder) under the name of its import; `file_hash` is of its bytes."""

    name: str
    dataset: str
    file_hash: str

    @property
    def source(self) -> str:
        """What the column `src` holds of its rows."""
        return PREFIX + self.name


@dataclass(frozen=True)
class ImportState:
    """`parts`: the months that are written; `written`: fused rows that were new or changed."""

    status: str
    mapping_hash: str
    parts: tuple[str, ...]
    rows_in: int
    rows_refused: int
    written: int


def ranked(declared: Sequence[str], placed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The order of a dataset's sources with (source, place) of its imports: `first`, `last`, `after SOURCE`;
    of two imports with the same place the earlier one goes first.

    >>> ranked(("tdx", "sina"), [("import:a", "last"), ("import:b", "after tdx")])
    ('tdx', 'import:b', 'sina', 'import:a')
    """
    order = list(declared)
    firsts = [source for source, place in placed if place == FIRST]
    for source, place in reversed(placed):
        anchor = place.removeprefix(AFTER)
        if place.startswith(AFTER) and anchor in order:
            order.insert(order.index(anchor) + 1, source)
    rest = [source for source, _ in placed if source not in order and source not in firsts]
    return (*firsts, *order, *rest)


class Imports:
    """Reads and changes of `sys_import`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock, self._sql = engine, clock, Sql(engine)

    def placed(self, dataset: str) -> list[tuple[str, str]]:
        """(source, place) of every import of a dataset, oldest first; the newest file of a name decides its
        place."""
        own = select("sys_import", ANY.name, ANY.place).where(ANY.dataset == dataset)
        rows = self._sql.rows(own.order_by(ANY.started_at))
        return [(PREFIX + str(name), str(place)) for name, place in dict(map(tuple, rows)).items()]

    def get(self, key: ImportKey) -> ImportState | None:
        names = ("status", "mapping_hash", "parts_json", "rows_in", "rows_refused", "rows_written")
        rows = self._sql.rows(select("sys_import", *(ANY[name] for name in names)).where(*_of(key)))
        return record(ImportState, rows[0]) if rows else None

    def begin(
        self, key: ImportKey, *, mapping: str, mapping_hash: str, place: str, files: Sequence[object]
    ) -> None:
        """A file that is being imported; one that was begun with the same mapping goes on."""
        now = stamp(self._clock.now())
        known = self.get(key)
        facts = {
            "mapping_hash": mapping_hash,
            "mapping_json": mapping,
            "place": place,
            "files_json": canonical_json(list(files)),
            "status": "running",
            "started_at": now,
            "updated_at": now,
        }
        fresh = {"parts_json": "[]", "rows_in": 0, "rows_refused": 0, "rows_written": 0}
        with transaction(self._engine) as connection:
            if known is None:
                self._sql.put(connection, "sys_import", {**asdict(key), **facts, **fresh, "created_at": now})
                return
            goes_on = known.status != _DONE and known.mapping_hash == mapping_hash
            row = facts if goes_on else {**facts, **fresh}
            connection.execute(update("sys_import", row, *_of(key)))

    def done(self, key: ImportKey, part: str, *, rows_in: int, written: int) -> None:
        """One more part is written."""
        known = self.get(key)
        if known is None or part in known.parts:
            return
        row = {
            "parts_json": canonical_json([*known.parts, part]),
            "rows_in": known.rows_in + rows_in,
            "rows_written": known.written + written,
            "updated_at": stamp(self._clock.now()),
        }
        with transaction(self._engine) as connection:
            connection.execute(update("sys_import", row, *_of(key)))

    def finish(self, key: ImportKey, *, refused: int) -> None:
        now = stamp(self._clock.now())
        row = {"status": _DONE, "rows_refused": refused, "finished_at": now, "updated_at": now}
        with transaction(self._engine) as connection:
            connection.execute(update("sys_import", row, *_of(key)))


def _of(key: ImportKey) -> list[Where]:
    return [ANY[name] == value for name, value in asdict(key).items()]
