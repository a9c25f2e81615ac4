"""What `ashare import` does."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path

from ashare.output import Output, table
from ashare.session import command_settings
from core.declaration.registry import builtin_registry
from platform_assets.pipeline.imports.loading import FileImport, Report, import_file
from platform_assets.pipeline.imports.mapping import FileMapping, read_mapping
from platform_assets.pipeline.imports.preview import Preview, preview
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.composition import market_clock, open_warehouse
from resources.stored_calendar import stored_calendar
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.locks import Lease

FOLDER = "imports"
"""Below DATA_DIR: checked rows of a file that is being imported."""
_STEPS = 1000


def run(
    out: Output,
    file: Path,
    maps: tuple[str, ...],
    dry_run: bool,
    skip_refused: bool,
    **options: str | None,
) -> int:
    """Import a file, or show what that would do; the exit code. `options`: those of the mapping."""
    mapping = read_mapping(maps, options, builtin_registry().datasets)
    opened = _opened(mapping, file, skip=skip_refused, locked=not dry_run)
    with _shown(out, file.name) as report, opened as job:
        if dry_run:
            found = preview(job, report)
        else:
            done = import_file(job, report)
    if dry_run:
        out.result(asdict(found), _preview_lines(found))
        return int(found.refused > 0 and not skip_refused)
    line = f"{done.rows} rows of {file.name} as {done.source} in {done.dataset}: {done.written} written"
    lines = [f"{line}, {done.refused} refused"]
    if done.before:
        lines = [f"{file.name} was imported before: nothing is written"]
    out.result(asdict(done), lines)
    return 0


@contextmanager
def _shown(out: Output, label: str) -> Iterator[Report]:
    """A progress bar per step."""
    with out.progress(label, 2 * _STEPS) as bar:

        def report(step: str, share: float) -> None:
            before = 0 if step == "reading" else _STEPS
            bar.at(before + int(min(share, 1.0) * _STEPS))

        yield report


@contextmanager
def _opened(mapping: FileMapping, path: Path, *, skip: bool, locked: bool) -> Iterator[FileImport]:
    """The import, with the domain lock of its dataset where it is to write (`locked`). ConflictError while a
    load of the platform holds that lock."""
    settings, registry = command_settings(), builtin_registry()
    calendar = stored_calendar(settings).look_now().fixed()
    clock = market_clock(settings)
    warehouse = open_warehouse(settings, registry, clock)
    try:
        warehouse.migrate()
        domain = registry.dataset(mapping.dataset).domain
        source = f"import:{mapping.name}"
        held = warehouse.locks.held((domain,), source) if locked and domain else nullcontext()
        with held as lease:
            run = PipelineRun(
                registry=registry,
                warehouse=warehouse,
                ctx=FetchContext(clock=clock, calendar=calendar, makers={}),
                calendar=calendar,
                clock=clock,
                trigger=Trigger("manual", ref=source),
                world="import",
                lease=lease if isinstance(lease, Lease) else None,
            )
            yield FileImport(run, mapping, path, settings.data_path / FOLDER, skip)
    finally:
        warehouse.close()


def _preview_lines(found: Preview) -> list[str]:
    compared = found.compared
    names = list(dict.fromkeys(name for row in found.first for name in row))
    head = {name: name for name in names}
    examples = [
        f"  {' '.join(str(value) for value in list(one.values())[:-4])}: {one['column']} {one['file']}, "
        f"stored {one['stored']} ({one['src']})"
        for one in compared.examples
    ]
    columns = [
        f"  {name}: {int(one['rows'])} rows, by at most {one['largest']:.2%}"
        for name, one in compared.columns.items()
    ]
    return [
        f"{found.rows} rows of {found.dataset}, {found.since} to {found.until}, as {found.source}",
        f"order of sources: {', '.join(found.order)}",
        "as they would be stored:",
        *(f"  {line}" for line in table([head, *found.first], names)),
        f"refused: {found.refused} rows",
        *(f"  {reason}: {count}" for reason, count in found.reasons.items()),
        *(f"    {one['file']}, row {one['row']}: {one['reason']} ({one['value']})" for one in found.shown),
        f"against what is stored: {compared.new} new, {compared.equal} equal, {compared.different} would "
        f"change, {compared.kept} stay as a better source has them",
        *columns,
        *examples,
    ]
