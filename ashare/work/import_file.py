"""What `ashare import` does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import cast

from ashare.output import Output, table
from ashare.session import command_settings
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.pipeline.imports.loading import FileImport, Imported, Report, import_file
from platform_assets.pipeline.imports.mapping import read_mapping
from platform_assets.pipeline.imports.origins import MappedFiles, Origin
from platform_assets.pipeline.imports.package_rows import PackageFiles, files_of
from platform_assets.pipeline.imports.packages import ORDER, Package, looked_through
from platform_assets.pipeline.imports.preview import Preview, preview
from platform_assets.pipeline.run import PipelineRun, Trigger
from platform_assets.research.queries import day_of
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
    columns_before: str | None = None,
    **options: str | None,
) -> int:
    """Import a file, or show what that would do; the exit code. `options`: those of the mapping. Without any
    of them the file is looked through for formats that are known."""
    place = options.get("place")
    if not maps and not any(value for name, value in options.items() if name != "place"):
        with looked_through(file) as package:
            border = None if columns_before is None else day_of("columns-before", columns_before)
            return _package(out, package, dry_run=dry_run, skip=skip_refused, place=place, border=border)
    if columns_before is not None:
        raise InputError("columns-before", "column files take the bars of packages alone")
    mapping = read_mapping(maps, options, builtin_registry().datasets)
    origin = MappedFiles(file, mapping)
    opened = _opened(mapping.dataset, lambda _run: origin, skip=skip_refused, locked=not dry_run)
    with _shown(out, file.name) as report, opened as job:
        if dry_run:
            found = preview(job, report)
        else:
            done = import_file(job, report)
    if dry_run:
        out.result(asdict(found), _preview_lines(found))
        return int(found.refused > 0 and not skip_refused)
    out.result(asdict(done), _done_lines(done, file.name))
    return 0


def _package(
    out: Output, package: Package, *, dry_run: bool, skip: bool, place: str | None, border: str | None
) -> int:
    """Import each dataset of a package in turn, or show what that would do; the exit code."""
    previews: list[Preview] = []
    done: list[Imported] = []
    for dataset in [name for name in ORDER if name in package.pieces]:

        def origin(run: PipelineRun, dataset: str = dataset) -> Origin:
            return files_of(run, package, dataset, place)

        opened = _opened(dataset, origin, skip=skip, locked=not dry_run)
        with _shown(out, f"{package.label}: {dataset}") as report, opened as job:
            if dry_run:
                previews.append(preview(replace(job, border=border), report))
            else:
                again = partial(_again, package.path, package.digest, dataset, place)
                done.append(import_file(replace(job, border=border, reopen=again), report))
    left_out = dict(package.left_out)
    results: Sequence[Preview | Imported] = previews or done
    for one in results:
        left_out |= one.left_out
    document = {"datasets": [asdict(one) for one in results], "left_out": left_out, "others": package.others}
    lines = [line for one in previews for line in (*_preview_lines(one), "")]
    lines += [line for one in done for line in _done_lines(one, package.label)]
    out.result(document, [*lines, *_left_out_lines(left_out, package.others)])
    return int(any(one.refused > 0 for one in previews) and not skip)


@contextmanager
def _again(
    path: Path, digest: str, dataset: str, place: str | None
) -> Iterator[tuple[PipelineRun, PackageFiles]]:
    """Warehouse and package for a process that does a part of the import."""
    with looked_through(path) as package:
        package.digest = digest  # of a gigabyte, known already
        opened = _opened(
            dataset, lambda run: files_of(run, package, dataset, place), skip=False, locked=False
        )
        with opened as job:
            yield job.run, cast(PackageFiles, job.origin)


def _done_lines(done: Imported, label: str) -> list[str]:
    if done.before:
        return [f"{label} was imported into {done.dataset} before: nothing is written"]
    line = f"{done.rows} rows of {label} as {done.source} in {done.dataset}: {done.written} written"
    old = f", {done.in_column_files} of them in column files" if done.in_column_files else ""
    return [f"{line}, {done.refused} refused{old}"]


def _left_out_lines(left_out: dict[str, str], others: int) -> list[str]:
    """One line per reason, with the number of files and the first of them."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    lines = [
        f"left out: {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {why}"
        for why, names in by_reason.items()
    ]
    return [*lines, *([f"{others} other files are of no known format"] if others else [])]


@contextmanager
def _shown(out: Output, label: str) -> Iterator[Report]:
    """A progress bar per step."""
    with out.progress(label, 2 * _STEPS) as bar:

        def report(step: str, share: float) -> None:
            before = 0 if step == "reading" else _STEPS
            bar.at(before + int(min(share, 1.0) * _STEPS))

        yield report


@contextmanager
def _opened(
    dataset: str, origin: Callable[[PipelineRun], Origin], *, skip: bool, locked: bool
) -> Iterator[FileImport]:
    """The import, with the domain lock of its dataset where it is to write (`locked`). ConflictError while a
    load of the platform holds that lock."""
    settings, registry = command_settings(), builtin_registry()
    calendar = stored_calendar(settings).look_now().fixed()
    clock = market_clock(settings)
    warehouse = open_warehouse(settings, registry, clock)
    try:
        warehouse.migrate()
        domain = registry.dataset(dataset).domain
        source = f"import of {dataset}"
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
            yield FileImport(run, origin(run), settings.data_path / FOLDER, skip)
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
    parted = [] if found.border is None else [
        f"from before {found.border} into column files: {found.in_column_files} rows"
    ]  # fmt: skip
    return [
        f"{found.rows} rows of {found.dataset}, {found.since} to {found.until}, as {found.source}",
        *parted,
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
