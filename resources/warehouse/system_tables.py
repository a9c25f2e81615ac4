"""System, user and infrastructure tables: the fixed tables of the platform, in the dictionary's notation."""

from functools import partial
from typing import Any

from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table


def _table(head: str, notation: str, *, layer: Layer = Layer.SYSTEM, **more: Any) -> Table:
    """`head`: the name and, in brackets, the key; `more`: other facts of the table."""
    name, _, key = head.rstrip(")").partition("(")
    return Table(name=name, layer=layer, columns=columns_from(notation), key=tuple(key.split(", ")), **more)


_infra = partial(_table, layer=Layer.INFRA)
_user = partial(_table, layer=Layer.USER)

SYSTEM_TABLES: tuple[Table, ...] = (
    _table(
        "sys_sync_log(id)",
        "id:big task_type:k64 code:code status:s16 total:int success:int failed:int message:text "
        "started_at:ts finished_at:ts batch_id:k32 run_id:k64 trigger_type:s16",
        serial=True,
        indexes=(("task_type", "started_at"),),
        description="one row per download, sync or scheduled task",
    ),
    _table(
        "sys_batch(batch_id)",
        "batch_id:k32 table_name:k64 fusion_type:s32 domain:k16 trigger_type:s16 trigger_ref:k64 "
        "command_id:big parent_batch_id:k32 run_id:k64 partition_key:k32 codes_count:int rows_in:int "
        "rows_ok:int rows_warning:int rows_rejected:int rows_unchanged:int rows_written:int "
        "rows_superseded:int inputs_json:json sources_json:json checks_json:json content_hash:k64 "
        "code_version:s32 world:s16 status:s16 error:text started_at:ts finished_at:ts lock_wait_ms:int",
        indexes=(
            ("table_name", "partition_key"),
            ("run_id",),
            ("started_at",),
            ("parent_batch_id",),
        ),
        description="one row per (table, partition or code set, transaction)",
    ),
    _table(
        "sys_quality_record(id)",
        "id:big batch_id:k32 table_name:k64 check_name:s128 severity:s8 column_name:s64 natural_key:s255 "
        "code:code partition_key:k32 failed_value:s255 failed_count:int total_count:int action:s16 "
        "message:s512 sources_json:json",
        serial=True,
        indexes=(("batch_id",), ("table_name", "partition_key"), ("code",)),
        description="failed checks: one row per failing row (first 200 of a check) and one summary row",
    ),
    _table(
        "sys_heartbeat(node_id)",
        "node_id:k64 role:s16 host:s64 pid:int started_at:ts beat_at:ts state_json:json",
        description="processes that are alive; fresh when beat_at is within 90 s",
    ),
    _table(
        "sys_domain_lock(domain)",
        "domain:k16 owner:k64 run_id:k64 command_id:big token:big acquired_at:f heartbeat_at:f expires_at:f "
        "refusals:big",
        description="leases of the fusion domains; times are seconds of the database's clock",
    ),
    _table(
        "sys_task(task_key)",
        "task_key:k64 position:int declared_json:json trigger_hm:int enabled:bool changed_by:s64 "
        "changed_at:ts",
        description="the task table as published by the scheduler side, and what differs from it",
    ),
    _table(
        "sys_config(config_key)",
        "config_key:s128 value:text value_type:s16 group_name:s32 is_secret:bool default_value:text "
        "note:s255 updated_by:s64",
        description="allow-listed settings stored through the API",
    ),
    _table(
        "sys_command(id)",
        "id:big command:k64 args_json:json idempotency_key:k64 status:s16 requested_by:s64 "
        "requested_at:ts not_before:ts owner:k64 claimed_at:ts heartbeat_at:ts expires_at:f "
        "attempts:int max_attempts:int cancel_requested:bool run_id:k64 backfill_id:k32 "
        "result_json:json error:text finished_at:ts traceparent:k64",
        serial=True,
        indexes=(("status", "id"),),
        unique=(("idempotency_key",),),
        description="what the API asks the platform to do",
    ),
    _table(
        "sys_backfill(backfill_id)",
        "backfill_id:k32 dataset:k32 date_from:date date_to:date codes_json:json only_missing:bool "
        "plan_json:json plan_expires_at:ts status:s16 partitions_total:int partitions_done:int "
        "partitions_failed:int partitions_skipped:int rows_written:big calls_json:json run_ids_json:json "
        "failures_json:json cancel_requested:bool dagster_backfill_id:k64 requested_by:s64 started_at:ts "
        "finished_at:ts",
        indexes=(("dataset", "status"),),
        description="ranges of trade dates that the worker loads, and how far it is",
    ),
    _table(
        "sys_gap(dataset, partition_key)",
        "dataset:k32 partition_key:k32 expected:int present:int missing:int codes_json:json reason:s16 "
        "status:s16 attempts:int run_id:k64 next_at:ts detected_at:ts closed_at:ts note:s255 "
        "backfill_id:k32",
        indexes=(("status", "next_at"),),
        description="trade dates that are not loaded, and what is done about them",
    ),
    _table(
        "sys_watched_security(code)",
        "code:code since:date loaded_until:date added_by:s64 added_at:ts",
        description="the watch list: the securities that this installation loads; none: the whole market",
    ),
    _table(
        "sys_import(name, dataset, file_hash)",
        "name:k32 dataset:k32 file_hash:k64 mapping_hash:k64 place:k64 mapping_json:json files_json:json "
        "parts_json:json status:s16 rows_in:big rows_refused:big rows_written:big started_at:ts "
        "finished_at:ts",
        indexes=(("dataset",),),
        description="files of users that were imported: how they are read, their place among the sources, "
        "which months are done",
    ),
    _table(
        "sys_market_snapshot(data_type, trade_date)",
        "data_type:k32 trade_date:date payload_json:json source:s32 is_final:bool captured_at:dt "
        "good_until:f refresh_owner:k32 refresh_until:f",
        description="the newest live answer of each data type and trade date; who refreshes it now, and the "
        "seconds (of the system clock) at which the answer is due again and that claim ends",
    ),
    _table(
        "sys_live_read(name)",
        "name:k64 trade_date:date payload_json:json source:s32 captured_at:dt good_until:f failed_until:f "
        "refresh_owner:k32 refresh_until:f",
        description="the newest answer of an upstream to each live read, shared by all API processes; who "
        "asks now, and the seconds (of the system clock) at which the answer, the pause after a failure and "
        "that claim end",
    ),
    _table(
        "sys_change_snapshot(entity_type, entity_id)",
        "entity_type:k32 entity_id:k64 payload_json:json payload_hash:k64 version_no:int captured_at:dt",
        description="the newest version of what a user compares (`/market/change-detector`)",
    ),
    _table(
        "sys_change_history(id)",
        "id:big entity_type:k32 entity_id:k64 version_no:int changes_json:json added:int removed:int "
        "changed:int detected_at:ts",
        serial=True,
        indexes=(("entity_type", "entity_id"),),
        description="what changed between versions, the newest of each entity",
    ),
    _user(
        "app_users(id)",
        "id:int username:s64 email:s128 password_hash:s255 role:s16 status:s32 email_verified:bool "
        "is_activated:bool avatar:s255 phone:s32 ai_usage_count:int ai_usage_date:date last_login_at:dt "
        "last_recall_sent_at:dt token_generation:int",
        serial=True,
        unique=(("username",), ("email",)),
        description="local accounts",
    ),
    _user(
        "portfolio_stock(user_id, code)",
        "user_id:int code:code name:s64 group_name:s64 shares:f:sh cost_price:px:CNY buy_date:date "
        "stop_loss_price:px:CNY target_price:px:CNY note:s255 sort_no:int is_active:bool",
        description="watch list and holdings; user_id 0 = the shared list",
    ),
    _user(
        "mcp_server(user_id, name)",
        "user_id:int name:s64 url:s512 transport:s32 enabled:bool headers_sealed:text sort_no:int",
        description="tool servers outside that a user has entered; headers are sealed",
    ),
    _user(
        "app_skill(skill_key)",
        "skill_key:k64 enabled:bool definition_json:json updated_by:s64",
        description="skills that were switched, and those that were installed (with their definition)",
    ),
    _table(
        "stock_analysis(source, code, date)",
        "source:s16 code:code date:date name:s64 industry:s64 direction:s16 total_score:f scores_json:json "
        "conclusion:text sections_json:json gate_blocked:bool gate_reason:s255 model:s128 as_of:dt "
        "evidence_json:json receipt_json:json",
        indexes=(("code", "date"),),
        layer=Layer.NOTE,
        description="five-dimension analyses: one a company, day and source (ai, manual, quant_prefill)",
    ),
    _table(
        "decision_card(trace_id)",
        "trace_id:s64 source:s32 code:code name:s64 industry:s64 decision_date:date direction:s16 "
        "total_score:f scores_json:json price_at_decision:px:CNY price_date:date conclusion:text "
        "gate_blocked:bool gate_reason:s255 review_outcome:s16 review_profit_pct:pct:pct "
        "review_actual_trend:s16 reviewed_at:dt",
        indexes=(("decision_date",), ("code", "decision_date")),
        layer=Layer.NOTE,
        description="what was said of a stock, and whether it came so; trace_id = source_code_date",
    ),
)

INFRA_TABLES: tuple[Table, ...] = (
    _infra(
        "sys_transport_state(kind, name)",
        "kind:k16 name:k64 document:text",
        description="pacing, breakers, cooldowns and call counts of a deployment whose warehouse is a server",
    ),
    _infra(
        "table_version(table_name)",
        "table_name:k64 version:big latest_date:date row_count:big updated_at:ts confirmed_at:ts "
        "last_batch_id:k32",
        description="moved in the transaction of every write; caches, stats and freshness read it",
    ),
    _infra(
        "sys_batch_month(table_name, version, month)",
        "table_name:k64 version:big month:k16 batch_id:k32",
        description="which months of a published table a batch changed; version = the version of the table "
        "that it made. What the lake has yet to publish follows from it",
    ),
    _infra(
        "sys_provenance(id)",
        "id:big pattern:json",
        description="patterns of per-column sources, written once",
    ),
    _infra(
        "sys_fetch(fetch_id)",
        "fetch_id:k32 batch_id:k32 run_id:k64 upstream:k32 call_name:k64 request_key:k64 request:text "
        "codes_or_page:s255 http_status:int outcome:s16 attempt:int byte_count:int sha256:k64 "
        "body_path:s255 elapsed_ms:int received_at:ts trade_date:date recording:k32",
        indexes=(("batch_id",), ("request_key",), ("received_at",)),
        description="every upstream response that fed a write",
    ),
    _infra(
        "sys_chat_receipt(receipt_id)",
        "receipt_id:k32 user_id:int asked_at:ts expires_at:f kind:k16 question_hash:k64 provenance:s16 "
        "body:mtext",
        indexes=(("user_id", "asked_at"), ("expires_at",)),
        description="what an answer of the chat was made of; the newest of each user, for some days; body is "
        "packed (zlib, base64)",
    ),
    _infra(
        "sys_slot(id)",
        "id:big task_key:k64 slot:k32 slot_at:dt trade_date:date trigger_type:s16 status:s16 reason:s255 "
        "attempt:int claimed_by:k64 claimed_at:f run_id:k64 command_id:big started_at:ts finished_at:ts",
        serial=True,
        unique=(("task_key", "slot"),),
        indexes=(("trade_date",), ("status",), ("run_id",)),
        description="slot ledger: a slot is claimed before its run is requested; slot = trade date of a "
        "daily task, time of a repeating one",
    ),
)
