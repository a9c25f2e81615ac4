"""Files of a folder replaced by others, by renames within it: the old ones stay in `replaced-<stamp>/`."""

import shutil
from collections.abc import Callable
from pathlib import Path

from resources.backup.data_files import ASIDE, STAGED, copy_plain, files_below, make_private
from resources.backup.manifest import Manifest

_ALL_ASIDE = ".all"
"""In the folder of the old files while the new ones move in: whatever is found in their place is new."""


class FolderSwap:
    """The entries of `root` that `found` lists, replaced by files that are staged beside them. Each step can
    be repeated after a kill. `place` gives where in `root` a file of the backup belongs; None: elsewhere.
    """

    def __init__(
        self, root: Path, found: Callable[[], list[Path]], place: Callable[[Path], Path | None], stamp: str
    ) -> None:
        self._root = root
        self._found = found
        self._place = place
        self._staged = root / f"{STAGED}{stamp}"
        self._aside = root / f"{ASIDE}{stamp}"

    def occupied(self) -> str:
        for entry in self._found():
            first = next(files_below(entry), None)
            if first is not None:
                return str(first)
        return ""

    def stage(self, source: Path, manifest: Manifest) -> None:
        """Copy the files of a backup beside the old ones."""
        self._staged.mkdir(mode=0o700)
        for stored in manifest.files:
            relative = self._place(Path(stored.path))
            if relative is not None:
                target = self._staged / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                copy_plain(source / stored.path, target)
                target.chmod(stored.mode)
        secrets = self._staged / "secrets"
        if secrets.is_dir():
            secrets.chmod(0o700)

    def swap(self) -> None:
        self._aside.mkdir(mode=0o700, exist_ok=True)
        for entry in self._found():
            entry.rename(self._aside / entry.name)
        make_private(self._aside / _ALL_ASIDE)
        for entry in sorted(self._staged.iterdir()):
            entry.rename(self._root / entry.name)

    def undo(self) -> None:
        """The old files back in their place."""
        if not self._aside.is_dir():
            return
        if (self._aside / _ALL_ASIDE).exists():
            for entry in self._found():
                entry.rename(self._staged / entry.name)
            (self._aside / _ALL_ASIDE).unlink()
        for entry in sorted(self._aside.iterdir()):
            entry.rename(self._root / entry.name)
        self._aside.rmdir()

    def clear(self) -> None:
        """Remove what was staged, and the folder of the old files when it is empty."""
        shutil.rmtree(self._staged, ignore_errors=True)
        (self._aside / _ALL_ASIDE).unlink(missing_ok=True)
        if self._aside.is_dir() and not any(self._aside.iterdir()):
            self._aside.rmdir()

    def aside(self) -> str:
        return str(self._aside) if self._aside.is_dir() else ""
