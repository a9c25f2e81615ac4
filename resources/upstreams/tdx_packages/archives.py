"""Zip files from outside: which members they have, and their bytes, within limits.

Nothing is unpacked to disk under a name of the archive. Refused are absolute names, `..`, links, a name
twice, more members or bytes than such a package has, and a member whose size or checksum is not what its head
says.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from resources.upstreams.tdx_packages.arrays import damaged

MOST_MEMBERS = 100_000
MOST_MEMBER_BYTES = 128 << 20
MOST_BYTES = 5 << 30
"""Limits of a package: its members, the size of one, and of all of them, unpacked."""
_UNREADABLE = (
    zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zlib.error,
)  # fmt: skip
"""What Python stumbles over in damaged zips: places before the file, methods and versions to come."""


@dataclass(frozen=True)
class Archive:
    """An open zip; `names` are its files with `/` between folders, in the order of the archive."""

    label: str
    names: tuple[str, ...]
    _file: zipfile.ZipFile
    _members: dict[str, zipfile.ZipInfo]

    def size(self, name: str) -> int:
        """Bytes of a member, unpacked."""
        return self._members[name].file_size

    def read(self, name: str) -> bytes:
        """A member's bytes. PayloadError when they are cut off or damaged."""
        member = self._members[name]
        try:
            with self._file.open(member) as handle:
                # One byte more shows a member that is larger than its head says.
                content = handle.read(member.file_size + 1)
        except _UNREADABLE as error:
            raise damaged(f"{self.label}, {name}: {error or 'it is cut off'}") from None
        if len(content) != member.file_size:
            raise damaged(f"{self.label}, {name}: {len(content)} bytes, its head says {member.file_size}")
        return content


@contextmanager
def opened(source: Path | IO[bytes], label: str) -> Iterator[Archive]:
    """An archive that keeps to the limits. PayloadError that names what does not."""
    try:
        file = zipfile.ZipFile(source)
    except _UNREADABLE as error:
        raise damaged(f"{label}: cannot be read as a zip ({error or 'it is cut off'})") from None
    with file:
        yield Archive(label, *_checked(file, label))


def _checked(
    file: zipfile.ZipFile, label: str
) -> tuple[tuple[str, ...], zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
    members: dict[str, zipfile.ZipInfo] = {}
    seen: set[str] = set()
    total = 0
    listed = file.infolist()
    if len(listed) > MOST_MEMBERS:
        raise damaged(f"{label}: {len(listed)} members, {MOST_MEMBERS} at most")
    for member in listed:
        # Python turns what follows a NUL off a name; the name as stored is the one to judge.
        name = member.orig_filename.replace("\\", "/")
        parts = name.rstrip("/").split("/")
        if name.startswith("/") or ":" in name or "\0" in name or ".." in parts or "" in parts:
            raise damaged(f"{label}: a member named {member.orig_filename[:80]!r}")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise damaged(f"{label}, {name}: is a link")
        if name.endswith("/"):
            continue
        if name.lower() in seen:
            raise damaged(f"{label}, {name}: is there twice")
        if member.file_size > MOST_MEMBER_BYTES:
            raise damaged(f"{label}, {name}: {member.file_size} bytes, {MOST_MEMBER_BYTES} at most")
        seen.add(name.lower())
        total += member.file_size
        if total > MOST_BYTES:
            raise damaged(f"{label}: more than {MOST_BYTES} bytes unpacked")
        members[name] = member
    return tuple(members), file, members
