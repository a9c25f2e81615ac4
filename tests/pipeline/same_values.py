"""What two warehouses of one market hold of the same dates, and why values of them may differ."""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.columns import EVENING, ColumnSpec
from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from tests.pipeline.conftest import Services

ROUNDED = 1e-4
"""What is made from values that sources round: share by which it may differ."""
REGISTRY = builtin_registry()
TABLES = tuple(
    table
    for table in REGISTRY.tables
    if table.layer in (Layer.DWD, Layer.CALC, Layer.REF) and (table.moment or table.date_column)
)


@dataclass(frozen=True)
class Pair:
    """Two warehouses of one market. `days`: the dates that are compared; `lived`: the first one lived
    them."""

    one: Services
    other: Services
    days: tuple[str, ...]
    lived: bool = False
    known: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = field(default_factory=dict)

    def rows(self, table: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows of the dates that both hold, by key."""
        if table.name not in self.known:
            found = []
            for services in (self.one, self.other):
                rows = services.warehouse.frame(table.name)
                if table.date_column is not None:
                    dates = rows[table.date_column].astype(str).str[:10]
                    rows = rows[dates.isin(self.days) if self.lived else dates <= self.days[-1]]
                found.append(rows.set_index(list(table.key)).sort_index())
            shared = found[0].index.intersection(found[1].index)
            self.known[table.name] = (found[0].loc[shared], found[1].loc[shared])
        return self.known[table.name]

    def withheld(self, table: Table) -> set[str]:
        """Columns that one of them lacks because a date that they need is not loaded (`needs`)."""
        messages = [
            message
            for services in (self.one, self.other)
            for (message,) in services.warehouse.query(
                "SELECT DISTINCT message FROM sys_quality_record "
                "WHERE table_name=? AND check_name='not_loaded'",
                (table.name,),
            )
        ]
        return {name for message in messages for name in message.partition(":")[0].split(", ")}

    def differing(self, table: Table) -> dict[str, Any]:
        """Column -> a key with both values and the number of rows that differ."""
        audit = {spec.name for spec in table.audit} - {"quality", "quality_flags"}
        if self.lived:
            audit |= {"quality", "quality_flags"}  # they tell of the columns that a source has
        left_out, wrong = {*table.key, *audit, *self.withheld(table)}, {}
        for spec in table.all_columns:
            if spec.name in left_out or (spec.varies and (self.lived or spec.varies != EVENING)):
                continue
            one, other = (rows[spec.name] for rows in self.rows(table))
            bad = ~((one == other) | (one.isna() & other.isna()))
            if bad.any() and self.lived:
                bad &= ~self._explained(table, spec)
            if bad.any():
                key = bad[bad].index[0]
                wrong[spec.name] = (key, one[key], other[key], int(bad.sum()))
        return wrong

    def _explained(self, table: Table, spec: ColumnSpec) -> pd.Series:
        """Rows whose value differs for a reason that is declared: the source of later does not have it, or
        rounds it."""
        dataset, (one, other) = REGISTRY.of_table(table.name), self.rows(table)
        lacking = other[spec.name].isna()
        if not (_other_source(one, other).any() or self._owner_lacks(dataset, spec)):
            lacking &= False
        elif not self._owner_lacks(dataset, spec):
            lacking &= _other_source(one, other)
        return lacking | _alike(dataset, spec, one, other)

    def _owner_lacks(self, dataset: Dataset, spec: ColumnSpec) -> bool:
        """Whether the column that a calculated one is taken from has values that are lacking later."""
        if spec.name not in dataset.owners:
            return False
        name, column = dataset.owners[spec.name]
        tables = [table for table in REGISTRY.tables if table.name == name]
        one, other = self.rows(tables[0])
        return column in one and bool((one[column].notna() & other[column].isna()).any())


def _other_source(one: pd.DataFrame, other: pd.DataFrame) -> pd.Series:
    if "src" not in one:
        return pd.Series(False, index=one.index)
    return one["src"].astype(str) != other["src"].astype(str)


def _alike(dataset: Dataset, spec: ColumnSpec, one: pd.DataFrame, other: pd.DataFrame) -> pd.Series:
    """Rows whose numbers differ by no more than rounding: of the wires of two sources as the dataset declares
    it, else of what is made from them."""
    left, right = one[spec.name], other[spec.name]
    if spec.family == "json":
        return pd.Series([_near(a, b) for a, b in zip(left, right, strict=True)], index=one.index)
    if spec.family not in ("float", "int"):
        return pd.Series(False, index=one.index)
    numbers, others = left.astype(float), right.astype(float)
    most = ROUNDED * np.maximum(numbers.abs(), others.abs())
    most = np.maximum(most, 0.0 if spec.scale is None else 1.01 * 10.0**-spec.scale)
    if spec.family == "int" and _is_made_of_rounded(dataset, spec):
        most = np.maximum(most, 1.0)
    if spec.name in dataset.unchanged_within:
        sourced = other.reset_index().assign(stored_src=one["src"].to_numpy())
        declared = dataset.unchanged_within[spec.name](sourced).fillna(0).to_numpy(dtype=float)
        most = np.maximum(most, declared)
    return (numbers - others).abs() <= most


def _is_made_of_rounded(dataset: Dataset, spec: ColumnSpec) -> bool:
    name, column = dataset.owners.get(spec.name, ("", ""))
    return bool(name) and column in REGISTRY.of_table(name).unchanged_within


def _near(one: Any, other: Any) -> bool:
    """Whether two texts of JSON hold the same, numbers but for their rounding."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, int | float) and isinstance(b, int | float):
            return bool(abs(a - b) <= max(ROUNDED * max(abs(a), abs(b)), 0.011))
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
        return bool(a == b)

    texts = isinstance(one, str) and isinstance(other, str)
    return texts and same(json.loads(one), json.loads(other))
