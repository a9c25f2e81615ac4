"""The import of a file in the process of the command: the warehouse of the settings, and the lock of the
dataset's domain for as long as it is written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from ashare.session import command_settings
from core.calendar import shipped_calendar
from core.declaration.registry import builtin_registry
from platform_assets.pipeline.imports.loading import FileImport, Imported, Report, import_file
from platform_assets.pipeline.imports.mapping import FileMapping, read_mapping
from platform_assets.pipeline.imports.preview import Preview, preview
from platform_assets.pipeline.run import PipelineRun, Trigger
from resources.composition import market_clock, open_warehouse
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.locks import Lease

FOLDER = "imports"
"""Below DATA_DIR: checked rows of a file that is being imported."""


def mapping_of(options: Sequence[str], given: Mapping[str, str | None]) -> FileMapping:
    return read_mapping(options, given, builtin_registry().datasets)


@contextmanager
def opened(mapping: FileMapping, path: Path, *, skip: bool, locked: bool) -> Iterator[FileImport]:
    """The import, with the domain lock of its dataset where it is to write (`locked`). ConflictError while a
    load of the platform holds that lock."""
    settings, registry, calendar = command_settings(), builtin_registry(), shipped_calendar()
    clock = market_clock(settings, calendar)
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


def run_import(mapping: FileMapping, path: Path, *, skip: bool, report: Report) -> Imported:
    with opened(mapping, path, skip=skip, locked=True) as job:
        return import_file(job, report)


def run_preview(mapping: FileMapping, path: Path, *, skip: bool, report: Report) -> Preview:
    with opened(mapping, path, skip=skip, locked=False) as job:
        return preview(job, report)
