"""The sync log: one line per download, for people; the batches behind it have the figures."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.engine import Engine

from core.clock import stamp
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Sql

_COLUMNS = (
    "task_type", "code", "status", "total", "success", "failed", "message", "started_at", "finished_at",
    "batch_id", "run_id", "trigger_type",
)  # fmt: skip


@dataclass(frozen=True)
class SyncLine:
    """`status` success, partial or failed; `total`, `success` and `failed` count securities."""

    task_type: str
    status: str
    total: int
    success: int
    failed: int
    started_at: datetime
    finished_at: datetime
    code: str | None = None
    message: str | None = None
    batch_id: str | None = None
    run_id: str | None = None
    trigger_type: str | None = None


def write_lines(engine: Engine, lines: Iterable[SyncLine]) -> None:
    """Append lines in one transaction."""
    sql = Sql(engine)
    with transaction(engine) as connection:
        for line in lines:
            given = {name: getattr(line, name) for name in _COLUMNS}
            times = {name: stamp(given[name]) for name in ("started_at", "finished_at")}
            sql.put(connection, "sys_sync_log", given | times)
