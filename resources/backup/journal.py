"""The note that a restore keeps in the data folder while it works, so that neither a start nor the next
restore takes a state that is half replaced for a whole one."""

import json
from pathlib import Path

from resources.backup.data_files import JOURNAL
from resources.run_lock import StartRefused
from resources.shared_json import replace_json

LOADING, SWAPPING = "loading", "swapping"


def write(data: Path, stamp: str, phase: str) -> None:
    """Note the restore `stamp`: it loads beside the old state, or is replacing it. Raises StorageError."""
    replace_json(data / JOURNAL, {"stamp": stamp, "phase": phase})


def read(data: Path) -> tuple[str, str] | None:
    """(stamp, phase) of a restore that did not come to its end."""
    try:
        noted = json.loads((data / JOURNAL).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return str(noted["stamp"]), str(noted["phase"])


def remove(data: Path) -> None:
    (data / JOURNAL).unlink(missing_ok=True)


def refuse_half_restored(data: Path) -> None:
    """Raises StartRefused while a restore that was killed has replaced a part of the state."""
    noted = read(data)
    if noted is not None and noted[1] == SWAPPING:
        raise StartRefused(
            f"DATA_DIR: a restore of {data} was interrupted; `make restore FROM=...` again brings the old "
            "state back first"
        )
