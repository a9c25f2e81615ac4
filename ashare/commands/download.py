"""`ashare download`."""

import click

from ashare.completions import words
from ashare.output import Output


@click.command("download")
@click.argument(
    "package", metavar="bars|events|reports|DATE", shell_complete=words("bars", "events", "reports")
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Where the files go; default: DATA_DIR/packages.",
)
@click.pass_obj
def command(output: Output, package: str, out: str | None) -> None:
    """Download a package of the terminal's publisher: all daily bars since 1990 (some 500 MB), all ex-right
    events, all reports, or the bars of a trade date.

    A download goes on where it was interrupted. Each file is checked before it has its name; `ashare import`
    brings it into the platform.
    """
    from ashare.work.download import run  # noqa: PLC0415  see ashare.main

    run(output, package, out)
