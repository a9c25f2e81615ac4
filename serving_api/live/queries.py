"""SQL of the live reads: master data of codes, shared answers, rows of fused tables for a trade date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection

from platform_assets.datasets.market_cloud_map import MarketCloudMap
from platform_assets.datasets.stock_industry import RawConceptBlock
from platform_assets.datasets.stock_master import StockMaster
from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, Where, select, stored, update
from serving_api.db.sessions import Session, parts_of

MASTER = stored("fusion_stock_master", StockMaster)
_MASTER_COLUMNS = ("code", "name", "market", "board", "is_st", "total_shares", "float_shares", "list_date")
_LISTED_COLUMNS = (*_MASTER_COLUMNS, "sec_type", "list_status")
SNAPSHOTS = stored("sys_market_snapshot")
LIVE_READS = stored("sys_live_read")
BLOCKS = stored("raw_concept_blocks", RawConceptBlock)


def masters(session: Session, codes: Sequence[str]) -> list[dict[str, Any]]:
    """Master rows of the given codes that are stored."""
    parts = (
        session.dicts(MASTER, MASTER.c.code.in_(part), columns=_MASTER_COLUMNS) for part in parts_of(codes)
    )
    return [row for part in parts for row in part]


def listed_stocks(session: Session) -> list[dict[str, Any]]:
    """Master rows of every A share that is not delisted or before its listing."""
    status = MASTER.c.list_status
    listed = [MASTER.c.sec_type == "stock", status.is_(None) | status.in_(("L", "S"))]
    return session.dicts(MASTER, *listed, columns=_LISTED_COLUMNS)


def industry_boards(session: Session) -> list[tuple[Any, ...]]:
    """(name, board code, source) of the industry boards."""
    c = BLOCKS.c
    boards = select(BLOCKS, c.block_name, c.block_code, c.src).distinct()
    return session.run(boards.where(c.block_type == "industry"))


def due(session: Session, name: str, day: str) -> tuple[float, float]:
    """The seconds of the system clock at which the shared answer of a read and day expires, and until
    which no process asks after a failure; 0 for neither."""
    rows = session.rows(
        LIVE_READS, LIVE_READS.c.name == name, columns=("trade_date", "good_until", "failed_until")
    )
    if not rows:
        return 0.0, 0.0
    of, good, failed = rows[0]
    return float(good or 0.0) if str(of) == day else 0.0, float(failed or 0.0)


def read_answer(session: Session, name: str, day: str) -> list[tuple[Any, ...]]:
    """(payload, source, time by the market clock) of a read and day."""
    columns = ("payload_json", "source", "captured_at")
    return session.rows(
        LIVE_READS, LIVE_READS.c.name == name, LIVE_READS.c.trade_date == day, columns=columns
    )


@dataclass(frozen=True)
class Shared:
    """A row that the API processes share: its table, and the values of its key by column."""

    table: str
    key: tuple[tuple[str, str], ...]

    def changed(self, connection: Connection, values: Mapping[str, Any], *where: Where) -> bool:
        """Whether the row met the conditions and has the new values."""
        own = [ANY[column] == value for column, value in self.key]
        return connection.execute(update(self.table, values, *own, *where)).rowcount == 1


def snapshot_row(data_type: str, day: str) -> Shared:
    return Shared(SNAPSHOTS, (("data_type", data_type), ("trade_date", day)))


def read_row(name: str) -> Shared:
    return Shared(LIVE_READS, (("name", name),))


def ensure_row(connection: Connection, sql: Sql, row: Shared) -> None:
    """Insert the row, without an answer yet."""
    columns, values = zip(*row.key, strict=True)
    connection.exec_driver_sql(sql.insert_absent(row.table, columns), values)


def claim_row(connection: Connection, sql: Sql, row: Shared, owner: str, now: float, until: float) -> bool:
    """Whether `owner` may refresh the answer until that second."""
    free = ANY.refresh_until.is_(None) | (ANY.refresh_until <= now) | (ANY.refresh_owner == owner)
    return row.changed(connection, {"refresh_owner": owner, "refresh_until": until}, free)


def release_row(connection: Connection, sql: Sql, row: Shared, owner: str) -> None:
    row.changed(connection, {"refresh_until": None}, ANY.refresh_owner == owner)


def put_snapshot(connection: Connection, sql: Sql, row: Shared, values: Mapping[str, Any]) -> bool:
    """Store an answer and release its claim; False when the final one, or a newer one, is stored already."""
    provisional = ANY.is_final.is_(None) | (ANY.is_final == 0)
    older = ANY.payload_json.is_(None) | (provisional & (ANY.captured_at <= values["captured_at"]))
    return row.changed(connection, {**values, "refresh_until": None}, older)


def put_read(connection: Connection, sql: Sql, row: Shared, values: Mapping[str, Any]) -> None:
    """Store an answer of a day and release the claim on it."""
    row.changed(connection, {**values, "failed_until": None, "refresh_until": None})


def put_failure(connection: Connection, sql: Sql, row: Shared, owner: str, until: float) -> None:
    """Store that no process asks until that second, and release the claim of `owner`. The stored answer is
    unchanged."""
    row.changed(connection, {"failed_until": until})
    release_row(connection, sql, row, owner)


WIDE = stored("fusion_stock_wide", StockWide)
CLOUD_MAP = stored("fusion_market_cloud_map", MarketCloudMap)
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
    return session.dicts(WIDE, WIDE.c.trade_date == day, columns=_WIDE, order=[WIDE.c.code])


def map_nodes(session: Session, day: str, level: str) -> list[dict[str, Any]]:
    """Nodes of the stored tree map of a trade date: `sector` or `stock`, the largest first."""
    of = [CLOUD_MAP.c.trade_date == day, CLOUD_MAP.c.level == level]
    order = [CLOUD_MAP.c.market_cap_yi.desc(), CLOUD_MAP.c.node_code]
    return session.dicts(CLOUD_MAP, *of, columns=_NODES, order=order)


def index_rows(session: Session, day: str, symbols: tuple[str, ...]) -> list[dict[str, Any]]:
    """Bars of indices on a trade date, in the order of `symbols`."""
    columns = ("code", "name", "close", "last_close", "amount")
    rows = session.dicts("fusion_index_daily", ANY.date == day, ANY.code.in_(symbols), columns=columns)
    by_code = {row["code"]: row for row in rows}
    return [by_code[symbol] for symbol in symbols if symbol in by_code]
