"""`ashare backup`."""

import click

from ashare.output import Output


@click.command("backup")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="A new folder; default: one in DATA_DIR/backups.",
)
@click.pass_obj
def command(output: Output, out: str | None) -> None:
    """Copy the state of the installation into a folder, while it runs or not. The copy holds secrets."""
    from ashare.work.backup import run  # noqa: PLC0415  see ashare.main

    run(output, out)
