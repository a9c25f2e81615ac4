"""Hard and soft checks of a frame against a declared model.

Hard: column limits and the model's frame checks; a failing row is rejected and recorded. Soft: named
functions; a failing row gets quality 'warning' and the check's name as a flag.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandera.errors import SchemaError, SchemaErrorReason, SchemaErrors
from pandera.pandas import DataFrameSchema

from core.declaration.columns import ColumnSpec, Model, model_checks, model_columns
from core.declaration.frames import canonical_json, coerce
from core.declaration.rules import Contract, Soft, Whole
from core.declaration.scope import Context
from resources.warehouse.batch_records import HELD_BACK, MAX_QUALITY_ROWS, Quality

Mask = npt.NDArray[np.bool_]
FEW_ROWS, FEW_SHARE = 3, 0.01
"""Rows of one source that may break a contract before the source as a whole is refused."""


@dataclass(frozen=True)
class Failure:
    """One check that some rows failed, with those rows."""

    check: str
    severity: str
    action: str
    rows: pd.DataFrame
    key: tuple[str, ...]
    message: str = ""

    def records(self, rows: pd.DataFrame, total: int) -> list[Quality]:
        """Quality records of `rows`, which are all or a partition's part of the failing ones: one per row
        (the first 200) and one summary that counts all. `total` rows were checked."""
        column = self.check.partition(":")[0] if ":" in self.check else ""
        shown = column if column in rows.columns else None
        common = Quality(self.check, self.severity, self.action, self.message, total_count=total)
        found = []
        for row in rows.head(MAX_QUALITY_ROWS).to_dict("records"):
            code, src = row.get("code"), row.get("src")
            found.append(
                replace(
                    common,
                    column=shown,
                    natural_key=canonical_json({part: _plain(row[part]) for part in self.key if part in row}),
                    code=None if _plain(code) is None else str(code)[:16],
                    failed_value=None if shown is None else str(_plain(row[shown])),
                    sources=None if _plain(src) is None else [src],
                )
            )
        message = self.message or f"{len(rows)} of {total} rows"
        return [*found, replace(common, message=message, failed_count=len(rows))]


@dataclass
class Checked:
    """The rows that passed, the rows that were rejected (each once), and what failed."""

    frame: pd.DataFrame
    dropped: list[pd.DataFrame] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Failing rows per check, 0 included: becomes the asset check results."""

    @property
    def rejected(self) -> int:
        return sum(len(rows) for rows in self.dropped)

    @property
    def quality(self) -> list[Quality]:
        """Records of everything that failed, for a batch that is refused as a whole."""
        total = len(self.frame) + self.rejected
        return [record for item in self.failures for record in item.records(item.rows, total)]


def coerce_model(
    frame: pd.DataFrame, model: type[Model], extra: Sequence[str] = ()
) -> tuple[pd.DataFrame, dict[str, Mask]]:
    """Canonical frame of a model's columns plus `extra` columns kept as they are."""
    clean, destroyed = coerce(frame, model_columns(model))
    for name in extra:
        clean[name] = frame[name] if name in frame.columns else None
    return clean, destroyed


def hard_masks(frame: pd.DataFrame, model: type[Model], destroyed: dict[str, Mask]) -> dict[str, Mask]:
    """{check name: True where the row fails}, as pandera finds them. Column checks are `column:check`."""
    names = [check for spec in model_columns(model) for check in _column_checks(spec)]
    names += [str(check.name) for check in model_checks(model)]
    failed = {name: np.zeros(len(frame), dtype=bool) for name in names}
    failed |= {f"{name}:type": mask for name, mask in destroyed.items()}
    try:
        model.validate(frame, lazy=True, inplace=True)
    except SchemaErrors as failure:
        for error in failure.schema_errors:
            name, rows = _failing_rows(error)
            failed[name] = failed.get(name, False) | frame.index.isin(rows)
    return failed


def _column_checks(spec: ColumnSpec) -> list[str]:
    """The names of a column's hard checks."""
    own = [] if spec.nullable else ["not_null"]
    own += [] if spec.column_type.length is None else ["length"]
    return [f"{spec.name}:{name}" for name in (*own, *(str(check.name) for check in spec.checks))]


def _failing_rows(error: SchemaError) -> tuple[str, Any]:
    """(name of the check, index of the rows that failed it). Raises the error where it is none of rows: a
    check that raised, a column that is missing or has another dtype."""
    if isinstance(error.check_output, pd.Series):
        rows = error.check_output.index[~error.check_output.astype("boolean").fillna(True)]
        name = str(error.check.name)
        return (name if isinstance(error.schema, DataFrameSchema) else f"{error.schema.name}:{name}"), rows
    if not isinstance(error.failure_cases, pd.DataFrame):
        raise error
    if error.reason_code is SchemaErrorReason.SERIES_CONTAINS_NULLS:
        kind = "not_null"
    elif error.reason_code is SchemaErrorReason.WRONG_DATATYPE:
        kind = "type" if error.schema.dtype.length is None else "length"
    else:
        raise error
    return f"{error.schema.name}:{kind}", error.failure_cases["index"]


def apply_hard(
    frame: pd.DataFrame,
    model: type[Model],
    key: Sequence[str],
    destroyed: dict[str, Mask],
    partial: Mask | None = None,
) -> Checked:
    """Reject the rows that fail; duplicates of a key keep the first valid row. `partial` rows may leave out
    what a row must hold, but for the key."""
    frame = frame.reset_index(drop=True)
    masks = hard_masks(frame, model, destroyed)
    if partial is not None and partial.any():
        needed = {f"{name}:not_null" for name in key}
        masks |= {name: mask & ~partial for name, mask in masks.items()
                  if name.endswith(":not_null") and name not in needed}  # fmt: skip
    bad = np.zeros(len(frame), dtype=bool)
    for mask in masks.values():
        bad |= mask
    good = frame[~bad]
    repeated = good.duplicated(subset=list(key), keep="first")
    duplicate = np.zeros(len(frame), dtype=bool)
    duplicate[good.index[repeated.to_numpy()]] = True
    masks["key:unique"] = duplicate
    bad |= duplicate
    checked = Checked(frame[~bad].reset_index(drop=True), [frame[bad]] if bad.any() else [])
    for name, mask in masks.items():
        checked.counts[name] = int(mask.sum())
        if mask.any():
            checked.failures.append(Failure(name, "hard", "rejected", frame[mask], tuple(key)))
    return checked


def apply_contract(
    checked: Checked, rules: Sequence[Contract], key: Sequence[str], context: Context
) -> Checked:
    """Rejects rows that break a contract of the sources; `checked.frame` holds the rows of all of them
    (`src`)."""
    for rule in rules:
        frame = checked.frame.reset_index(drop=True)
        fine = rule.check(frame, context)
        mask = ~pd.Series(fine, index=frame.index).astype("boolean").fillna(True).to_numpy(dtype=bool)
        sources = frame["src"].to_numpy(dtype=str) if len(frame) else np.array([], dtype=str)
        for name in sorted(set(sources[mask])):
            own = sources == name
            if mask[own].sum() > max(FEW_ROWS, FEW_SHARE * own.sum()):
                mask |= own
        checked.counts[rule.name] = int(mask.sum())
        if mask.any():
            lost = frame[mask]
            checked.dropped.append(lost)
            checked.failures.append(
                Failure(rule.name, "contract", "rejected", lost, tuple(key), rule.message)
            )
            checked.frame = frame[~mask].reset_index(drop=True)
    return checked


def apply_soft(
    frame: pd.DataFrame,
    soft: Sequence[Soft],
    key: Sequence[str],
    context: Context,
    flags: Mapping[int, set[str]],
) -> Checked:
    """Set `quality` and `quality_flags`. `flags` are those that fusion already found (source conflicts), by
    the place of the row."""
    frame = frame.reset_index(drop=True)
    checked = Checked(frame=frame)
    masks: dict[str, Mask] = {}
    for place, names in flags.items():
        for name in names:
            masks.setdefault(name, np.zeros(len(frame), dtype=bool))[place] = True
    for name in sorted(masks):
        checked.counts[name] = int(masks[name].sum())
        checked.failures.append(Failure(name, "soft", "warning", frame[masks[name]], tuple(key)))
    for rule in soft:
        fine = rule.check(frame, context)
        mask = ~pd.Series(fine, index=frame.index).astype("boolean").fillna(True).to_numpy(dtype=bool)
        checked.counts[rule.name] = int(mask.sum())
        if mask.any():
            action = HELD_BACK if rule.holds else "warning"
            checked.failures.append(Failure(rule.name, "soft", action, frame[mask], tuple(key), rule.message))
            masks[rule.name] = masks[rule.name] | mask if rule.name in masks else mask
    frame["quality"], frame["quality_flags"] = _quality(masks, len(frame))
    return checked


def _quality(masks: Mapping[str, Mask], size: int) -> tuple[Any, Any]:
    """(quality, flags as JSON) of each row, by the checks that it failed. Few sets of checks are there, and
    each is made once."""
    names = sorted(masks)
    failed = np.stack([masks[name] for name in names], axis=1) if names else np.zeros((size, 1), dtype=bool)
    sets, at = np.unique(np.packbits(failed, axis=1), axis=0, return_inverse=True)
    held = np.unpackbits(sets, axis=1, count=failed.shape[1]).astype(bool)
    texts = [
        canonical_json([names[place] for place in np.flatnonzero(row)]) if row.any() else None for row in held
    ]
    quality = np.array(["warning" if row.any() else "ok" for row in held], dtype=object)
    return quality[at.reshape(-1)], np.array(texts, dtype=object)[at.reshape(-1)]


def apply_whole(frame: pd.DataFrame, rules: Sequence[Whole], context: Context) -> list[Quality]:
    """Checks of a partition as a whole: recorded, no row changed."""
    records = []
    for rule in rules:
        problem = rule.check(frame, context)
        if problem:
            records.append(Quality(rule.name, "soft", "table_warning", problem, total_count=len(frame)))
    return records


def _plain(value: Any) -> Any:
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return None
    return value.item() if hasattr(value, "item") else value
