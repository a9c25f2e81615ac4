"""What a backup holds: `manifest.json`, written last, so that a folder without it is no backup.

Times are naive exchange time by the system clock, as in the warehouse. Sizes are bytes.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import PlatformError

NAME = "manifest.json"
FORMAT = 1
_BLOCK = 1 << 20


class BackupError(PlatformError):
    """A backup cannot be made or restored. The message says what to change."""


@dataclass(frozen=True)
class StoredFile:
    """One file of a backup; `path` is relative to its folder, `mode` what it gets when it is restored."""

    path: str
    size: int
    sha256: str
    mode: int


@dataclass(frozen=True)
class WarehouseState:
    """The snapshot of the warehouse: the state after the batch `newest_batch`, and before any later one."""

    engine: str
    taken_at: str
    migration: str
    batches: int
    newest_batch: str | None
    newest_batch_at: str | None


@dataclass(frozen=True)
class HistoryState:
    """The snapshot of Dagster's storage. It is taken after the warehouse, so every batch has its run in it;
    `newer_than_warehouse` says that runs wrote while the backup was made or went on after it, so that it may
    have materializations of batches that the warehouse does not have."""

    engine: str
    taken_at: str
    runs: int
    highest_run: int | None
    highest_event: int | None
    unfinished_runs: int
    newer_than_warehouse: bool


@dataclass(frozen=True)
class Manifest:
    """Everything that a restore checks before it changes anything."""

    format: int
    package_version: str
    started_at: str
    finished_at: str
    warehouse: WarehouseState
    dagster: HistoryState
    files: Sequence[StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def lines(self) -> list[str]:
        """What the backup holds, for a person."""
        newest = f", the newest of {self.warehouse.newest_batch_at}" if self.warehouse.newest_batch_at else ""
        relation = "newer than" if self.dagster.newer_than_warehouse else "as new as"
        return [
            f"warehouse ({self.warehouse.engine}): {self.warehouse.batches} batches{newest}",
            f"Dagster ({self.dagster.engine}): {self.dagster.runs} runs, {relation} the warehouse",
            f"{len(self.files)} files, {self.size / 1e6:.1f} MB",
        ]

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, with a hash of itself."""
        content = asdict(self)
        text = json.dumps({**content, "sha256": _hash_of(content)}, ensure_ascii=False, indent=1)
        path = folder / NAME
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def _hash_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a backup. Raises BackupError when there is none, or it is damaged or of a later
    version."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BackupError(f"FROM: {folder} is no complete backup, it has no {NAME}") from None
    except (OSError, ValueError) as error:
        raise BackupError(f"FROM: {folder / NAME} cannot be read ({error})") from None
    damaged = BackupError(f"FROM: {folder / NAME} is damaged")
    if not isinstance(content, dict):
        raise damaged
    if isinstance(content.get("format"), int) and content["format"] > FORMAT:
        raise BackupError(f"FROM: {folder} was made by a later version; this one reads format {FORMAT}")
    recorded = content.pop("sha256", None)
    if recorded != _hash_of(content):
        raise damaged
    try:
        warehouse, dagster = content.pop("warehouse"), content.pop("dagster")
        files = tuple(StoredFile(**row) for row in content.pop("files"))
        return Manifest(
            **content, warehouse=WarehouseState(**warehouse), dagster=HistoryState(**dagster), files=files
        )
    except (KeyError, TypeError):
        raise damaged from None


def describe(path: Path, name: str, mode: int) -> StoredFile:
    """Size and hash of a file that the backup holds under `name`."""
    return StoredFile(name, path.stat().st_size, sha256_of(path), mode)


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def verify(folder: Path, manifest: Manifest) -> None:
    """Every file is there as it was written. Raises BackupError that names the first one that is not."""
    for file in manifest.files:
        name = PurePosixPath(file.path)
        if name.is_absolute() or ".." in name.parts:
            raise BackupError(f"FROM: {folder / NAME} names a file outside the backup, {file.path}")
        path = folder / file.path
        if path.is_symlink() or not path.is_file():
            raise BackupError(f"FROM: the backup is incomplete, {path} is missing")
        if path.stat().st_size != file.size or sha256_of(path) != file.sha256:
            raise BackupError(f"FROM: the backup is damaged, {path} is not what was written")
