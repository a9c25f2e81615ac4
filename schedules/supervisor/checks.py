"""What must hold before anything starts; each failure is one line that names the setting to change."""

import fcntl
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from resources.errors import PlatformError

MIN_PYTHON = (3, 11)
MIN_FREE_MB = 200


class StartRefused(PlatformError):
    """The installation cannot start as it is set up. The message says what to change."""


def check_python(version: tuple[int, int] = (sys.version_info[0], sys.version_info[1])) -> None:
    if version < MIN_PYTHON:
        wanted = ".".join(map(str, MIN_PYTHON))
        raise StartRefused(f"Python {wanted} or newer is needed; this is {version[0]}.{version[1]}")


def check_folder(folder: Path) -> None:
    """DATA_DIR exists or can be made, and can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise StartRefused(
            f"DATA_DIR: {folder} cannot be written ({error.strerror}); set DATA_DIR to a folder of yours"
        ) from None


def check_disk(folder: Path, free: Callable[[Path], int] | None = None) -> None:
    """At least 200 MB are free where the data lies. `free` returns bytes."""
    found = (shutil.disk_usage(folder).free if free is None else free(folder)) // 1_000_000
    if found < MIN_FREE_MB:
        raise StartRefused(
            f"DATA_DIR: only {found} MB are free at {folder}, at least {MIN_FREE_MB} MB are needed"
        )


def check_port(variable: str, host: str, port: int) -> None:
    """Nobody listens on `host:port`; 0 means any free port."""
    if port == 0:
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StartRefused(
                f"{variable}: port {port} on {host} cannot be used ({error.strerror}); "
                f"stop what uses it or set {variable} to a free port"
            ) from None


def free_port(preferred: int = 0) -> int:
    """A free port on loopback; the preferred one when it is free, so that a restart keeps its address."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise StartRefused("no free port on 127.0.0.1")


def check_postgres(url: str) -> None:
    """SQLAlchemy would take another driver than the one that Dagster ships."""
    if url and not url.startswith("postgresql+psycopg2://"):
        raise StartRefused("DAGSTER_POSTGRES_URL: name the driver, postgresql+psycopg2://...")


class RunLock:
    """`run.lock` in the data folder: held as long as the supervisor lives, whatever kills it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "run.lock"
        self._handle: int | None = None

    def take(self, now: datetime) -> None:
        """StartRefused that says who runs, when somebody does."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 4096).decode("utf-8", "replace")
            os.close(handle)
            raise StartRefused(self._who(holder)) from None
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps({"pid": os.getpid(), "since": f"{now:%Y-%m-%d %H:%M:%S}"}).encode())
        self._handle = handle

    def _who(self, text: str) -> str:
        try:
            facts = json.loads(text)
            who = f"process {facts['pid']} since {facts['since']}"
        except (ValueError, KeyError, TypeError):
            who = "another process"
        return f"DATA_DIR: {self._path.parent} is in use by {who}; stop it or set DATA_DIR to another folder"

    def release(self) -> None:
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None
