"""`ashare export`."""

from pathlib import Path

import click

from ashare.exporting import Selection, export
from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.admin.shared import off_loop
from serving_api.framework.state import State

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "excel"}
QLIB = "qlib"


@click.command("export")
@click.argument("table")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="FILE",
    help="NAME.csv, .jsonl (.gz compresses), .parquet or .xlsx; a folder with --qlib.",
)
@click.option("--from", "since", metavar="DATE", help="First day of the table's dates.")
@click.option("--until", metavar="DATE", help="Last day.")
@click.option("--codes", metavar="CODES", help="Comma list of codes.")
@click.option("--columns", metavar="NAMES", help="Comma list of columns; default: all of the content.")
@click.option("--as-of", metavar="TIME", help="As it was known at this date or time (fused tables).")
@click.option("--adjust", metavar="MODE", help="Prices of daily bars: none (default), qfq, hfq.")
@click.option("--qlib", is_flag=True, help="Daily bars as a folder in qlib's binary format.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def command(
    out: Output,
    table: str,
    target: str,
    since: str | None,
    until: str | None,
    codes: str | None,
    columns: str | None,
    as_of: str | None,
    adjust: str | None,
    qlib: bool,
    force: bool,
) -> None:
    """Write rows of TABLE to a file, in the order of its key; dates of both ends are included."""
    path = Path(target)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    form = QLIB if qlib else FORMATS.get(suffix)
    if form is None or (path.suffix == ".gz" and form not in ("csv", "jsonl")):
        raise InputError("to", f"{path.name!r} ends in none of {', '.join(FORMATS)}; .gz is for texts")
    if path.exists() and not force:
        raise InputError("to", f"{path} is there already; --force replaces it")

    async def written(state: State) -> int:
        chosen = Selection.of(state, table, since, until, codes, columns, as_of, adjust)
        return await off_loop(export, state.reading.warehouse, chosen, path, form)

    rows = with_state(written)
    out.result({"table": table, "rows": rows, "file": str(path)}, [f"{rows} rows of {table} in {path}"])
