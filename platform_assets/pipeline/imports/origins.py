"""Where imported rows come from: a file that a mapping describes, or files of a format that is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from platform_assets.pipeline.imports.files import Chunk, SourceFile, chunks, file_hash, source_files
from platform_assets.pipeline.imports.mapping import FileMapping
from platform_assets.pipeline.imports.rows import Refused


class Origin(Protocol):
    """Files, and how their rows are read."""

    @property
    def label(self) -> str:
        """What a message calls them."""
        ...

    @property
    def mapping(self) -> FileMapping:
        """What the columns of the chunks are."""
        ...

    @property
    def files(self) -> list[SourceFile]: ...

    @property
    def digest(self) -> str:
        """SHA-256 of a file; of several, of their names and hashes."""
        ...

    def chunks(self, refused: Refused) -> Iterator[Chunk]:
        """The rows with their places. Raises InputError for a file that cannot be read; one of many that is
        left out is named in `refused`."""
        ...


@dataclass(frozen=True)
class MappedFiles:
    """CSV, Parquet, Excel or a folder of qlib, as the user's mapping describes them."""

    path: Path
    mapping: FileMapping

    @property
    def label(self) -> str:
        return self.path.name

    @cached_property
    def files(self) -> list[SourceFile]:
        return source_files(self.path)

    @cached_property
    def digest(self) -> str:
        return file_hash(self.files)

    def chunks(self, refused: Refused) -> Iterator[Chunk]:
        return chunks(self.path, self.files, self.mapping)
