"""Column types: the vocabulary of a dataset's model.

Each type is a pandera dtype that carries the dictionary's type name, its family and the decimals to
which a value is rounded. `col()` and `key()` add unit, title and hard limits. A model's columns are
read back as `ColumnSpec`; tables, checks, documentation and the catalog all derive from those.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.api.checks import Check
from pandera.api.dataframe.model_components import FieldInfo
from pandera.engines import pandas_engine

Family = Literal["text", "float", "int", "bool", "date", "time", "json"]


_DTYPES = {"float": "float64", "int": "Int64", "bool": "boolean"}
"""What `frames.coerce` makes of a family; the others are texts, or null."""
_FORMS = {"date": r"\d{4}-\d\d-\d\d"}


class ColumnType(pandas_engine.NpString):
    """Base of the column types. `frames.coerce` converts values and says which it could not; `check` refuses
    texts that are no text, too long or of another form, and a number of another dtype."""

    sql: ClassVar[str] = ""
    family: ClassVar[Family] = "text"
    scale: ClassVar[int | None] = None
    length: ClassVar[int | None] = None
    ascii: ClassVar[bool] = False

    def coerce(self, data_container: Any) -> Any:
        return data_container

    def check(self, pandera_dtype: Any, data_container: Any = None) -> Any:
        if data_container is None:
            return isinstance(pandera_dtype, type(self))
        if dtype := _DTYPES.get(self.family):
            return str(data_container.dtype) == dtype
        return fine_texts(data_container, self.length, _FORMS.get(self.family))


def fine_texts(values: pd.Series, length: int | None, form: str | None) -> pd.Series:
    """True for texts of at most this length and of this form, and for nothing. Each text is looked at once:
    most of them are there many times."""

    def is_fine(value: Any) -> bool:
        return (
            isinstance(value, str)
            and (length is None or len(value) <= length)
            and (form is None or re.fullmatch(form, value) is not None)
        )

    try:
        at, known = pd.factorize(values)
    except TypeError:  # a list or a dictionary is no text
        return values.map(is_fine, na_action="ignore").fillna(True).astype(bool)
    fine = np.array([*map(is_fine, known), True], dtype=bool)
    return pd.Series(fine[at], index=values.index)


COLUMN_TYPES: dict[str, type[ColumnType]] = {}


def _column_type(
    sql: str,
    family: Family = "text",
    *,
    scale: int | None = None,
    length: int | None = None,
    ascii_only: bool = False,
) -> Any:
    body = {"sql": sql, "family": family, "scale": scale, "length": length, "ascii": ascii_only}
    made: type[ColumnType] = type(
        sql.capitalize(), (ColumnType,), {**body, "__doc__": f"`{sql}` of the dictionary."}
    )
    COLUMN_TYPES[sql] = pandas_engine.Engine.register_dtype(made)
    return made


# `Any`, because a model's annotation is read by pandera alone, at run time.
Code = _column_type("code", length=16, ascii_only=True)
K16 = _column_type("k16", length=16, ascii_only=True)
K32 = _column_type("k32", length=32, ascii_only=True)
K64 = _column_type("k64", length=64, ascii_only=True)
S4 = _column_type("s4", length=4)
S8 = _column_type("s8", length=8)
S16 = _column_type("s16", length=16)
S32 = _column_type("s32", length=32)
S64 = _column_type("s64", length=64)
S128 = _column_type("s128", length=128)
S255 = _column_type("s255", length=255)
S512 = _column_type("s512", length=512)
Text = _column_type("text")
MText = _column_type("mtext")
Date = _column_type("date", "date")
Dt = _column_type("dt", "time")
Ts = _column_type("ts", "time")
Px = _column_type("px", "float", scale=4)
Amt = _column_type("amt", "float", scale=2)
Pct = _column_type("pct", "float", scale=4)
F = _column_type("f", "float")
Int = _column_type("int", "int")
Big = _column_type("big", "int")
Bool = _column_type("bool", "bool")
Json = _column_type("json", "json")

EVENING = "the answers of the evening have it, or what it is ranked with; those of a later day do not"
"""For `varies` of a column: it is the same whenever a past date is loaded, and another one where the date was
loaded in its evening."""


def col(
    unit: str = "", title: str = "", *, computed: bool = False, no_source: str = "",
    decimals: int | None = None, fixed: bool = False, varies: str = "", **limits: Any,
) -> Any:  # fmt: skip
    """A nullable column. `computed`: made by derivation, so absent from staging. `no_source`: why it
    stays NULL (names the issue that brings it). `decimals`: what a float is rounded to where its type has no
    scale; for calculated columns only, since a figure of a source keeps the decimals that it came with.
    `fixed`, of a table without dates: the value stays what it is, so that it may enter rows of any date.
    `varies`: why the value of a date depends on the day on which it was loaded ('': it does not); where it
    cannot be had later, it is null.
    `limits` are pandera's (ge, gt, le, isin, str_matches…) and are hard checks."""
    limits.setdefault("nullable", True)
    metadata = {
        "unit": unit, "computed": computed, "no_source": no_source, "decimals": decimals, "fixed": fixed,
        "varies": varies,
    }  # fmt: skip
    field = pa.Field(title=title or None, metadata=metadata, **limits)
    field.__class__ = _ColumnField  # pa.Field lets nobody choose the class
    return field


def key(title: str = "", **limits: Any) -> Any:
    """A column of the natural key: never null."""
    made = col("", title, nullable=False, **limits)
    made.metadata["of_key"] = True
    return made


class Model(pa.DataFrameModel):
    """Base of every dataset's model. Methods marked `@pa.dataframe_check` are hard checks: they get the
    frame, return a boolean Series (True = fine, null passes), and a failing row is rejected."""


class Column(str):
    """A column of a model, as `Margin.rzye`: its name, and what is declared about it. The methods return the
    column of a response: under another name, or null or missing otherwise than the stored one."""

    model: Any
    key: str
    """Its name in a response."""
    is_null: bool | None = None
    """Whether it may be null in a response; None: as it is declared."""
    is_required: bool = True

    @property
    def spec(self) -> "ColumnSpec":
        return _specs(self.model)[self]

    def label(self, key: str) -> Self:
        return self._but(key=key)

    def or_null(self) -> Self:
        return self._but(is_null=True)

    def not_null(self) -> Self:
        return self._but(is_null=False)

    def or_missing(self) -> Self:
        return self._but(is_null=True, is_required=False)

    def _but(self, **facts: object) -> Self:
        column = type(self)(self)
        column.__dict__.update(self.__dict__, **facts)
        return column


class _ColumnField(FieldInfo):
    def __get__(self, instance: Any, owner: type[Model]) -> Column:
        column = Column(self.name)
        column.model, column.key = owner, self.name
        return column


@dataclass(frozen=True)
class ColumnSpec:
    """One column as everything that derives from a declaration sees it."""

    name: str
    column_type: type[ColumnType]
    unit: str = ""
    title: str = ""
    nullable: bool = True
    computed: bool = False
    no_source: str = ""
    decimals: int | None = None
    checks: tuple[Check, ...] = ()
    of_key: bool = False
    fixed: bool = False
    varies: str = ""

    @property
    def sql(self) -> str:
        return self.column_type.sql

    @property
    def family(self) -> Family:
        return self.column_type.family

    @property
    def scale(self) -> int | None:
        """Decimals that a float is rounded to when it is stored; None keeps all."""
        return self.column_type.scale if self.decimals is None else self.decimals


def model_columns(model: type[Model]) -> tuple[ColumnSpec, ...]:
    """The columns of a model, in the order of their declaration (inherited ones first)."""
    specs = []
    for name, column in model.to_schema().columns.items():
        column_type = type(column.dtype)
        if not issubclass(column_type, ColumnType):
            raise TypeError(f"{model.__name__}.{name}: {column_type.__name__} is no column type")
        specs.append(
            ColumnSpec(
                name=name,
                column_type=column_type,
                title=column.title or "",
                nullable=bool(column.nullable),
                checks=tuple(column.checks),
                **(column.metadata or {}),
            )
        )
    return tuple(specs)


@cache
def _specs(model: Any) -> dict[str, ColumnSpec]:
    return {spec.name: spec for spec in model_columns(model)}


def model_checks(model: type[Model]) -> tuple[Check, ...]:
    """The frame-wide hard checks of a model."""
    return tuple(model.to_schema().checks or ())


def derived_model(name: str, origin: type[Model], columns: Iterable[ColumnSpec]) -> type[Model]:
    """A model of these columns, with the description and the file of `origin`."""
    made: dict[str, Any] = {"__doc__": origin.__doc__, "__module__": origin.__module__, "__annotations__": {}}
    for spec in columns:
        info = col(
            spec.unit, spec.title, computed=spec.computed, no_source=spec.no_source, decimals=spec.decimals,
            nullable=spec.nullable, fixed=spec.fixed, varies=spec.varies,
        )  # fmt: skip
        info.checks = list(spec.checks)
        info.metadata["of_key"] = spec.of_key
        made["__annotations__"][spec.name] = spec.column_type
        made[spec.name] = info
    return type(name, (Model,), made)


_SRC = ColumnSpec("src", K32, title="upstream", nullable=False, of_key=True)
Received = derived_model("Received", Model, [_SRC])
"""What every RAW table has besides the columns of its source."""


def received(model: type[Model], without: Sequence[str] = ()) -> type[Model]:
    """The RAW model of the columns that sources deliver: those of a fused model without the computed ones
    (and those of another feed), key first, with `src` behind it. Types, units and limits stay; only the key
    and `src` must not be null."""
    specs = [spec for spec in model_columns(model) if not spec.computed and spec.name not in without]
    own = [spec for spec in specs if spec.of_key]
    rest = [replace(spec, nullable=True) for spec in specs if not spec.of_key]
    return derived_model(f"Received{model.__name__}", model, (*own, _SRC, *rest))


def with_columns(*columns: str) -> Callable[[type[Model]], type[Model]]:
    """Class decorator: a model of these columns of other models, in this order. Each may be null unless it
    belongs to the key, and is delivered, not computed. What the class declares itself takes precedence; a
    column that it alone has is named in its place."""

    def derived(model: type[Model]) -> type[Model]:
        own = {spec.name: spec for spec in model_columns(model)}
        specs = [
            replace(column.spec, nullable=not column.spec.of_key, computed=False)
            if isinstance(column, Column) and column not in own
            else own[column]
            for column in columns
        ]
        return derived_model(model.__name__, model, specs)

    return derived


def columns_from(notation: str) -> tuple[ColumnSpec, ...]:
    """Columns from the dictionary's own notation, `name:type[:unit]` separated by blanks. For system
    tables, which hold no market data and need no model."""
    specs = []
    for item in notation.split():
        name, sql, *unit = item.split(":")
        specs.append(ColumnSpec(name=name, column_type=COLUMN_TYPES[sql], unit=unit[0] if unit else ""))
    return tuple(specs)


def key_and_date(
    model: type[Model], key: tuple[str, ...], date_column: str | None
) -> tuple[tuple[str, ...], str | None]:
    """The key of a table of a model, and its date column: as they are given, else the columns that the model
    declares with `key()` and the first day or time of them; "" for no date column."""
    specs = model_columns(model)
    names = key or tuple(spec.name for spec in specs if spec.of_key)
    if date_column is None:
        families = {spec.name: spec.family for spec in specs}
        date_column = next((name for name in names if families.get(name) in ("date", "time")), None)
    return names, date_column or None
