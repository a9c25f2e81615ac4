"""SQL of the live reads: master data of codes, shared answers, rows of fused tables for a trade date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session, code_clauses

MASTER = "fusion_stock_master"
_MASTER_COLUMNS = ("code", "name", "market", "board", "is_st", "total_shares", "float_shares", "list_date")
_LISTED_COLUMNS = (*_MASTER_COLUMNS, "sec_type", "list_status")
SNAPSHOTS = "sys_market_snapshot"
LIVE_READS = "sys_live_read"
BLOCKS = "raw_concept_blocks"


def masters(session: Session, codes: Sequence[str]) -> list[dict[str, Any]]:
    """Master rows of the given codes that are stored."""
    found: list[dict[str, Any]] = []
    for where, some in code_clauses(codes):
        found += session.dicts(MASTER, columns=_MASTER_COLUMNS, where=where, values=some)
    return found


def listed_stocks(session: Session) -> list[dict[str, Any]]:
    """Master rows of every A share that is not delisted or before its listing."""
    where = "sec_type='stock' AND (list_status IS NULL OR list_status IN ('L', 'S'))"
    return session.dicts(MASTER, columns=_LISTED_COLUMNS, where=where)


def industry_boards(session: Session) -> list[tuple[Any, ...]]:
    """(name, board code, source) of the industry boards."""
    return session.run(
        f"SELECT DISTINCT block_name, block_code, src FROM {BLOCKS} WHERE block_type='industry'"
    )


def due(session: Session, name: str, day: str) -> tuple[float, float]:
    """The seconds of the system clock at which the shared answer of a read and day expires, and until
    which no process asks after a failure; 0 for neither."""
    rows = session.rows(
        LIVE_READS, columns=("trade_date", "good_until", "failed_until"), where="name=?", values=(name,)
    )
    if not rows:
        return 0.0, 0.0
    of, good, failed = rows[0]
    return float(good or 0.0) if str(of) == day else 0.0, float(failed or 0.0)


def read_answer(session: Session, name: str, day: str) -> list[tuple[Any, ...]]:
    """(payload, source, time by the market clock) of a read and day."""
    columns = ("payload_json", "source", "captured_at")
    return session.rows(LIVE_READS, {"name": name, "trade_date": day}, columns=columns)


@dataclass(frozen=True)
class Shared:
    """A row that the API processes share: its table, and the values of its key by column."""

    table: str
    key: tuple[tuple[str, str], ...]

    @property
    def where(self) -> str:
        return " AND ".join(f"{column}=?" for column, _ in self.key)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for _, value in self.key)


def snapshot_row(data_type: str, day: str) -> Shared:
    return Shared(SNAPSHOTS, (("data_type", data_type), ("trade_date", day)))


def read_row(name: str) -> Shared:
    return Shared(LIVE_READS, (("name", name),))


def ensure_row(connection: Connection, sql: Sql, row: Shared) -> None:
    """Insert the row, without an answer yet."""
    columns = tuple(column for column, _ in row.key)
    connection.exec_driver_sql(sql.insert_absent(row.table, columns), row.values)


def claim_row(connection: Connection, sql: Sql, row: Shared, owner: str, now: float, until: float) -> bool:
    """Whether `owner` may refresh the answer until that second."""
    where = f"{row.where} AND (refresh_until IS NULL OR refresh_until<=? OR refresh_owner=?)"
    claim = {"refresh_owner": owner, "refresh_until": until}
    return sql.set(connection, row.table, claim, where, (*row.values, now, owner)) == 1


def release_row(connection: Connection, sql: Sql, row: Shared, owner: str) -> None:
    facts = (*row.values, owner)
    sql.set(connection, row.table, {"refresh_until": None}, f"{row.where} AND refresh_owner=?", facts)


def put_snapshot(connection: Connection, sql: Sql, row: Shared, values: Mapping[str, Any]) -> bool:
    """Store an answer and release its claim; False when the final one, or a newer one, is stored already."""
    older = "(payload_json IS NULL OR ((is_final IS NULL OR is_final=0) AND captured_at<=?))"
    facts = (*row.values, values["captured_at"])
    released = {**values, "refresh_until": None}
    return sql.set(connection, row.table, released, f"{row.where} AND {older}", facts) == 1


def put_read(connection: Connection, sql: Sql, row: Shared, values: Mapping[str, Any]) -> None:
    """Store an answer of a day and release the claim on it."""
    released = {**values, "failed_until": None, "refresh_until": None}
    sql.set(connection, row.table, released, row.where, row.values)


def put_failure(connection: Connection, sql: Sql, row: Shared, owner: str, until: float) -> None:
    """Store that no process asks until that second, and release the claim of `owner`. The stored answer is
    unchanged."""
    sql.set(connection, row.table, {"failed_until": until}, row.where, row.values)
    release_row(connection, sql, row, owner)


WIDE = "fusion_stock_wide"
CLOUD_MAP = "fusion_market_cloud_map"
_WIDE = (
    *("code", "name", "market", "current_price", "last_close", "change_pct", "amount", "turnover_pct"),
    *("is_suspended", "limit_status", "main_net", "super_net", "large_net"),
)
_NODES = (
    *("node_code", "parent_code", "level", "name", "market_cap_yi", "amount_yi", "change_pct", "main_net"),
    *("leader_name", "leader_change_pct"),
)


def wide_rows(session: Session, day: str) -> list[dict[str, Any]]:
    """Rows of the wide table of a trade date; [] when it is not stored."""
    return session.dicts(WIDE, columns=_WIDE, where="trade_date=?", values=(day,), order="code")


def map_nodes(session: Session, day: str, level: str) -> list[dict[str, Any]]:
    """Nodes of the stored tree map of a trade date: `sector` or `stock`, the largest first."""
    of, order = {"trade_date": day, "level": level}, "market_cap_yi DESC, node_code"
    return session.dicts(CLOUD_MAP, of, columns=_NODES, order=order)


def index_rows(session: Session, day: str, symbols: tuple[str, ...]) -> list[dict[str, Any]]:
    """Bars of indices on a trade date, in the order of `symbols`."""
    columns = ("code", "name", "close", "last_close", "amount")
    rows = session.dicts("fusion_index_daily", {"date": day, "code": symbols}, columns=columns)
    by_code = {row["code"]: row for row in rows}
    return [by_code[symbol] for symbol in symbols if symbol in by_code]
