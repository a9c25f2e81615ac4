"""`ashare lineage`."""

from typing import Any

import click

from ashare.output import Output


@click.command("lineage")
@click.argument("table")
@click.argument("key", nargs=-1, required=True, metavar="COLUMN=VALUE...")
@click.option("--column", help="Only this column.")
@click.option("--payload", is_flag=True, help="Include the bodies of the upstream responses.")
@click.option("--as-of", metavar="TIME", help="As it was known at this date or time.")
@click.pass_obj
def command(out: Output, /, **given: Any) -> None:
    """Where a row of TABLE comes from, named by its key: fusion_kline_daily code=600519 date=2026-08-21."""
    from ashare.work.lineage import run  # noqa: PLC0415  see ashare.main

    run(out, **given)
