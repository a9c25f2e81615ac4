"""What `ashare import` does."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from ashare.importing import mapping_of, run_import, run_preview
from ashare.output import Output, table
from platform_assets.pipeline.imports.loading import Report
from platform_assets.pipeline.imports.preview import Preview

_STEPS = 1000


def run(
    out: Output,
    file: Path,
    maps: tuple[str, ...],
    dataset: str | None,
    name: str | None,
    adjust: str | None,
    factor: str | None,
    place: str | None,
    encoding: str | None,
    sheet: str | None,
    dry_run: bool,
    skip_refused: bool,
) -> int:
    """Import a file, or show what that would do; the exit code."""
    given = {
        "dataset": dataset,
        "name": name,
        "adjust": adjust,
        "factor": factor,
        "place": place,
        "encoding": encoding,
        "sheet": sheet,
    }
    mapping = mapping_of(maps, given)
    with _shown(out, file.name) as report:
        if dry_run:
            found = run_preview(mapping, file, skip=skip_refused, report=report)
        else:
            done = run_import(mapping, file, skip=skip_refused, report=report)
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
    steps: dict[str, tuple[int, object]] = {}
    with out.progress(label, 2 * _STEPS) as bar:

        def report(step: str, share: float) -> None:
            before = 0 if step == "reading" else _STEPS
            steps[step] = (before, share)
            bar.at(before + int(min(share, 1.0) * _STEPS))

        yield report


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
