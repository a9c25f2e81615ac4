"""Upstream bodies as received: zstd files under `DATA_DIR/payloads/<date>/`, named by their hash."""

import os
from pathlib import Path

import zstandard

from core.days import moved
from core.errors import DiskFull, StorageError
from resources.warehouse.failures import FULL, is_full


class PayloadStore:
    """Content-addressed: an equal body of one day is stored once. A file without a `sys_fetch` row
    (a writer killed before its commit) is harmless and goes with its day."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, day: str, sha256: str, body: bytes) -> str:
        """Store `body`; returns the path relative to the store."""
        relative = f"{day}/{sha256[:2]}/{sha256}.zst"
        path = self._folder / relative
        if path.exists():
            return relative
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed, so that a reader never sees half a file.
        aside = path.with_suffix(f".{os.getpid()}.part")
        try:
            aside.write_bytes(zstandard.ZstdCompressor(level=3).compress(body))
            aside.replace(path)
        except OSError as error:
            if is_full(error):
                raise DiskFull(f"{FULL}: the payload store cannot be written") from error
            raise StorageError(f"the payload store cannot be written: {error.strerror}") from error
        return relative

    def get(self, relative: str) -> bytes | None:
        """The body, or None when its retention is over."""
        path = self._folder / relative
        try:
            return zstandard.ZstdDecompressor().decompress(path.read_bytes())
        except FileNotFoundError:
            return None

    def purge(self, today: str, keep_days: int) -> int:
        """Remove days older than `keep_days`; returns how many files went."""
        limit = moved(today, -keep_days)
        removed = 0
        for day in sorted(self._folder.glob("????-??-??")):
            if day.name >= limit:
                continue
            for path in sorted(day.rglob("*"), reverse=True):
                if path.is_dir():
                    path.rmdir()
                else:
                    path.unlink()
                    removed += 1
            day.rmdir()
        return removed
