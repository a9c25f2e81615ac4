"""`ashare load`."""

import click

from ashare.output import Output


@click.command("load")
@click.argument("name", required=False)
@click.option("--date", metavar="DATE", help="Trade date, YYYY-MM-DD; default: the newest complete one.")
@click.option(
    "--codes",
    metavar="CODES",
    help="Comma list of codes (600519, sh600519, 600519.SH); NAME is then a download type.",
)
@click.option("--no-wait", is_flag=True, help="Return when the platform has accepted it.")
@click.pass_obj
def command(out: Output, name: str | None, date: str | None, codes: str | None, no_wait: bool) -> int:
    """Load what is missing, or NAME: a dataset or market download of one trade date, or a download type of
    some codes. Without NAME: everything that this installation has not loaded yet, as at a first start.

    The exit code is 1 when nothing came of it, 3 when a part was loaded: the answer names what is missing.
    """
    from ashare.work.load import run  # noqa: PLC0415  see ashare.main

    return run(out, name, date, codes, no_wait)
