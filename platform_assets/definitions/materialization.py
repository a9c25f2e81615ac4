"""What a materialization tells the Dagster UI: figures of the batch, sources, checks, a preview."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from core.declaration.columns import ColumnSpec
from core.declaration.tables import Table
from platform_assets.descriptions import SCHEMA_CHECK, limit_text, type_text
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.run import Refusal
from resources.warehouse.batch_records import Quality
from resources.warehouse.writer import WriteResult

_PREVIEW_COLUMNS = 8
_PREVIEW_CELL = 16
_PREVIEW_BYTES = 300
_MOST_NAMED = 40
"""Every event is stored twice (the run's, and the asset's), so what it shows is short."""
VERSION_LENGTH = 16
"""Hex digits of a content hash that are an asset's data version: each asset that reads it repeats them."""


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


def partition_metadata(loaded: Loaded, result: WriteResult, *, newest: bool = True) -> dict[str, Any]:
    """Figures of one batch; one that is not there is 0, and the others are sums: rows in = row count +
    rejected, rows without a warning = row count - warning. A range has an event per date, so what is the same
    for all of them, the sources and the preview, is in the `newest` alone."""
    names = ("rows_warning", "rows_rejected", "rows_unchanged", "rows_written", "rows_superseded")
    figures = {name: getattr(result, name) for name in names}
    reported: dict[str, Any] = {
        "dagster/row_count": result.rows_ok + result.rows_warning,
        "batch_id": result.batch_id,
        **{name: count for name, count in figures.items() if count or name == "rows_written"},
    }
    if newest and loaded.not_served:
        named = sorted(loaded.not_served)
        reported["not_served"] = len(named)
        reported["not_served_codes"] = ", ".join(named[:_MOST_NAMED])
    if newest:
        reported["sources"] = dg.MetadataValue.md(_source_table(loaded.sources))
        reported["preview"] = dg.MetadataValue.md(_preview(loaded.preview))
    return reported


def has_changed(result: WriteResult) -> bool:
    """Whether a batch wrote or withdrew rows."""
    return bool(result.rows_written or result.rows_superseded)


def shown_whole(loaded: Loaded) -> dict[str, Any]:
    """What the newest partition of a small table shows beside its figures; {} for all others."""
    show = SHOWN.get(loaded.table.name)
    return {} if show is None else show(loaded.newest)


def _agreement(rows: pd.DataFrame) -> dict[str, Any]:
    """Agreement of the sources as a table, and as a plot of one line per pair: the share that agrees."""
    if rows.empty:
        return {}
    heads = ("pair", "compared", "within", "only a", "only b", "median", "largest", "drift 20 d", "status")
    table = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    plot = []
    for row in rows.to_dict("records"):
        pair = f"{row['dataset']}.{row['field_name']}: {row['source_a']} / {row['source_b']}"
        share = row["within_pct"]
        known = share is not None and not pd.isna(share)
        cells = [pair, row["compared"], f"{share:.2f} %" if known else None, row["only_a"], row["only_b"],
                 row["median_diff"], row["max_diff"], row["drift_20d"], row["status"]]  # fmt: skip
        table.append("| " + " | ".join(_cell(cell, 90) for cell in cells) + " |")
        filled = round(float(share) / 100 * _BAR) if known else 0
        plot.append(f"{'█' * filled}{'.' * (_BAR - filled)} {pair}")
    return {
        "agreement": dg.MetadataValue.md("\n".join(table)),
        "agreement_plot": dg.MetadataValue.md("```\n" + "\n".join(plot) + "\n```"),
    }


_BAR = 20
SHOWN: Mapping[str, Callable[[pd.DataFrame], dict[str, Any]]] = {"calc_reconcile": _agreement}
"""Table -> what its materialization shows of all its rows."""


def _source_table(sources: Sequence[Mapping[str, Any]]) -> str:
    if not sources:
        return "from stored tables"
    lines = ["| source | rows | calls | note |", "|---|---|---|---|"]
    for item in sources:
        note = item.get("reason") or item.get("fallback_reason") or ""
        lines.append(f"| {item['src']} | {item.get('rows', 0)} | {_calls(item)} | {_cell(note)} |")
    return "\n".join(lines)


def _calls(item: Mapping[str, Any]) -> str:
    """Own calls, and answers that another table of the run had asked for already."""
    shared = len(item.get("fetch_ids", ()))
    return f"{item.get('calls', 0)}" + (f" + {shared} shared in this run" if shared else "")


def _preview(frame: pd.DataFrame) -> str:
    """The first rows as a table, as many as fit but one at least; without pandas' optional dependency."""
    if frame.empty:
        return "no rows"
    names = [str(name) for name in frame.columns[:_PREVIEW_COLUMNS]]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in frame.head(5)[names].itertuples(index=False):
        line = "| " + " | ".join(_cell(value, _PREVIEW_CELL) for value in row) + " |"
        if len(lines) > 2 and len(json.dumps("\n".join([*lines, line]))) > _PREVIEW_BYTES:
            break
        lines.append(line)
    return "\n".join(lines)


def _cell(value: Any, length: int = 60) -> str:
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return ""
    return str(value).replace("|", "\\|").replace("\n", " ")[:length]


def checks_of_nothing(names: Sequence[str], why: Mapping[str, str]) -> list[dg.AssetCheckResult]:
    """One result per declared check where no date was loaded; `why`: date -> reason. Dagster takes no step
    without the results that it announced, and a check of nothing has not passed."""
    problem = next((f"{day} is not loaded: {reason}" for day, reason in why.items()), "nothing is loaded")
    return [
        dg.AssetCheckResult(
            check_name=name, passed=False, severity=dg.AssetCheckSeverity.WARN, metadata={"problem": problem}
        )
        for name in names
    ]


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
            first, last = loaded.results[0], loaded.results[-1]
            metadata["batch_id"] = last.batch_id
            if len(loaded.results) > 1:
                metadata["partitions"] = f"{first.partition_key}..{last.partition_key}"
        results.append(
            dg.AssetCheckResult(
                check_name=name,
                passed=failed == 0 and name not in problems,
                severity=dg.AssetCheckSeverity.WARN,
                metadata=metadata,
            )
        )
    return results


def refused_results(
    names: Sequence[str],
    key: dg.AssetKey,
    reason: str,
    refused: Sequence[Refusal],
    *,
    absent: bool = False,
) -> list[dg.AssetCheckResult]:
    """What the checks of an asset say whose batch was refused as a whole: `schema`, and each check that
    found something, with the reason, the batch, its sources and what was found. `absent`: each one says so,
    as a warning."""
    common: dict[str, Any] = {"reason": dg.MetadataValue.text(reason)}
    found: dict[str, list[Quality]] = {}
    if refused:
        last = refused[-1]
        common |= {"batch_id": last.batch_id, "sources": dg.MetadataValue.md(_source_table(last.sources))}
        # Records of single rows are in the warehouse; the summary of a check counts them.
        for item in last.quality:
            if item.natural_key is None:
                found.setdefault(item.check if item.check in names else SCHEMA_CHECK, []).append(item)
    return [
        dg.AssetCheckResult(
            check_name=name,
            asset_key=key,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN if absent else dg.AssetCheckSeverity.ERROR,
            metadata={**common, **_findings(found.get(name, ()))},
        )
        for name in names
        if absent or name == SCHEMA_CHECK or name in found
    ]


def _findings(records: Sequence[Quality]) -> dict[str, Any]:
    if not records:
        return {}
    lines = ["| check | rows | of | what was found |", "|---|---|---|---|"]
    for item in records:
        total = item.total_count or ""
        lines.append(f"| {item.check} | {item.failed_count} | {total} | {_cell(item.message, 300)} |")
    return {
        "n_failed": sum(item.failed_count for item in records if item.action == "rejected"),
        "findings": dg.MetadataValue.md("\n".join(lines)),
    }
