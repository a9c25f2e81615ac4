"""What `ashare backup` does."""

from dataclasses import asdict
from pathlib import Path

from ashare.output import Output
from ashare.session import command_settings
from resources.backup.making import backup, default_target


def run(out: Output, to: str | None) -> None:
    """Make a backup and show its manifest."""
    settings = command_settings()
    folder = Path(to) if to else default_target(settings)
    manifest = backup(settings, folder)
    out.result(
        {"folder": str(folder.absolute()), "manifest": asdict(manifest)},
        [*manifest.lines(), f"backup in {folder.absolute()}; it holds secrets"],
    )
