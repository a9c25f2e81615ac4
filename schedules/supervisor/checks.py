"""What must hold before anything starts; each failure is one line that names the setting to change."""

import errno
import importlib.util
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from core.calendar import shipped_calendar
from core.errors import InputError
from resources.run_lock import StartRefused
from resources.settings import Settings
from resources.tracing import asked

MIN_PYTHON = (3, 11)
MIN_FREE_MB = 200
ROOM_BYTES = 64 * 1024
AMQP_PORT, AMQPS_PORT = 5672, 5671
CONNECT_S = 5.0
FULL_MB = 20
"""Below this the next write of the database may fail."""


def check_python(version: tuple[int, int] = (sys.version_info[0], sys.version_info[1])) -> None:
    if version < MIN_PYTHON:
        requested = ".".join(map(str, MIN_PYTHON))
        raise StartRefused(f"Python {requested} or newer is needed; this is {version[0]}.{version[1]}")


def check_now(now: datetime | None) -> None:
    """A frozen market clock stands within the calendar: beyond it nobody knows what a trade date is."""
    if now is None:
        return
    calendar = shipped_calendar()
    if not calendar.first <= now.date().isoformat() <= calendar.horizon:
        raise StartRefused(
            f"SAMPLE_NOW: {now.date()} is outside the trade calendar, {calendar.first} to {calendar.horizon}"
        )


def check_files(settings: Settings) -> None:
    """Files that the simulated market has to read."""
    for name, file in (("SAMPLE_FAULTS", settings.sample_faults), ("SAMPLE_TEXTS", settings.sample_texts)):
        if file and not Path(file).is_file():
            raise StartRefused(f"{name}: there is no file {file}")
    if settings.sample_world == "replay" and not Path(settings.real_data_dir).is_dir():
        raise StartRefused(f"REAL_DATA_DIR: there is no folder {settings.real_data_dir}")


def check_traces(environ: Mapping[str, str]) -> None:
    """The OTEL_* variables ask for an exporter and a protocol that are there."""
    try:
        asked(environ)
    except InputError as error:
        raise StartRefused(error.message) from None


def check_folder(folder: Path) -> None:
    """DATA_DIR exists or can be made, and can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StartRefused(f"DATA_DIR: the disk of {folder} is full; make room or move it") from None
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise StartRefused(
            f"DATA_DIR: {folder} cannot be written ({reason}); set DATA_DIR to a folder of yours"
        ) from None


def check_disk(folder: Path, free: Callable[[Path], int] | None = None, *, least: int = MIN_FREE_MB) -> None:
    """At least `least` MB are free where the data lies. `free` returns bytes."""
    found = (shutil.disk_usage(folder).free if free is None else free(folder)) // 1_000_000
    if found < least:
        raise StartRefused(
            f"DATA_DIR: only {found} MB are free at {folder}, at least {MIN_FREE_MB} MB are needed; "
            "make room or set DATA_DIR to a folder on another disk"
        )


def check_room(folder: Path) -> None:
    """A real write of some kilobytes: a quota, or a reserve for others, is not seen in the free space."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StartRefused(f"DATA_DIR: the disk of {folder} is full; make room") from None
        raise StartRefused(f"DATA_DIR: {folder} cannot be written ({error.strerror})") from None


def check_port(variable: str, host: str, port: int, *, address: str) -> None:
    """Nobody listens on `host:port`; 0 means any free port. `variable` and `address` name the settings."""
    if port == 0:
        return
    child_processes = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(child_processes) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
                raise StartRefused(f"{address}: {host} is no address of this machine") from None
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
    """The URL names the driver (SQLAlchemy would take another one than Dagster ships), and it is there."""
    if not url:
        return
    if not url.startswith("postgresql+psycopg2://"):
        raise StartRefused("DAGSTER_POSTGRES_URL: name the driver, postgresql+psycopg2://...")
    for module in ("psycopg2", "dagster_postgres"):
        _need("DAGSTER_POSTGRES_URL", module, "postgres", ".[server,postgres]")


def _need(variable: str, module: str, extra: str, install: str) -> None:
    """A package that a setting needs is there."""
    if importlib.util.find_spec(module) is None:
        raise StartRefused(
            f"{variable}: {module} is not installed; install the extra `{extra}`: "
            f"{sys.executable} -m pip install -c constraints.txt -e '{install}'"
        )


def check_broker(settings: Settings) -> None:
    """What step workers need beside the broker: processes on several machines cannot share files."""
    if not settings.broker_url:
        return
    parts = urlsplit(settings.broker_url)
    if parts.scheme not in {"amqp", "amqps", "pyamqp"} or not parts.hostname:
        raise StartRefused("BROKER_URL: name an AMQP broker, amqp://user:password@host:5672//")
    if not settings.dagster_postgres_url:
        raise StartRefused("BROKER_URL: step workers need DAGSTER_POSTGRES_URL")
    if settings.warehouse_address.startswith("sqlite"):
        raise StartRefused("BROKER_URL: step workers need a warehouse on a server; set WAREHOUSE_URL")
    _need("BROKER_URL", "dagster_celery", "celery", ".[celery]")
    port = parts.port or (AMQPS_PORT if parts.scheme == "amqps" else AMQP_PORT)
    try:
        socket.create_connection((parts.hostname, port), timeout=CONNECT_S).close()
    except OSError as error:
        raise StartRefused(
            f"BROKER_URL: nothing answers at {parts.hostname}:{port} ({error.strerror or error})"
        ) from None
