"""How a file is read: which of its columns holds what, in which unit, adjusted how. All of it is said, none
of it guessed."""

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from core.declaration.columns import ColumnSpec
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json
from core.errors import InputError
from resources.warehouse.ledger.imports import AFTER, FIRST, LAST

FACTORS: Mapping[str, Mapping[str, float]] = {
    "sh": {"share": 1.0, "lot": 100.0, "10k_share": 1e4},
    "CNY": {"CNY": 1.0, "fen": 0.01, "kCNY": 1e3, "10k_CNY": 1e4, "1M_CNY": 1e6, "100M_CNY": 1e8},
    "pct": {"percent": 1.0, "ratio": 100.0},
    "CNY_per_10sh": {"CNY_per_10sh": 1.0, "CNY_per_share": 10.0},
    "sh_per_10sh": {"sh_per_10sh": 1.0, "sh_per_share": 10.0},
}
"""Unit of a column -> unit of a file -> what its figures are multiplied by. A lot of bonds is 10."""
ADJUST = ("none", "qfq", "hfq")
PRICES = ("open", "high", "low", "close", "last_close")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,23}")
_KEYS = frozenset(
    {"dataset", "name", "adjust", "factor", "volume_adjusted", "place", "encoding", "delimiter", "sheet"}
)
_PRICE = ("px", "CNY")
"""Type and unit of a column whose unit need not be said."""


@dataclass(frozen=True)
class Column:
    """A column of the file. `unit` is a key of `FACTORS`; `format` of a date, as `strptime` takes it."""

    source: str
    unit: str | None = None
    format: str | None = None


@dataclass(frozen=True)
class FileMapping:
    """The mapping of one import; `columns` by the names of the dataset, `fixed` values are of every row."""

    dataset: str
    name: str
    columns: Mapping[str, Column]
    adjust: str | None = None
    factor: str | None = None
    """Column of the file that its prices were multiplied by (`adjust` qfq or hfq)."""
    volume_adjusted: bool = False
    """The volume was divided by the same factor, as qlib does it."""
    place: str = LAST
    fixed: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"
    delimiter: str = ","
    sheet: str | None = None

    @property
    def text(self) -> str:
        return canonical_json(asdict(self))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns of the file that are read."""
        own = [one.source for one in self.columns.values()]
        return tuple(dict.fromkeys([*own, *([self.factor] if self.factor else [])]))


def near(given: str, known: Iterable[str]) -> str:
    """ "; nearest: …" for an error about an unknown name."""
    names = list(known)
    found = difflib.get_close_matches(given, names, n=3, cutoff=0.4) or names[:8]
    return f"; nearest: {', '.join(found)}"


def read_mapping(
    options: Sequence[str], given: Mapping[str, str | None], datasets: Mapping[str, Dataset]
) -> FileMapping:
    """The mapping of `--map` options (files of TOML or YAML, or COLUMN=SOURCE[:UNIT[:FORMAT]]) and of the
    options beside them, which take precedence. Raises InputError that names what is wrong or missing."""
    document: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    for option in options:
        if "=" in option:
            name, _, value = option.partition("=")
            source, *rest = value.split(":", 2)
            columns[name.strip()] = {"column": source, **dict(zip(("unit", "format"), rest, strict=False))}
        else:
            document |= _document(Path(option))
    own = document.pop("columns", {})
    fixed = document.pop("fixed", {})
    if not isinstance(own, dict) or not isinstance(fixed, dict):
        raise InputError("map", "`columns` and `fixed` are tables of names")
    wrong = next((key for key in document if key not in _KEYS), None)
    if wrong is not None:
        raise InputError("map", f"{wrong[:40]!r} is no key of a mapping{near(wrong, sorted(_KEYS))}")
    values = document | {key: value for key, value in given.items() if value is not None}
    return _checked(values, own | columns, fixed, datasets)


def _document(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise InputError("map", f"{path} cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError("map", f"{path.name} is no TOML or YAML: {error}") from None
    if not isinstance(found, dict):
        raise InputError("map", f"{path.name} holds no table of names")
    return found


def _checked(
    values: Mapping[str, Any],
    columns: Mapping[str, Any],
    fixed: Mapping[str, Any],
    datasets: Mapping[str, Dataset],
) -> FileMapping:
    importable = sorted(name for name, one in datasets.items() if one.importable)
    dataset = str(values.get("dataset") or "")
    if dataset not in importable:
        raise InputError("dataset", f"{dataset[:40]!r} takes no file; these do: {', '.join(importable)}")
    name = str(values.get("name") or "")
    if not _NAME.fullmatch(name):
        raise InputError(
            "name", f"{name[:40]!r} is no name of an import: a-z, 0-9, - and _, at most 24 characters"
        )
    declared = datasets[dataset]
    specs = {spec.name: spec for spec in declared.stage_table.columns}
    for one in (*columns, *fixed):
        if one not in specs:
            raise InputError("map", f"{str(one)[:40]!r} is no column of {dataset}{near(str(one), specs)}")
    lacking = [key for key in declared.key if key not in columns and key not in fixed]
    if lacking:
        raise InputError("map", f"{', '.join(lacking)} of the key of {dataset} is not mapped")
    mapping = FileMapping(
        dataset=dataset,
        name=name,
        columns={one: _column(specs[one], value) for one, value in columns.items()},
        adjust=None if values.get("adjust") is None else str(values["adjust"]),
        factor=values.get("factor"),
        volume_adjusted=bool(values.get("volume_adjusted", False)),
        place=str(values.get("place") or LAST),
        fixed={str(one): str(value) for one, value in fixed.items()},
        encoding=str(values.get("encoding") or "utf-8"),
        delimiter=str(values.get("delimiter") or ","),
        sheet=values.get("sheet"),
    )
    _check_adjust(mapping)
    _check_place(mapping, declared)
    return mapping


def _column(spec: ColumnSpec, value: Any) -> Column:
    if isinstance(value, str):
        value = {"column": value}
    if not isinstance(value, dict) or not value.get("column"):
        raise InputError("map", f"{spec.name}: name the column of the file")
    wrong = next((key for key in value if key not in ("column", "unit", "format")), None)
    if wrong is not None:
        raise InputError("map", f"{spec.name}: {wrong!r} is none of column, unit, format")
    unit = value.get("unit") or None
    known = FACTORS.get(spec.unit)
    if known is None and unit is not None and unit != spec.unit:
        raise InputError("map", f"{spec.name} has no unit that could be changed")
    if known is not None and unit is not None and unit not in known:
        raise InputError("map", f"{spec.name}: unit {unit!r} is none of {', '.join(known)}")
    if known is not None and unit is None and (spec.sql, spec.unit) != _PRICE:
        raise InputError("map", f"{spec.name}: say its unit, one of {', '.join(known)}")
    return Column(str(value["column"]), unit, value.get("format"))


def _check_adjust(mapping: FileMapping) -> None:
    if not set(PRICES) & set(mapping.columns):
        return
    if mapping.adjust not in ADJUST:
        raise InputError("adjust", f"say how the prices of the file are adjusted: {', '.join(ADJUST)}")
    if mapping.adjust != "none" and not mapping.factor:
        raise InputError(
            "factor",
            f"stored prices are not adjusted: to undo {mapping.adjust}, name the column of the factor that "
            "each price was multiplied by",
        )


def _check_place(mapping: FileMapping, declared: Dataset) -> None:
    anchor = mapping.place.removeprefix(AFTER)
    if mapping.place in (FIRST, LAST) or (
        mapping.place.startswith(AFTER) and anchor in declared.source_order
    ):
        return
    known = ", ".join(declared.source_order)
    raise InputError("place", f"{mapping.place[:40]!r} is none of first, last, after SOURCE (of {known})")
