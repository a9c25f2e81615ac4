"""`ashare restore`."""

from dataclasses import asdict
from pathlib import Path

import click

from ashare.output import Output
from ashare.session import command_settings
from resources.backup.restoring import restore


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Set a state that is there aside.")
@click.pass_obj
def command(out: Output, folder: Path, replace: bool) -> None:
    """Bring a backup back into a platform that does not run."""
    done = restore(command_settings(), folder, replace=replace)
    aside = [f"the state before is in {place}" for place in done.aside]
    out.result(
        {"manifest": asdict(done.manifest), "aside": [str(place) for place in done.aside]},
        [*done.manifest.lines(), "restored", *aside],
    )
