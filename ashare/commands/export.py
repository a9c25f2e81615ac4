"""`ashare export`."""

from typing import Any

import click

from ashare.completions import words
from ashare.output import Output


@click.command("export")
@click.argument("table")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="NAME.csv, .jsonl (.gz compresses), .parquet or .xlsx; a folder with --qlib.",
)
@click.option("--from", "since", metavar="DATE", help="First day of the table's dates.")
@click.option("--until", metavar="DATE", help="Last day.")
@click.option("--codes", metavar="CODES", help="Comma list of codes.")
@click.option("--columns", metavar="NAMES", help="Comma list of columns; default: all of the content.")
@click.option("--as-of", metavar="TIME", help="As it was known at this date or time (fused tables).")
@click.option(
    "--adjust",
    metavar="MODE",
    shell_complete=words("none", "qfq", "hfq"),
    help="Prices of daily bars: none (default), qfq, hfq.",
)
@click.option("--qlib", is_flag=True, help="Daily bars as a folder in qlib's binary format.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def command(out: Output, /, **given: Any) -> None:
    """Write rows of TABLE to a file, in the order of its key; dates of both ends are included."""
    from ashare.work.export import run  # noqa: PLC0415  see ashare.main

    run(out, **given)
