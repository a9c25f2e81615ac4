"""The data folder: what lies where, and the files that the processes need to find there."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from resources.run_lock import StartRefused

FOLDERS = ("dagster", "logs", "notifications", "payloads", "recordings", "sample", "numba")
PROJECT = Path(__file__).resolve().parents[2]
_POSTGRES = "\nstorage:\n  postgres:\n    postgres_url: {env: DAGSTER_POSTGRES_URL}\n"


def make_folders(data: Path) -> None:
    """Every folder of the data folder, which is for its owner alone, as `secrets` in it stays whatever
    somebody changes later."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in FOLDERS:
        (data / name).mkdir(parents=True, exist_ok=True)
    (data / "secrets").mkdir(mode=0o700, exist_ok=True)
    (data / "secrets").chmod(0o700)


def admin_password(data: Path) -> tuple[str, Path]:
    """The seed password of this installation and its file (mode 600); made at the first start."""
    path = data / "secrets" / "admin_password"
    if path.is_file() and path.read_text(encoding="utf-8").strip():
        path.chmod(0o600)
        return path.read_text(encoding="utf-8").strip(), path
    password = secrets.token_urlsafe(18)
    write_private(path, password + "\n")
    return password, path


def write_private(path: Path, text: str) -> None:
    """A file that only its owner may read, from its first moment on."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    path.chmod(0o600)


def write_dagster_home(data: Path, *, postgres: bool, source: Path | None = None) -> Path:
    """DAGSTER_HOME with the project's `dagster.yaml`, and Dagster's storage in PostgreSQL when asked."""
    template = source or PROJECT / "dagster.yaml"
    if not template.is_file():
        raise StartRefused(f"{template.name} is missing beside the project's packages")
    home = data / "dagster"
    text = template.read_text(encoding="utf-8")
    (home / "dagster.yaml").write_text(text + (_POSTGRES if postgres else ""), encoding="utf-8")
    return home


def write_workspace(data: Path, *, port: int, location: str) -> Path:
    """A workspace file that points at the running code server."""
    path = data / "dagster" / "workspace.yaml"
    path.write_text(
        f"load_from:\n  - grpc_server:\n      host: 127.0.0.1\n      port: {port}\n"
        f"      location_name: {location}\n",
        encoding="utf-8",
    )
    return path


def run_file(data: Path, role: str) -> Path:
    """`run.json`; beside it `run-web.json` of an API that has a supervisor of its own."""
    return data / ("run-web.json" if role == "web" else "run.json")


def read_run_facts(path: Path) -> dict[str, Any]:
    """What the last start left, or nothing."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def write_run_facts(path: Path, facts: dict[str, Any]) -> None:
    """Pids and ports, renamed into place so that nobody reads half of it."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(facts, indent=1, sort_keys=True), encoding="utf-8")
    part.replace(path)
