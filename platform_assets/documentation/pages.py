"""The derived part of the documentation: pages per dataset, the vocabulary, and tables inside hand-written
pages between `<!-- derived: name -->` and `<!-- end -->`.

`python -m platform_assets.documentation` (make docs) writes them; `--check` names those that are stale and
ends with 1.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from core.declaration.columns import ColumnSpec
from core.declaration.dataset import Dataset, Raw
from core.declaration.interfaces import Parameter
from core.declaration.registry import Registry, builtin_registry
from core.declaration.tables import Table
from core.errors import DeclarationError
from platform_assets import descriptions
from platform_assets.documentation.blocks import BLOCKS, cell, table
from platform_assets.documentation.languages import LANGUAGE_BLOCKS
from platform_assets.documentation.vocabulary import client_calls, vocabulary

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"(<!-- derived: (?P<name>[a-z-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)
_HEAD = "<!-- Derived from the declarations by `make docs`; changes by hand are lost. -->\n\n"


def derived_pages(registry: Registry) -> dict[str, str]:
    """{path below the root: whole text} of the pages that nobody writes by hand."""
    pages = {f"docs/datasets/{dataset.name}.md": dataset_page(dataset) for dataset in _sorted(registry)}
    pages["docs/datasets/README.md"] = _HEAD + dataset_index(registry)
    pages["docs/vocabulary.md"] = _HEAD + vocabulary()
    pages["docs/client-calls.md"] = _HEAD + client_calls()
    return pages


def hand_written(root: Path) -> list[Path]:
    """Pages that may hold derived tables."""
    derived = {root / name for name in derived_pages(builtin_registry())}
    return [
        path
        for path in sorted(
            [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs/calculations").glob("*.md")]
        )
        if path.exists() and path not in derived
    ]


def filled(text: str, origin: str) -> str:
    """`text` with every derived block as it should be. DeclarationError for an unknown block."""

    blocks = {**BLOCKS, **LANGUAGE_BLOCKS}

    def fill(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in blocks:
            raise DeclarationError(f"{origin}: no derived block {name!r}; known: {', '.join(sorted(blocks))}")
        return f"{match[1]}{blocks[name]().rstrip()}\n{match[4]}"

    return _BLOCK.sub(fill, text)


def expected(root: Path = ROOT) -> dict[Path, str]:
    """Every file that derives, whole or in part, with the text that it should have."""
    files = {root / name: text for name, text in derived_pages(builtin_registry()).items()}
    for path in hand_written(root):
        files[path] = filled(path.read_text(encoding="utf-8"), path.name)
    return files


def stale(root: Path = ROOT) -> list[Path]:
    """Files that differ from what the declarations say, and pages of datasets that are gone."""
    requested = expected(root)
    wrong = [
        path
        for path, text in requested.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    gone = [path for path in sorted((root / "docs" / "datasets").glob("*.md")) if path not in requested]
    return wrong + gone


def write(root: Path = ROOT) -> list[Path]:
    """Bring every derived text up to date; what was changed or removed."""
    changed = stale(root)
    requested = expected(root)
    for path in changed:
        if path in requested:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(requested[path], encoding="utf-8")
        else:
            path.unlink()
    return changed


# -- datasets -----------------------------------------------------------------------------------------


def _sorted(registry: Registry) -> list[Dataset]:
    return sorted(registry.datasets.values(), key=lambda dataset: dataset.name)


def dataset_index(registry: Registry) -> str:
    rows = []
    for dataset in _sorted(registry):
        tables = ", ".join(f"`{one.name}`" for one in dataset.all_tables)
        tasks = ", ".join(f"`{task}`" for task in dataset.tasks)
        link = f"[{dataset.name}]({dataset.name}.md)"
        rows.append((link, dataset.title, tables, dataset.domain or "", tasks))
    return (
        "# Datasets\n\nOne page per file of `platform_assets/datasets`. Units: `CNY`; `wan` = 10,000 CNY; "
        "`sh` = shares; `pct` = percent; `point` = index points. Times are naive Asia/Shanghai.\n\n"
        + table(("dataset", "what it is", "tables", "lock", "tasks"), rows)
    )


def dataset_page(dataset: Dataset) -> str:
    """The page of one dataset: its tables with columns, units, checks, sources and freshness."""
    parts = [f"{_HEAD}# {dataset.name}: {dataset.title or dataset.name}"]
    if dataset.tasks:
        parts.append(f"Loaded by {', '.join(f'`{task}`' for task in dataset.tasks)}.")
    if dataset.model is not None:
        parts.append(_fused_section(dataset))
    parts += [_raw_section(raw) for raw in dataset.raw]
    for one in dataset.records:
        parts += [f"## `{one.name}`", f"{one.description}. No load fills it.", _columns(one.columns, one.key)]
    if dataset.importable:
        names = " and ".join(f"`{one.name}`" for one in dataset.import_tables)
        parts.append(f"Rows of users' files ([`ashare import`](../importing.md)) pass {names}.")
    if dataset.model is None:
        parts += _interfaces(dataset)
    return "\n\n".join(parts) + "\n"


def _fused_section(dataset: Dataset) -> str:
    key = dataset.key
    parts = [
        f"## `{dataset.table_name}`",
        descriptions.fused_about(dataset),
        f"Freshness: {descriptions.freshness_text(dataset.freshness)}.",
        _columns(dataset.columns, key),
        "### Checks",
        table(
            ("check", "kind", "what it says"),
            [(f"`{check.name}`", check.kind, check.text) for check in descriptions.dataset_checks(dataset)],
        ),
    ]
    if dataset.reads:
        parts.append("Reads " + ", ".join(f"`{name}`" for name in dataset.reads) + ".")
    parts += _interfaces(dataset)
    if dataset.staged:
        left_out = ", ".join(f"`{spec.name}`" for spec in dataset.columns if spec.computed)
        text = "Columns of the fused table" + (
            f" without the computed ones ({left_out})." if left_out else "."
        )
        parts += [f"## `{dataset.stage_name}`", descriptions.stage_about(dataset), text]
    return "\n\n".join(parts)


def _interfaces(dataset: Dataset) -> list[str]:
    rows = [
        (f"`{one.name}`", one.description, ", ".join(_parameter(*item) for item in one.params.items()))
        for one in dataset.interfaces
    ]
    if not rows:
        return []
    return ["### Interfaces of the catalog", table(("interface", "answers", "parameters"), rows)]


def _parameter(name: str, rule: Parameter) -> str:
    default = "" if rule.default is None else f" = {rule.default}"
    return f"`{name}` {rule.kind}" + (", required" if rule.required else default)


def _raw_section(raw: Raw) -> str:
    parts = [
        f"## `{raw.table_name}`",
        descriptions.raw_about(raw),
        f"Freshness: {descriptions.freshness_text(raw.freshness)}.",
        _columns(raw.table.columns, raw.key),
        _audit(raw.table),
    ]
    return "\n\n".join(parts)


def _audit(raw: Table) -> str:
    return "Beside them: " + ", ".join(f"`{spec.name}`" for spec in raw.audit) + "."


def _columns(columns: Sequence[ColumnSpec], key: tuple[str, ...]) -> str:
    rows = []
    for spec in columns:
        note = "computed" if spec.computed else ""
        if spec.decimals is not None:
            note = ", ".join(filter(None, (note, f"{spec.decimals} decimals")))
        if spec.no_source:
            note = f"empty: {spec.no_source}"
        limits = cell(", ".join(descriptions.column_limits(spec, key)))
        rows.append((f"`{spec.name}`", spec.sql, spec.unit, spec.title, limits, note))
    return table(("column", "type", "unit", "meaning", "limits", "note"), rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m platform_assets.documentation", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, name what is stale")
    options = parser.parse_args(arguments)
    changed = stale() if options.check else write()
    for path in changed:
        sys.stdout.write(f"{'stale' if options.check else 'written'}: {path.relative_to(ROOT)}\n")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
