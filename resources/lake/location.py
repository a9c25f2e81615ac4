"""Where the lake is, and one published table of it."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.fs as pa_fs
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from core.declaration.tables import WHOLE
from core.errors import ConflictError, InputError, NotFound, StorageError
from resources.lake.schema import CURRENT, DATE, KEY, MONTH
from resources.lake.state import Published
from resources.settings import LAKE_FOLDER
from resources.warehouse.warehouse import OLD_YEARS, Warehouse

_REMEMBERED_S = 60.0
"""How long what an object store said of the old years counts: each read of the API depends on it."""


@contextmanager
def lake_failures(what: str) -> Iterator[None]:
    """Errors of the library as StorageError; ConflictError when another process published at the time."""
    try:
        yield
    except CommitFailedError as error:
        raise ConflictError(f"{what}: another process has published at the same time") from error
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise StorageError(f"{what}: {str(error).splitlines()[0][:200]}") from error


def store_options(environ: Mapping[str, str]) -> dict[str, str]:
    """Options of the store from the variables of the AWS libraries: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3. Without a key the library looks for a role."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")
    given = {name: environ[name] for name in names if environ.get(name)}
    address = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or ""
    if address:
        given |= {"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": str(address.startswith("http://")).lower()}
    return given


@dataclass(frozen=True)
class LakeFile:
    """One Parquet file of a published table. `path` is relative to the table's folder; `is_current` None in
    a table that keeps no versions."""

    path: str
    month: str
    is_current: bool | None
    rows: int
    bytes: int


class PublishedTable:
    """One snapshot of a published table: what it reads does not change while others publish."""

    def __init__(self, name: str, delta: DeltaTable, folder: Path | None) -> None:
        self.name = name
        self.delta = delta
        self._folder = folder

    @cached_property
    def state(self) -> Published:
        """Which version of the warehouse each month is made of."""
        return Published.of(self.delta.transaction_version)

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns with their units and titles in the metadata of each field (`comment`, `unit`, `type`)."""
        return pa.schema(self.delta.schema().to_arrow())

    @cached_property
    def files(self) -> list[LakeFile]:
        """The files of the snapshot, by month."""
        with lake_failures(f"the lake's table {self.name} cannot be read"):
            found = pa.table(self.delta.get_add_actions(flatten=True))
        names = set(found.column_names)
        wanted = ["path", "num_records", "size_bytes", *sorted(names & {_MONTH, _CURRENT})]
        made = [
            LakeFile(
                row["path"], row.get(_MONTH, WHOLE), row.get(_CURRENT), row["num_records"], row["size_bytes"]
            )
            for row in found.select(wanted).to_pylist()
        ]
        return sorted(made, key=lambda one: (one.month, one.path))

    @property
    def partitions(self) -> list[str]:
        """The columns that it is divided by."""
        return list(self.delta.metadata().partition_columns)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns that name a row, in their order; rows of a file follow it."""
        about = {field.name: field.metadata or {} for field in self.schema}
        places = {name: int(of[KEY.encode()]) for name, of in about.items() if KEY.encode() in of}
        return tuple(sorted(places, key=places.__getitem__))

    @cached_property
    def date_column(self) -> str | None:
        """The column that holds the date of a row."""
        dated = [field.name for field in self.schema if DATE.encode() in (field.metadata or {})]
        return dated[0] if dated else None

    @property
    def keeps_versions(self) -> bool:
        return CURRENT in self.schema.names

    @property
    def by_month(self) -> bool:
        return MONTH in self.schema.names

    @cached_property
    def filesystem(self) -> pa_fs.FileSystem:
        """The folder of the table, for PyArrow."""
        if self._folder is not None:
            return pa_fs.SubTreeFileSystem(str(self._folder), pa_fs.LocalFileSystem(use_mmap=True))
        return self.delta.to_pyarrow_dataset().filesystem

    def of_months(self, months: Sequence[str] | None, *, current: bool | None) -> list[LakeFile]:
        """Files of some months (None: all), of current rows, of superseded ones or (None) of both."""
        chosen = None if months is None else set(months)
        return [
            file
            for file in self.files
            if (chosen is None or file.month in chosen)
            and (current is None or file.is_current is None or file.is_current == current)
        ]


_MONTH, _CURRENT = f"partition.{MONTH}", f"partition.{CURRENT}"


class Lake:
    """The published tables in a folder or below `s3://bucket/prefix`. Opening asks nothing yet."""

    def __init__(
        self, url: str | Path, options: Mapping[str, str] | None = None, *, remembered_s: float = 0.0
    ) -> None:
        """`remembered_s`: how long an object store is not asked again for a newer version of a table."""
        self.url = str(url).rstrip("/")
        parts = urlsplit(self.url)
        if parts.username or parts.password or parts.query:
            raise InputError("LAKE_URL", "credentials belong into the AWS variables")
        if parts.scheme == "s3" and not parts.netloc:
            raise InputError("LAKE_URL", "is no s3://bucket/prefix")
        if "://" in self.url and parts.scheme not in ("s3", "file"):
            raise InputError("LAKE_URL", f"{parts.scheme}:// is no supported store; s3:// and folders are")
        self.local = (
            Path(parts.path if parts.scheme == "file" else self.url) if parts.scheme != "s3" else None
        )
        given = store_options(os.environ) if self.local is None else {}
        self.options = {**given, **(options or {})}
        self._open: dict[str, PublishedTable] = {}
        self._remembered_s = remembered_s
        self._looked: dict[str, tuple[float, bool]] = {}
        """Of an object store: when it was asked for a table, and whether that was there."""

    @classmethod
    def of(cls, lake_url: str, data_path: Path) -> "Lake":
        """The lake of a data folder, unless LAKE_URL names another place."""
        return cls(lake_url or data_path / LAKE_FOLDER)

    @cached_property
    def old(self) -> "Lake":
        """Where the old years are that the warehouse does not keep (`resources.lake.old_years`): beside the
        lake, which can be made again, as they cannot."""
        apart = self.local is not None or urlsplit(self.url).path.strip("/")
        url = f"{self.url}{'_' if apart else '/'}{OLD_YEARS}"
        return Lake(url, self.options, remembered_s=_REMEMBERED_S)

    def address(self, name: str) -> str:
        """Where a table is."""
        return f"{self.url}/{name}"

    def has(self, name: str) -> bool:
        """Whether a table has been published."""
        if self.local is not None:  # without a look into the log: reads of the warehouse ask this first
            return (self.local / name / "_delta_log").is_dir()
        looked_at, there = self._looked.get(name, (0.0, False))
        if not self._is_recent(looked_at):
            try:
                self.table(name)
                there = True
            except NotFound:
                there = False
                self._looked[name] = time.monotonic(), False
        return there

    def table(self, name: str) -> PublishedTable:
        """The newest snapshot of a published table. Raises NotFound, StorageError."""
        known = self._open.get(name)
        if known is not None and self._is_newest(name, known.delta.version()):
            return known
        folder = None if self.local is None else self.local / name
        self._open[name] = opened = PublishedTable(name, self.delta(name), folder)
        self._looked[name] = time.monotonic(), True
        return opened

    def forget(self, name: str) -> None:
        """Look again at the next read: this process has changed the table."""
        self._open.pop(name, None)
        self._looked.pop(name, None)

    def _is_recent(self, looked_at: float) -> bool:
        return 0 < looked_at > time.monotonic() - self._remembered_s

    def delta(self, name: str, version: int | None = None) -> DeltaTable:
        """A published table, or one of its versions, as the library has it. NotFound, StorageError."""
        with lake_failures(f"the lake's table {name} cannot be read"):
            try:
                return DeltaTable(self.address(name), version, self.options or None)
            except TableNotFoundError:
                raise NotFound(f"{name} is not published in the lake") from None

    def _is_newest(self, name: str, version: int) -> bool:
        """Whether a folder holds no later commit: a look for one file, where opening reads the whole log."""
        if self.local is None:
            return self._is_recent(self._looked[name][0])
        log = self.local / name / "_delta_log"
        return log.is_dir() and not (log / f"{version + 1:020}.json").exists()

    def names(self) -> list[str]:
        """Tables that are published."""
        if self.local is not None:
            return sorted(path.parent.name for path in self.local.glob("*/_delta_log"))
        with lake_failures(f"the lake at {self.url} cannot be read"):
            handler = DeltaStorageHandler(self.url, self.options)
            found = pa_fs.PyFileSystem(handler).get_file_info(pa_fs.FileSelector("/", recursive=False))
        names = {Path(info.path).name for info in found if info.type is pa_fs.FileType.Directory}
        return sorted(names - {OLD_YEARS})


_LAKES: WeakKeyDictionary[Warehouse, Lake] = WeakKeyDictionary()


def lake_of(warehouse: Warehouse) -> Lake | None:
    """The published tables of a warehouse, one object for each, since it keeps what it opened; None where the
    warehouse was opened without."""
    if warehouse.lake_url is None:
        return None
    if warehouse not in _LAKES:
        _LAKES[warehouse] = Lake(warehouse.lake_url)
    return _LAKES[warehouse]
