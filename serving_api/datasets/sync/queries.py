"""SQL over the results of a sync's run."""

from dataclasses import dataclass

from serving_api.db.sessions import Session


@dataclass(frozen=True)
class Written:
    """The batches of one run in one table, summed."""

    accepted: int = 0
    written: int = 0
    warnings: int = 0
    rejected: int = 0


def written(session: Session, run_id: str, table: str) -> Written:
    """Sums over the batches of a run; the parent batch of a range repeats its children and is left out."""
    row = session.run(
        "SELECT COALESCE(SUM(rows_ok + rows_warning), 0), COALESCE(SUM(rows_written), 0), "
        "COALESCE(SUM(rows_warning), 0), COALESCE(SUM(rows_rejected), 0) FROM sys_batch b "
        "WHERE run_id=? AND table_name=? AND status='success' "
        "AND NOT EXISTS (SELECT 1 FROM sys_batch c WHERE c.parent_batch_id=b.batch_id)",
        (run_id, table),
    )[0]
    return Written(*(int(value) for value in row))


def block_counts(session: Session) -> dict[str, int]:
    """Members by kind of block."""
    rows = session.run("SELECT block_type, COUNT(*) FROM raw_block_member GROUP BY block_type")
    return {str(kind): int(count) for kind, count in rows}


def blocks_of_run(session: Session, run_id: str) -> dict[str, int]:
    """Members that a run wrote, by kind of block."""
    rows = session.run(
        "SELECT block_type, COUNT(*) FROM raw_block_member "
        "WHERE batch_id IN (SELECT batch_id FROM sys_batch WHERE run_id=?) GROUP BY block_type",
        (run_id,),
    )
    return {str(kind): int(count) for kind, count in rows}


def bars_of_run(session: Session, run_id: str, code: str) -> dict[str, int]:
    """Bars of a code that a run wrote, by period."""
    rows = session.run(
        "SELECT period, COUNT(*) FROM fusion_kline_bar WHERE code=? "
        "AND batch_id IN (SELECT batch_id FROM sys_batch WHERE run_id=?) GROUP BY period",
        (code, run_id),
    )
    return {str(period): int(count) for period, count in rows}


def newest_index_date(session: Session) -> str | None:
    rows = session.rows("fusion_index_daily", columns=("date",), order="date DESC", limit=1)
    return str(rows[0][0]) if rows else None
