"""`ashare export`."""

from typing import Any

import click

from ashare.completions import words
from ashare.output import Output


@click.command("export")
@click.argument("table")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="NAME.csv, .jsonl (.gz compresses), .parquet or .xlsx; a folder with --qlib.",
)
@click.option("--from", "since", metavar="DATE", help="First day of the table's dates.")
@click.option("--to", "until", metavar="DATE", help="Last day.")
@click.option("--codes", metavar="CODES", help="Comma list of codes: 600519, 600519.SH, sh600519.")
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
def command(output: Output, /, **given: Any) -> None:
    """Write rows of TABLE (as kline_daily) to a file, in the order of its key; both dates are included."""
    from ashare.work.export import run  # noqa: PLC0415  see ashare.main

    run(output, **given)
