"""Hard and soft checks of a frame against a declared model.

Hard: column limits and the model's frame checks; a failing row is rejected and recorded. Soft: named
functions; a failing row gets quality 'warning' and the check's name as a flag.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from platform_assets.declaration.columns import Model, model_checks, model_columns
from platform_assets.declaration.frames import canonical_json, coerce
from platform_assets.declaration.rules import Contract, Soft, Whole
from platform_assets.declaration.scope import Context
from resources.warehouse.writer import Quality

Mask = npt.NDArray[np.bool_]
FEW_ROWS, FEW_SHARE = 3, 0.01
"""Rows of one source that may break a contract before the source as a whole is not believed."""


@dataclass
class Checked:
    """The rows that passed, and what is to be recorded about the others."""

    frame: pd.DataFrame
    rejected: int = 0
    quality: list[Quality] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Failing rows per check, 0 included: becomes the asset check results."""


def coerce_model(
    frame: pd.DataFrame, model: type[Model], extra: Sequence[str] = ()
) -> tuple[pd.DataFrame, dict[str, Mask]]:
    """Canonical frame of a model's columns plus `extra` columns kept as they are."""
    clean, destroyed = coerce(frame, model_columns(model))
    for name in extra:
        clean[name] = frame[name] if name in frame.columns else None
    return clean, destroyed


def hard_masks(frame: pd.DataFrame, model: type[Model], destroyed: dict[str, Mask]) -> dict[str, Mask]:
    """{check name: True where the row fails}. Column checks are `column:check`."""
    failed: dict[str, Mask] = {}
    for spec in model_columns(model):
        values = frame[spec.name]
        missing = values.isna().to_numpy()
        if not spec.nullable:
            failed[f"{spec.name}:not_null"] = missing
        if spec.name in destroyed:
            failed[f"{spec.name}:type"] = destroyed[spec.name]
        if spec.word.length is not None:
            # SQLite would take a longer text, MariaDB would fail the whole batch.
            lengths = values.astype(object).map(lambda v: len(v) if isinstance(v, str) else 0)
            failed[f"{spec.name}:length"] = lengths.to_numpy(dtype=int) > spec.word.length
        present = values[~missing]
        for check in spec.checks:
            failed[f"{spec.name}:{check.name}"] = _failures(check, present, values.index)
    for check in model_checks(model):
        failed[str(check.name)] = _failures(check, frame, frame.index)
    return failed


def _failures(check: Any, data: Any, index: pd.Index) -> Mask:
    result = check(data)
    if bool(result.check_passed):
        return np.zeros(len(index), dtype=bool)
    output = result.check_output
    passed = output.reindex(index) if isinstance(output, pd.Series) else pd.Series(bool(output), index=index)
    # Rows that the check left out (nulls) pass; mapping goes by index, never by position.
    fine: Mask = passed.astype("boolean").fillna(True).to_numpy(dtype=bool)
    return ~fine


def apply_hard(
    frame: pd.DataFrame, model: type[Model], key: Sequence[str], destroyed: dict[str, Mask]
) -> Checked:
    """Reject the rows that fail; duplicates of a key keep the first valid row."""
    frame = frame.reset_index(drop=True)
    masks = hard_masks(frame, model, destroyed)
    bad = np.zeros(len(frame), dtype=bool)
    for mask in masks.values():
        bad |= mask
    good = frame[~bad]
    repeated = good.duplicated(subset=list(key), keep="first")
    duplicate = np.zeros(len(frame), dtype=bool)
    duplicate[good.index[repeated.to_numpy()]] = True
    masks["key:unique"] = duplicate
    bad |= duplicate
    checked = Checked(frame=frame[~bad].reset_index(drop=True), rejected=int(bad.sum()))
    for name, mask in masks.items():
        count = int(mask.sum())
        checked.counts[name] = count
        if count:
            checked.quality += _records(frame, mask, name, key, severity="hard", action="rejected")
    return checked


def apply_contract(
    checked: Checked, rules: Sequence[Contract], key: Sequence[str], context: Context
) -> Checked:
    """Reject what the sources cannot have meant; `checked.frame` holds the rows of all of them (`src`)."""
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
            checked.rejected += int(mask.sum())
            checked.quality += _records(
                frame, mask, rule.name, key, severity="contract", action="rejected", message=rule.message
            )
            checked.frame = frame[~mask].reset_index(drop=True)
    return checked


def apply_soft(
    frame: pd.DataFrame, soft: Sequence[Soft], key: Sequence[str], context: Context, flags: Sequence[set[str]]
) -> Checked:
    """Set `quality` and `quality_flags`. `flags` are those that fusion already found (source conflicts)."""
    frame = frame.reset_index(drop=True)
    found = [set(item) for item in flags] if len(flags) else [set() for _ in range(len(frame))]
    checked = Checked(frame=frame)
    for name in sorted({flag for item in found for flag in item}):
        mask = np.array([name in item for item in found], dtype=bool)
        checked.counts[name] = int(mask.sum())
        checked.quality += _records(frame, mask, name, key, severity="soft", action="warning")
    for rule in soft:
        fine = rule.check(frame, context)
        mask = ~pd.Series(fine, index=frame.index).astype("boolean").fillna(True).to_numpy(dtype=bool)
        checked.counts[rule.name] = int(mask.sum())
        if mask.any():
            checked.quality += _records(
                frame, mask, rule.name, key, severity="soft", action="warning", message=rule.message
            )
            for place in np.flatnonzero(mask):
                found[place].add(rule.name)
    frame["quality"] = ["warning" if item else "ok" for item in found]
    frame["quality_flags"] = [canonical_json(sorted(item)) if item else None for item in found]
    return checked


def apply_whole(frame: pd.DataFrame, rules: Sequence[Whole], context: Context) -> list[Quality]:
    """Checks of a partition as a whole: recorded, no row changed."""
    records = []
    for rule in rules:
        problem = rule.check(frame, context)
        if problem:
            records.append(Quality(rule.name, "soft", "table_warning", problem, total_count=len(frame)))
    return records


def _records(
    frame: pd.DataFrame,
    mask: Mask,
    name: str,
    key: Sequence[str],
    *,
    severity: str,
    action: str,
    message: str = "",
) -> list[Quality]:
    """One record per failing row (the writer keeps the first 200) and one summary."""
    column = name.partition(":")[0] if ":" in name and name.partition(":")[0] in frame.columns else None
    total = len(frame)
    bad = frame[mask]
    sources = bad["src"].tolist() if "src" in bad.columns else [None] * len(bad)
    records = []
    for place, (_, row) in enumerate(bad.head(200).iterrows()):
        records.append(
            Quality(
                check=name,
                severity=severity,
                action=action,
                message=message,
                column=column,
                natural_key=canonical_json({part: _plain(row[part]) for part in key if part in row.index}),
                code=None if "code" not in row.index or pd.isna(row["code"]) else str(row["code"])[:16],
                failed_value=None if column is None else str(_plain(row[column])),
                total_count=total,
                sources=None if sources[place] is None else [sources[place]],
            )
        )
    records.append(
        Quality(
            check=name,
            severity=severity,
            action=action,
            message=message or f"{int(mask.sum())} of {total} rows",
            failed_count=int(mask.sum()),
            total_count=total,
        )
    )
    return records


def _plain(value: Any) -> Any:
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return None
    return value.item() if hasattr(value, "item") else value
