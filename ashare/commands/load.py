"""`ashare load`."""

import click

from ashare.output import Output


@click.command("load")
@click.argument("name", required=False)
@click.option("--date", metavar="DATE", help="Trade date, YYYY-MM-DD; default: the newest complete one.")
@click.option(
    "--codes",
    metavar="CODES",
    help="Comma list of codes (600519, sh600519, 600519.SH): their history, or of NAME, a download type.",
)
@click.option("--since", metavar="DATE", help="First day of the history of --codes; default: ten years ago.")
@click.option("--datasets", metavar="NAMES", help="Comma list, in place of NAME; default with --codes: all.")
@click.option("--no-wait", is_flag=True, help="Return when the platform has accepted it.")
@click.pass_obj
def command(
    out: Output,
    name: str | None,
    date: str | None,
    codes: str | None,
    since: str | None,
    datasets: str | None,
    no_wait: bool,
) -> int:
    """Load what is missing, or NAME: a dataset or market download of one trade date, or a download type of
    some codes. Without NAME: everything that this installation has not loaded yet, as at a first start.

    With --codes the history of these codes: everything that belongs to them, or some --datasets. `ashare
    plan` says what it costs. Nothing of it counts as a date of the market.

    The exit code is 1 when nothing came of it, 3 when a part was loaded: the answer names what is missing.
    """
    from ashare.work.load import run  # noqa: PLC0415  see ashare.main

    return run(out, name, date, codes, since, datasets, no_wait)
