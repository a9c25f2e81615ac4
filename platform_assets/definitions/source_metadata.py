"""What the Dagster UI shows of an asset's origin: the columns that its own come from, and the code."""

import linecache
import sys
from collections.abc import Mapping
from typing import Any

import dagster as dg

from core.declaration.dataset import Dataset

COLUMN_LINEAGE = "dagster/column_lineage"
CODE_REFERENCES = "dagster/code_references"


def column_lineage(dataset: Dataset, keys: Mapping[str, dg.AssetKey]) -> dict[str, Any]:
    """Metadata with the columns of a fused table and those that they are taken from, as declared: of a staged
    dataset the staged column of the same name, and what `owners` says. A computed column without an owner has
    no entry. `keys`: table -> asset. {} when the declaration names no column."""
    found: dict[str, list[dg.TableColumnDep]] = {}
    if dataset.staged:
        staged = keys[dataset.stage_name]
        for name in [spec.name for spec in dataset.stage_table.columns]:
            found[name] = [dg.TableColumnDep(asset_key=staged, column_name=name)]
    for name, (table, column) in dataset.owners.items():
        if table in keys:
            found[name] = [dg.TableColumnDep(asset_key=keys[table], column_name=column)]
    own = {spec.name: found[spec.name] for spec in dataset.table.columns if spec.name in found}
    return {COLUMN_LINEAGE: dg.TableColumnLineage(own)} if own else {}


def declared_in(model: type) -> dict[str, Any]:
    """Metadata with the file and the line of the class that declares a table's columns; the first line of the
    file for a class that is made from another one."""
    file = sys.modules[model.__module__].__file__
    if file is None:
        return {}
    head = f"class {model.__name__}("
    lines = linecache.getlines(file)
    number = next((at for at, line in enumerate(lines, 1) if line.startswith(head)), 1)
    reference = dg.LocalFileCodeReference(file_path=file, line_number=number, label="declaration")
    return {CODE_REFERENCES: dg.CodeReferencesMetadataValue(code_references=[reference])}
