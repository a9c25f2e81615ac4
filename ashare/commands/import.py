"""`ashare import`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from ashare.importing import mapping_of, run_import, run_preview
from ashare.output import Output, table
from platform_assets.pipeline.imports.loading import Report
from platform_assets.pipeline.imports.preview import Preview

_STEPS = 1000


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--map", "maps", multiple=True, metavar="FILE|COLUMN=SOURCE[:UNIT[:FORMAT]]",
              help="A TOML or YAML mapping, or one column of it; may be repeated.")  # fmt: skip
@click.option("--dataset", metavar="NAME", help="kline_daily, kline_bar, dividend or fund_flow.")
@click.option("--name", metavar="NAME", help="Name of the import; its source is import:NAME.")
@click.option("--adjust", metavar="MODE", help="How prices of the file are adjusted: none, qfq, hfq.")
@click.option("--factor", metavar="COLUMN", help="Column that adjusted prices were multiplied by.")
@click.option("--place", metavar="PLACE", help="Among the sources: first, last (default), 'after SOURCE'.")
@click.option("--encoding", metavar="NAME", help="Of CSV; default utf-8.")
@click.option("--sheet", metavar="NAME", help="Of Excel; default the first.")
@click.option("--dry-run", is_flag=True, help="Show what would be stored, refused and changed.")
@click.option("--skip-refused", is_flag=True, help="Leave out the rows that are refused.")
@click.pass_obj
def command(
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
    """Bring rows of FILE into the platform: CSV, Parquet, Excel, a folder of them, or a folder of qlib.

    Nothing is written unless every row is fine; --skip-refused leaves out those that are not. The same file
    a second time writes nothing; one that was interrupted goes on.
    """
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
