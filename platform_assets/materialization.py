"""What a materialization tells the Dagster UI: figures of the batch, sources, checks, a preview."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from platform_assets.declaration.columns import ColumnSpec
from platform_assets.declaration.tables import Table
from platform_assets.descriptions import limit_text, type_text
from platform_assets.pipeline.load import Loaded
from resources.warehouse.writer import WriteResult

_PREVIEW_COLUMNS = 10


def column_schema(table: Table) -> dg.TableSchema:
    """Columns with type, unit and constraints, as declared."""
    return dg.TableSchema(
        [
            dg.TableColumn(
                name=spec.name,
                type=type_text(spec),
                description=_about(spec),
                constraints=dg.TableColumnConstraints(
                    nullable=spec.nullable and spec.name not in table.key,
                    other=[limit_text(check) for check in spec.checks],
                ),
            )
            for spec in table.columns
        ]
    )


def _about(spec: ColumnSpec) -> str | None:
    """Meaning of a column, and why it is computed or empty."""
    notes = [spec.title, "computed" if spec.computed else ""]
    notes.append(f"empty: {spec.no_source}" if spec.no_source else "")
    return "; ".join(note for note in notes if note) or None


def partition_metadata(loaded: Loaded, result: WriteResult) -> dict[str, Any]:
    """Figures of one batch."""
    return {
        "dagster/row_count": result.rows_ok + result.rows_warning,
        "batch_id": result.batch_id,
        "rows_in": result.rows_in,
        "rows_ok": result.rows_ok,
        "rows_warning": result.rows_warning,
        "rows_rejected": result.rows_rejected,
        "rows_unchanged": result.rows_unchanged,
        "rows_written": result.rows_written,
        "rows_superseded": result.rows_superseded,
        "content_hash": result.content_hash[:16],
        "sources": dg.MetadataValue.md(_sources(loaded)),
        "preview": dg.MetadataValue.md(_preview(loaded.preview)),
    }


def _sources(loaded: Loaded) -> str:
    if not loaded.sources:
        return "from stored tables"
    lines = ["| source | rows | calls | note |", "|---|---|---|---|"]
    for item in loaded.sources:
        note = item.get("reason") or item.get("fallback_reason") or ""
        lines.append(f"| {item['src']} | {item.get('rows', 0)} | {_calls(item)} | {_cell(note)} |")
    return "\n".join(lines)


def _calls(item: Mapping[str, Any]) -> str:
    """Own calls, and answers that another table of the run had asked for already."""
    shared = len(item.get("fetch_ids", ()))
    return f"{item.get('calls', 0)}" + (f" + {shared} shared in this run" if shared else "")


def _preview(frame: pd.DataFrame) -> str:
    """The first rows as a table, without pandas' optional dependency."""
    if frame.empty:
        return "no rows"
    names = [str(name) for name in frame.columns[:_PREVIEW_COLUMNS]]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in frame.head(5)[names].itertuples(index=False):
        lines.append("| " + " | ".join(_cell(value) for value in row) + " |")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return ""
    return str(value).replace("|", "\\|").replace("\n", " ")[:60]


def check_results(names: Sequence[str], loaded: Loaded) -> list[dg.AssetCheckResult]:
    """One result per declared check. `schema` sums every column limit; all are warnings, because rows
    that fail a hard check were rejected one by one and the rest was written."""
    totals: dict[str, int] = {}
    for counts in loaded.checks.values():
        for name, count in counts.items():
            shown = name if name in names else "schema"
            if name.startswith("source_conflict:"):
                continue
            totals[shown] = totals.get(shown, 0) + count
    problems = {item.check: item.message for items in loaded.whole.values() for item in items}
    results = []
    for name in names:
        failed = totals.get(name, 0)
        metadata: dict[str, Any] = {"n_failed": failed}
        if name in problems:
            metadata["problem"] = problems[name]
        if loaded.results:
            metadata["batch_id"] = loaded.results[-1].batch_id
        results.append(
            dg.AssetCheckResult(
                check_name=name,
                passed=failed == 0 and name not in problems,
                severity=dg.AssetCheckSeverity.WARN,
                metadata=metadata,
            )
        )
    return results
