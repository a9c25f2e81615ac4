"""What `ashare restore` does."""

from dataclasses import asdict
from pathlib import Path

from ashare.output import Output
from ashare.session import command_settings
from resources.backup.restoring import restore


def run(out: Output, folder: Path, replace: bool) -> None:
    """Restore a backup and show its manifest."""
    done = restore(command_settings(), folder, replace=replace)
    aside = [f"the state before is in {place}" for place in done.aside]
    out.result(
        {"manifest": asdict(done.manifest), "aside": [str(place) for place in done.aside]},
        [*done.manifest.lines(), "restored", *aside],
    )
