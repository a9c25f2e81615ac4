"""What a platform occupies at a moment: memory and descriptors of its processes, rows of its stores, bytes of
its folders. Read from outside: `/proc`, the database files, the folder."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.soak.installation import Installation

KINDS: Mapping[str, str] = {
    "daemon": "dagster._daemon",
    "code_server": "schedules.runs.code_server",
    "code_child": "dagster api grpc",
    "ui": "schedules.supervisor.dagster_ui",
    "worker": "schedules.commands.worker",
    "market": "simulated_market",
    "runs": "spawn_main",
}
"""Name in the table -> part of a command line."""
MIB = 1024 * 1024


@dataclass(frozen=True)
class Figures:
    """`rss`: bytes; `rows`: by `database.table`; `bytes`: by folder of DATA_DIR."""

    processes: Mapping[str, int]
    rss: Mapping[str, int]
    descriptors: Mapping[str, int]
    rows: Mapping[str, int]
    folders: Mapping[str, int]

    def rows_of(self, prefix: str) -> int:
        return sum(count for name, count in self.rows.items() if name.startswith(prefix))


def kind_of(line: str) -> str:
    return next((kind for kind, part in KINDS.items() if part in line), "other")


def measure(place: Installation) -> Figures:
    """Processes that end meanwhile count nothing."""
    processes: Counter[str] = Counter()
    rss: Counter[str] = Counter()
    descriptors: Counter[str] = Counter()
    for pid, line in place.processes().items():
        kind = kind_of(line)
        try:
            held = len(list(Path(f"/proc/{pid}/fd").iterdir()))
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        except OSError:
            continue
        resident = next((row.split()[1] for row in status.splitlines() if row.startswith("VmRSS")), "0")
        processes[kind] += 1
        rss[kind] += int(resident) * 1024
        descriptors[kind] += held
    return Figures(processes, rss, descriptors, rows(place.folder), folders(place.folder))


def rows(folder: Path) -> dict[str, int]:
    """Rows of Dagster's own storage (`dagster.<table>`) and of the platform's ledgers (`sys_…`)."""
    found: dict[str, int] = {}
    home = folder / "dagster"
    for path in (home / "history" / "runs.db", *(home / "history" / "runs").glob("index.db")):
        found |= _count(path, "dagster.")
    found |= _count(home / "schedules" / "schedules.db", "dagster.")
    ledgers = _count(folder / "warehouse.sqlite3", "", "name LIKE 'sys\\_%' ESCAPE '\\'")
    return found | ledgers


def _count(path: Path, prefix: str, where: str = "1=1") -> dict[str, int]:
    if not path.is_file():
        return {}
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
    try:
        names = connection.execute(
            f"SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%' AND {where}"
        ).fetchall()
        return {
            f"{prefix}{name}": int(connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0])
            for (name,) in names
        }
    finally:
        connection.close()


def folders(folder: Path) -> dict[str, int]:
    """Bytes of each entry of DATA_DIR."""
    found: Counter[str] = Counter()
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                found[path.relative_to(folder).parts[0]] += path.stat().st_size
        except OSError:
            continue  # it went meanwhile
    return dict(found)
