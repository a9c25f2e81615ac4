"""`ashare restore`."""

from pathlib import Path

import click

from ashare.output import Output


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Set a state that is there aside.")
@click.pass_obj
def command(out: Output, folder: Path, replace: bool) -> None:
    """Bring a backup back into a platform that does not run."""
    from ashare.work.restore import run  # noqa: PLC0415  see ashare.main

    run(out, folder, replace)
