"""Upstream bodies as received, compressed and named by their hash: in a folder, or in an object store.

Content-addressed: an equal body of one day is stored once. A body without a `sys_fetch` row (of a writer that
was killed before its commit) is harmless and goes with its day.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from core.days import moved
from core.errors import DiskFull, StorageError
from resources.fetch_record import Fetch
from resources.warehouse.failures import FULL, is_full


class PayloadStore(Protocol):
    """Bodies by path: `<day>/<first two digits>/<hash>.zst`."""

    def put_all(self, fetches: Iterable[Fetch]) -> dict[str, str]:
        """Store the bodies of the responses that have one; fetch id -> path. Raises StorageError."""
        ...

    def get(self, path: str) -> bytes | None:
        """The body; None when its retention is over. Raises StorageError."""
        ...

    def purge(self, today: str, keep_days: int) -> int:
        """Remove days older than `keep_days`; returns how many bodies went. Raises StorageError."""
        ...

    def check(self) -> str:
        """Write and remove a small object; where the bodies are, for a person. Raises StorageError."""
        ...


def path_of(fetch: Fetch) -> str:
    """Where the body of a response is stored."""
    sha256 = fetch.sha256
    return f"{fetch.received_at.date().isoformat()}/{sha256[:2]}/{sha256}.zst"


def packed(body: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  23 MB that a client without a warehouse does not need

    return zstandard.ZstdCompressor(level=3).compress(body)


def unpacked(stored: bytes) -> bytes:
    """The body of a stored one. Raises StorageError."""
    import zstandard  # noqa: PLC0415  see packed

    try:
        return zstandard.ZstdDecompressor().decompress(stored)
    except zstandard.ZstdError as error:
        raise StorageError(f"a stored body cannot be read: {error}") from error


class FolderPayloads:
    """Files under a folder, by default `DATA_DIR/payloads`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_all(self, fetches: Iterable[Fetch]) -> dict[str, str]:
        return {one.fetch_id: self._put(one) for one in fetches if one.body}

    def _put(self, fetch: Fetch) -> str:
        relative = path_of(fetch)
        path = self._folder / relative
        if not path.exists():
            self._write(path, packed(fetch.body))
        return relative

    def _write(self, path: Path, stored: bytes) -> None:
        """Written aside and renamed, so that a reader never sees half a file."""
        aside = path.with_suffix(f".{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(stored)
            aside.replace(path)
        except OSError as error:
            if is_full(error):
                raise DiskFull(f"{FULL}: the payload store cannot be written") from error
            raise StorageError(f"the payload store cannot be written: {error.strerror}") from error

    def get(self, path: str) -> bytes | None:
        try:
            return unpacked((self._folder / path).read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"a stored body cannot be read: {error}") from error

    def purge(self, today: str, keep_days: int) -> int:
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

    def check(self) -> str:
        probe = self._folder / ".probe"
        self._write(probe, b"")
        probe.unlink()
        return str(self._folder)
