"""`ashare plan`."""

import click

from ashare.output import Output


@click.command("plan")
@click.option("--datasets", metavar="NAMES", help="Comma list; default: what the publisher's packages hold.")
@click.option("--codes", metavar="CODES", help="Comma list in any notation; default: the whole market.")
@click.option(
    "--from", "--since", "since", metavar="DATE", help="First day, YYYY-MM-DD; default: ten years ago."
)
@click.option("--to", "until", metavar="DATE", help="Last day; default: the newest complete trade date.")
@click.option(
    "--folder",
    type=click.Path(exists=True),
    metavar="PATH",
    help="Files that could be imported; default: what `ashare download` left in DATA_DIR/packages.",
)
@click.pass_obj
def command(
    out: Output,
    datasets: str | None,
    codes: str | None,
    since: str | None,
    until: str | None,
    folder: str | None,
) -> None:
    """What a load would cost before it starts: upstream calls, minutes under the pacing in force, bytes.

    Each way is shown with the command that takes it, the cheapest first: import of files that are there, a
    package over HTTP, the calls of each source in the order in which they are asked. Starts and asks nothing.
    """
    from ashare.work.plan import run  # noqa: PLC0415  see ashare.main

    run(out, datasets, codes, since, until, folder)
