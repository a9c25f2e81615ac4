"""How long Dagster's own history is kept: runs, what they logged and planned, results of checks.

That a partition was materialized, with the figures of its batch, stays until the same partition has been
materialized again: without it the UI would call the date missing. Newest results of checks and the newest
state of freshness of each asset stay as well. Everything else goes.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import sqlalchemy as sa

from platform_assets.definitions.dagster_internals import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorage,
    SqlEventLogStorageTable,
    SqliteEventLogStorage,
)

ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
RUN_DAYS = 30
"""Days that an ended run is kept."""
STEP_RESULTS = "celery_taskmeta"
"""Celery's table in Dagster's database: a row for each step that a step worker carried out."""
AT_ONCE = 100
KEPT = (dg.DagsterEventType.ASSET_MATERIALIZATION.value, dg.DagsterEventType.ASSET_OBSERVATION.value)
FRESHNESS = (
    dg.DagsterEventType.FRESHNESS_STATE_CHANGE.value,
    dg.DagsterEventType.FRESHNESS_STATE_EVALUATION.value,
)
"""What the daemon notes of an asset outside of any run: two changes on a usual day."""


def prune_runs(instance: dg.DagsterInstance, *, days: int = RUN_DAYS, now: datetime | None = None) -> int:
    """Forget the runs that ended and were made more than `days` days before `now` (UTC); how many they were.
    A run that is still open stays, whatever its age."""
    before = (now or datetime.now(UTC)) - timedelta(days=days)
    old = dg.RunsFilter(statuses=ENDED, created_before=before)
    count = 0
    while records := instance.get_run_records(old, limit=AT_ONCE, ascending=True):
        for record in records:
            _forget(instance, record.dagster_run.run_id)
            count += 1
    if isinstance(instance.event_log_storage, SqlEventLogStorage):
        _shorten_freshness(instance.event_log_storage, before)
        _forget_step_results(instance.event_log_storage, before)
    return count


def _forget(instance: dg.DagsterInstance, run_id: str) -> None:
    storage = instance.event_log_storage
    if isinstance(storage, SqlEventLogStorage):
        _shorten(storage, run_id)
    if isinstance(storage, SqliteEventLogStorage):
        # One file per run; what is kept of it is in the index, which the UI reads.
        for ending in ("", "-wal", "-shm"):
            Path(f"{storage.path_for_shard(run_id)}{ending}").unlink(missing_ok=True)
    instance.compute_log_manager.delete_logs(prefix=[run_id])
    # Last: a clean-up that breaks off finds the run again.
    instance.run_storage.delete_run(run_id)


def _shorten(storage: SqlEventLogStorage, run_id: str) -> None:
    events, checks = SqlEventLogStorageTable, AssetCheckExecutionsTable
    newest = sa.select(sa.func.max(checks.c.id)).group_by(checks.c.asset_key, checks.c.check_name)
    kind = events.c.dagster_event_type
    replaced = sa.select(events.c.id).where(events.c.run_id == run_id, kind.in_(KEPT), _repeated())
    with storage.index_connection() as connection:
        keep = set(connection.execute(newest).scalars())
        found = connection.execute(sa.select(checks.c.id).where(checks.c.run_id == run_id)).scalars()
        gone = [row for row in found if row not in keep]
        if gone:
            connection.execute(checks.delete().where(checks.c.id.in_(gone)))
        tags = AssetEventTagsTable
        connection.execute(tags.delete().where(tags.c.event_id.in_(replaced)))
        connection.execute(events.delete().where(events.c.id.in_(replaced)))
        connection.execute(
            events.delete().where(events.c.run_id == run_id, sa.or_(kind.is_(None), kind.not_in(KEPT)))
        )


def _shorten_freshness(storage: SqlEventLogStorage, before: datetime) -> None:
    events = SqlEventLogStorageTable
    old = events.c.timestamp < before.astimezone(UTC).replace(tzinfo=None)
    of_kind = events.c.dagster_event_type.in_(FRESHNESS)
    replaced = sa.select(events.c.id).where(of_kind, old, _repeated())
    with storage.index_connection() as connection:
        connection.execute(events.delete().where(events.c.id.in_(replaced)))
    if isinstance(storage, SqliteEventLogStorage):
        # Stored a second time in the file of the run without an id, which nobody reads.
        with storage.run_connection("") as connection:
            connection.execute(events.delete().where(of_kind, old))


def _forget_step_results(storage: SqlEventLogStorage, before: datetime) -> None:
    """What step workers left for runs that have ended long ago. Celery would forget it itself only with a
    scheduler of its own."""
    with storage.index_connection() as connection:
        if sa.inspect(connection).has_table(STEP_RESULTS):
            old = before.astimezone(UTC).replace(tzinfo=None)
            connection.execute(
                sa.text(f"DELETE FROM {STEP_RESULTS} WHERE date_done < :before"), {"before": old}
            )


def _repeated() -> sa.Exists:
    """Whether a newer event says the same of the same asset and partition."""
    events, newer = SqlEventLogStorageTable, SqlEventLogStorageTable.alias()
    return (
        sa.select(newer.c.id)
        .where(
            newer.c.asset_key == events.c.asset_key,
            newer.c.dagster_event_type == events.c.dagster_event_type,
            newer.c.id > events.c.id,
            sa.or_(
                newer.c.partition == events.c.partition,
                sa.and_(newer.c.partition.is_(None), events.c.partition.is_(None)),
            ),
        )
        .correlate(events)
        .exists()
    )
