"""What a declaration means in the database: a table, its layer, key, audit columns and twin."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from core.declaration.columns import ColumnSpec, columns_from


class Layer(StrEnum):
    RAW = "raw"
    STG = "stg"
    DWD = "dwd"
    CALC = "calc"
    NOTE = "note"
    REF = "ref"
    SYSTEM = "system"
    USER = "user"
    INFRA = "infra"


AUDIT: dict[Layer, tuple[ColumnSpec, ...]] = {
    Layer.RAW: columns_from("src:k32 batch_id:k32 payload:json imported_at:ts"),
    Layer.STG: columns_from("src:k32 batch_id:k32 imported_at:ts"),
    Layer.DWD: columns_from(
        "src:k32 provenance:big quality:s8 quality_flags:json batch_id:k32 "
        "valid_from:ts created_at:ts updated_at:ts"
    ),
    **dict.fromkeys((Layer.CALC, Layer.REF), columns_from("batch_id:k32 created_at:ts updated_at:ts")),
    **dict.fromkeys((Layer.NOTE, Layer.SYSTEM, Layer.USER), columns_from("created_at:ts updated_at:ts")),
    Layer.INFRA: (),
}
"""`provenance` holds the id of a pattern in `sys_provenance`; reads return it expanded."""

HISTORY_COLUMNS = columns_from("valid_to:ts superseded_by:k32")
PUBLISHED = frozenset({Layer.DWD, Layer.CALC, Layer.REF})
"""Layers whose tables are published in the lake as well (`resources.lake`)."""
WHOLE = "all"
"""The month of every row of a table that is published whole."""


def history_of(table: str) -> str:
    """The name of the table with the superseded versions of a table's rows."""
    return f"{table}_history"


@dataclass(frozen=True)
class Table:
    """One table of the warehouse. `columns` are the content; audit columns come from the layer.
    `serial` marks an integer key that the database counts up."""

    name: str
    layer: Layer
    columns: tuple[ColumnSpec, ...]
    key: tuple[str, ...]
    dataset: str = ""
    description: str = ""
    date_column: str | None = None
    indexes: tuple[tuple[str, ...], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    serial: bool = False
    payload: bool = True
    """RAW only: store each upstream record as received, next to its canonical columns."""

    @cached_property
    def audit(self) -> tuple[ColumnSpec, ...]:
        own = {spec.name for spec in self.columns}
        audit = tuple(spec for spec in AUDIT[self.layer] if spec.name not in own)
        if self.layer is Layer.RAW and not self.payload:
            audit = tuple(spec for spec in audit if spec.name != "payload")
        return audit

    @cached_property
    def all_columns(self) -> tuple[ColumnSpec, ...]:
        return self.columns + self.audit

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.all_columns)

    @property
    def has_history(self) -> bool:
        return self.layer is Layer.DWD

    @property
    def published(self) -> bool:
        """Whether its rows are published in the lake, and its batches record which months they changed."""
        return self.layer in PUBLISHED

    @cached_property
    def month_column(self) -> str | None:
        """The column whose months the published table is divided by; None for one that is published whole:
        dimension and reference tables."""
        return None if self.layer is Layer.REF else self.date_column

    @property
    def history_name(self) -> str:
        return history_of(self.name)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Columns that make a row 'changed' when they differ: data, quality and flags, never audit."""
        names = tuple(spec.name for spec in self.columns if spec.name not in self.key)
        return (*names, "quality", "quality_flags") if self.has_history else names

    @cached_property
    def timed(self) -> bool:
        """Whether its date column holds times of day."""
        return self.date_column is not None and self.column(self.date_column).family == "time"

    @cached_property
    def moment(self) -> str | None:
        """The first column of its key that is a day or a time."""
        return next((name for name in self.key if self.column(name).family in ("date", "time")), None)

    def staged(self, name: str) -> "Table":
        """Its staging table: the columns that sources deliver, one row per source."""
        return replace(
            self,
            name=name,
            layer=Layer.STG,
            columns=tuple(spec for spec in self.columns if not spec.computed),
            key=(*self.key, "src"),
            description=f"{self.description}, staged: one row per source",
            indexes=(),
        )

    def imported(self, name: str, title: str) -> "Table":
        """Of a staging table: RAW rows of users' files, with where in which file each row is."""
        return replace(
            self,
            name=name,
            layer=Layer.RAW,
            columns=(*self.columns, *columns_from("file_name:s255 file_row:big file_hash:k64")),
            description=f"{title}, from files of users",
            payload=False,
        )

    def month_of(self, value: str | None) -> str:
        """The month (YYYY-MM) that a row with this value of `month_column` is published in."""
        return WHOLE if self.month_column is None else str(value)[:7]

    def column(self, name: str) -> ColumnSpec:
        return next(spec for spec in self.all_columns if spec.name == name)
