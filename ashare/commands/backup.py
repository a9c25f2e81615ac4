"""`ashare backup`."""

from dataclasses import asdict
from pathlib import Path

import click

from ashare.output import Output
from ashare.session import command_settings
from resources.backup.making import backup, default_target


@click.command("backup")
@click.option("--to", metavar="FOLDER", help="A new folder; default: one in DATA_DIR/backups.")
@click.pass_obj
def command(out: Output, to: str | None) -> None:
    """Copy the state of the installation into a folder, while it runs or not. The copy holds secrets."""
    settings = command_settings()
    folder = Path(to) if to else default_target(settings)
    manifest = backup(settings, folder)
    out.result(
        {"folder": str(folder.absolute()), "manifest": asdict(manifest)},
        [*manifest.lines(), f"backup in {folder.absolute()}; it holds secrets"],
    )
