"""Retention of the ledgers (`sys_…`): what the clean-up deletes of each, and why the others are bounded.

A row goes when it is old and nothing reads it any more: the newest row of its kind stays, and so does what
stored rows refer to. What a clean-up that broke off deleted stays deleted; the next one goes on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.clock import stamp
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Ledger

RECORD_DAYS = 1095
"""What was received and what failed a check: as long as staged rows, whose origin it is, by default."""
LEDGER_DAYS = 400
"""Longer than the 250 trade dates that the sensor `gaps` looks back."""
NODE_DAYS = 7
"""Processes that died without saying so."""
AT_ONCE = 2000
"""Rows that one transaction deletes."""

_ENDED = "status NOT IN ('queued', 'running')"


@dataclass(frozen=True)
class Rule:
    """Rows of `table` that go after `days`. `old`: SQL over the table's alias `t` with one mark for the time
    before which a row is old; `key`: its key columns."""

    table: str
    key: tuple[str, ...]
    old: str
    days: int


RULES: tuple[Rule, ...] = (
    Rule("sys_fetch", ("fetch_id",), "t.received_at < ?", RECORD_DAYS),
    Rule(
        "sys_quality_record",
        ("id",),
        "t.batch_id IN (SELECT b.batch_id FROM sys_batch b WHERE b.started_at < ?)",
        RECORD_DAYS,
    ),
    Rule(
        "sys_batch_month",
        ("table_name", "version", "month"),
        "t.version < (SELECT v.version FROM table_version v WHERE v.table_name = t.table_name) "
        "AND EXISTS (SELECT 1 FROM sys_batch b WHERE b.batch_id = t.batch_id AND b.started_at < ?)",
        LEDGER_DAYS,
    ),
    # Wrote nothing, is not the newest of its table and date, and nothing names it: no stored row is of it.
    Rule(
        "sys_batch",
        ("batch_id",),
        "t.started_at < ? AND t.status <> 'running' "
        "AND COALESCE(t.rows_written, 0) = 0 AND COALESCE(t.rows_superseded, 0) = 0 "
        "AND EXISTS (SELECT 1 FROM sys_batch n WHERE n.table_name = t.table_name "
        "AND n.partition_key = t.partition_key AND n.status = 'success' AND n.started_at > t.started_at) "
        "AND NOT EXISTS (SELECT 1 FROM sys_batch c WHERE c.parent_batch_id = t.batch_id) "
        "AND NOT EXISTS (SELECT 1 FROM sys_fetch f WHERE f.batch_id = t.batch_id) "
        "AND NOT EXISTS (SELECT 1 FROM table_version v WHERE v.last_batch_id = t.batch_id)",
        LEDGER_DAYS,
    ),
    Rule("sys_sync_log", ("id",), "t.started_at < ?", LEDGER_DAYS),
    Rule("sys_command", ("id",), f"t.requested_at < ? AND t.{_ENDED}", LEDGER_DAYS),
    Rule(
        "sys_backfill",
        ("backfill_id",),
        f"t.created_at < ? AND t.{_ENDED} "
        "AND NOT EXISTS (SELECT 1 FROM sys_gap g "
        "WHERE g.backfill_id = t.backfill_id AND g.status = 'queued')",
        LEDGER_DAYS,
    ),
    Rule("sys_gap", ("dataset", "partition_key"), "t.detected_at < ? AND t.status <> 'queued'", LEDGER_DAYS),
    # The newest success of a task and trade date says that the date is loaded.
    Rule(
        "sys_slot",
        ("id",),
        f"t.slot_at < ? AND t.{_ENDED} AND (t.status NOT IN ('success', 'partial') OR EXISTS "
        "(SELECT 1 FROM sys_slot n WHERE n.task_key = t.task_key AND n.trade_date = t.trade_date "
        "AND n.status IN ('success', 'partial') AND n.id > t.id))",
        LEDGER_DAYS,
    ),
    Rule(
        "sys_market_snapshot",
        ("data_type", "trade_date"),
        "t.trade_date < ? AND EXISTS (SELECT 1 FROM sys_market_snapshot n "
        "WHERE n.data_type = t.data_type AND n.trade_date > t.trade_date)",
        LEDGER_DAYS,
    ),
    Rule("sys_live_read", ("name",), "t.captured_at < ?", LEDGER_DAYS),
    Rule("sys_heartbeat", ("node_id",), "t.beat_at < ?", NODE_DAYS),
)

BOUNDED: Mapping[str, str] = {
    "sys_domain_lock": "one row for each of the three domains",
    "sys_task": "one row for each task of the table",
    "sys_watched_security": "one row for each security of the watch list",
    "sys_config": "one row for each setting that may be stored",
    "sys_import": "one row for each file that a user imported: it is the file's place among the sources",
    "sys_change_snapshot": "one row for each thing that is compared",
    "sys_change_history": "the newest changes of each thing; older ones go with the next one",
    "sys_transport_state": "one row for each host, breaker and counter",
    "sys_provenance": "one row for each pattern of sources that ever occurred, some hundred bytes",
    "sys_chat_receipt": "the newest receipts of each user, for some days; older ones go with the next one",
}
"""Ledgers without a rule -> what bounds them."""


class LedgerRetention(Ledger):
    """Deletes of old rows of the ledgers in one warehouse."""

    def remove(self, now: datetime, tables: frozenset[str]) -> dict[str, int]:
        """Rows that each of the warehouse's `tables` lost. `now`: market time, of which system time is at
        most hours away. Raises StorageError."""
        lost: dict[str, int] = {}
        for rule in RULES:
            if rule.table in tables:
                lost[rule.table] = sum(self._parts(rule, stamp(now - timedelta(days=rule.days))))
        return {table: count for table, count in lost.items() if count}

    def _parts(self, rule: Rule, before: str) -> Iterator[int]:
        columns = ", ".join(f"t.{self._sql.name(column)}" for column in rule.key)
        # Two statements: MariaDB deletes from no table that the condition reads.
        found = f"SELECT {columns} FROM {self._sql.name(rule.table)} t WHERE {rule.old} LIMIT {AT_ONCE}"
        condition = " AND ".join(f"{self._sql.name(column)}=?" for column in rule.key)
        statement = self._sql.text(f"DELETE FROM {self._sql.name(rule.table)} WHERE {condition}")
        while keys := self._sql.rows(found, (before,)):
            with transaction(self._engine) as connection:
                connection.exec_driver_sql(statement, [tuple(key) for key in keys])
            yield len(keys)
