"""What `ashare lake` does."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ashare.output import Output, table
from ashare.session import command_settings
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError, PlatformError
from platform_assets.research.queries import table_named
from resources.composition import market_clock, open_warehouse
from resources.lake.checking import DIFFERENT, checked
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.lake.upkeep import tidy
from resources.warehouse.warehouse import Warehouse


def _chosen(names: tuple[str, ...]) -> list[Table]:
    """The published tables of these names, or of the datasets; all without one. Raises InputError."""
    registry = builtin_registry()
    if not names:
        return sorted((one for one in registry.tables if one.published), key=lambda one: one.name)
    chosen = [table_named(registry, name) for name in names]
    wrong = next((one for one in chosen if not one.published), None)
    if wrong is not None:
        raise InputError("table", f"{wrong.name} is as received, and never published")
    return chosen


@contextmanager
def _opened() -> Iterator[tuple[Warehouse, Lake]]:
    settings = command_settings()
    clock = market_clock(settings)
    warehouse = open_warehouse(settings, builtin_registry(), clock, read_only=True)
    try:
        yield warehouse, Lake(settings.lake_address)
    finally:
        warehouse.close()


def publish(out: Output, names: tuple[str, ...]) -> int:
    """Publish the tables and show what changed; 1 when one could not be published."""
    chosen, rows, failed = _chosen(names), [], {}
    with _opened() as (warehouse, lake), out.progress("publishing", len(chosen)) as shown:
        for number, one in enumerate(chosen, 1):
            try:
                done = Publisher(warehouse, lake).publish(one)
                rows.append({"table": one.name, "months": len(done.months), "rows": done.rows})
            except PlatformError as error:
                failed[one.name] = error.message
            shown.at(number)
    changed = [row for row in rows if row["months"]]
    lines = [f"{one['table']}: {one['rows']} rows of {one['months']} months" for one in changed]
    lines += [f"{name}: {why}" for name, why in failed.items()]
    lines.append(f"{len(changed)} of {len(chosen)} tables published, the others had not changed")
    out.result({"ok": not failed, "tables": rows, "failed": failed}, lines)
    return 1 if failed else 0


def check(out: Output, names: tuple[str, ...]) -> int:
    """Compare the published months; 1 when one differs."""
    chosen = _chosen(names)
    with _opened() as (warehouse, lake), out.progress("comparing", len(chosen)) as shown:
        found = []
        for number, one in enumerate(chosen, 1):
            found += list(checked(warehouse, lake, one))
            shown.at(number)
    wrong = [one for one in found if one.status == DIFFERENT]
    rows = [
        {"table": one.table, "month": one.month, "status": one.status,
         "published_rows": one.published_rows, "stored_rows": one.stored_rows}
        for one in found
    ]  # fmt: skip
    counts = Counter(one.status for one in found)
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    shown_rows = [row for row in rows if row["status"] == DIFFERENT]
    out.result(
        {"ok": not wrong, "months": rows},
        [
            *table(shown_rows, ("table", "month", "status", "published_rows", "stored_rows")),
            f"months: {summary}",
        ],
    )
    return 1 if wrong else 0


def tidied(out: Output, names: tuple[str, ...]) -> None:
    """Delete files that no version needs and say how many."""
    with _opened() as (_, lake):
        done = [tidy(lake, one.name) for one in _chosen(names) if lake.has(one.name)]
    deleted = sum(one.deleted for one in done)
    out.result(
        {"ok": True, "tables": len(done), "files_deleted": deleted},
        [f"{deleted} files of {len(done)} tables deleted"],
    )
