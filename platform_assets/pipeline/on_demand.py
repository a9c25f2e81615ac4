"""A download that somebody asked for: some codes, some types, then the fusions that they feed.

Every part is tried; what failed says why and hurts no other. A fusion failure leaves the download as it is.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from platform_assets.declaration.dataset import Dataset, Raw
from platform_assets.declaration.scope import Scope
from platform_assets.pipeline.load import load_fused, load_raw, load_stage, raw_window
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.writing import Loaded
from resources.errors import InputError, LockLost, PlatformError
from resources.transport.redact import redact
from resources.warehouse.ledger.sync_log import SyncLine, write_lines
from resources.warehouse.slices import Slice

_MOST_TEXT = 300

Part = dict[str, Any]


def download(run: PipelineRun, codes: Sequence[str], types: Sequence[str], date: str) -> dict[str, Any]:
    """{types: {type: {status, message?, batch_id?, codes: {code: {total, saved, gap_count}}}},
    fusion: {status, batch_id?, results: {fused dataset: {status, saved, message?}}} or None}.

    `date` is the trade date that day-shaped types are downloaded for; of a single code also the dates before
    it, where its upstream tells them (`Raw.history`). Raises InputError for a type that the registry does
    not have."""
    raws = [_raw(run, name) for name in types]
    scopes = {raw.name: _scope(run, raw, date, tuple(codes)) for raw in raws}
    parts: dict[str, Part] = {}
    lines = []
    for raw in raws:
        started = run.clock.now()
        scope = scopes[raw.name]
        parts[raw.name] = part = _one_type(run, raw, scope)
        lines.append(_line(run, raw, scope, part, started))
        run.progress(f"{raw.name}: {part['status']}")
    write_lines(run.warehouse.engine, lines)
    fetched = [raw.name for raw in raws if parts[raw.name]["status"] == "success"]
    return {"types": parts, "fusion": _fuse(run, {name: scopes[name] for name in fetched})}


def _scope(run: PipelineRun, raw: Raw, date: str, codes: tuple[str, ...]) -> Scope:
    dates = raw.history if len(codes) == 1 else 1
    return Scope(tuple(run.calendar.last(dates, date)) if dates > 1 else (date,), codes)


def _raw(run: PipelineRun, name: str) -> Raw:
    found = run.registry.download_types.get(name)
    if found is None:
        raise InputError("types", f"{name!r} is no download type of this platform")
    return found


def _one_type(run: PipelineRun, raw: Raw, scope: Scope) -> Part:
    try:
        loaded = load_raw(run, raw, scope)
    except LockLost:
        raise
    except PlatformError as error:
        return {"status": "failed", "message": redact(error.message)[:_MOST_TEXT], "codes": {}}
    counted = _per_code(run, raw, scope, loaded)
    part: Part = {"status": "success", "codes": counted}
    if loaded.results:
        part["batch_id"] = loaded.results[-1].batch_id
    without = [code for code in scope.codes or () if not counted[code]["total"]]
    if without:
        # The sources answered: that a stock has no block trade is an answer, too.
        part["message"] = f"no rows of {', '.join(without[:5])}" + (" ..." if len(without) > 5 else "")
    return part


def _per_code(run: PipelineRun, raw: Raw, scope: Scope, loaded: Loaded) -> dict[str, dict[str, int]]:
    """Rows that are stored for each code, those that this download wrote, and missing trade dates."""
    scope = scope.with_late(raw.late, run.calendar)
    mine = {result.batch_id for result in loaded.results}
    codes = tuple(scope.codes or ())
    columns = ["code", "batch_id", *([raw.date_column] if raw.date_column else [])]
    rows = run.warehouse.frame(raw.table_name, columns=columns, where=raw_window(run, raw, scope).slice())
    gaps = _gaps(run, raw, codes)
    return {
        code: {
            "total": int((rows["code"] == code).sum()),
            "saved": int(((rows["code"] == code) & rows["batch_id"].isin(list(mine))).sum()),
            "gap_count": gaps.get(code, 0),
        }
        for code in codes
    }


def _gaps(run: PipelineRun, raw: Raw, codes: Sequence[str]) -> dict[str, int]:
    """Trade dates between a code's first and last stored row that it has no row for; of types alone of which
    every trade date promises a row."""
    if not raw.gaps or raw.date_column is None:
        return {}
    columns = ["code", raw.date_column]
    rows = run.warehouse.frame(raw.table_name, columns=columns, where=Slice.of_codes(list(codes)))
    gaps = {}
    for code, days in rows.groupby("code")[raw.date_column]:
        stored = set(days.tolist())
        gaps[str(code)] = len(set(run.calendar.between(min(stored), max(stored))) - stored)
    return gaps


def _fuse(run: PipelineRun, fetched: Mapping[str, Scope]) -> Part | None:
    """Every fused dataset that the downloaded types (with what was downloaded of them) feed, once, on all
    dates of any of them; None when they feed none."""
    longest: dict[str, Scope] = {}
    for kind, scope in fetched.items():
        for name in run.registry.download_to_fusion[kind]:
            longest[name] = max(longest.get(name, scope), scope, key=lambda one: len(one.dates))
    if not longest:
        return None
    results: dict[str, Part] = {}
    batch_id = None
    for name, scope in longest.items():
        dataset = run.registry.dataset(name)
        results[dataset.name], written = _fuse_one(run, dataset, scope)
        batch_id = written or batch_id
    ok = any(part["status"] == "success" for part in results.values())
    return {"status": "success" if ok else "failed", "batch_id": batch_id, "results": results}


def _fuse_one(run: PipelineRun, dataset: Dataset, scope: Scope) -> tuple[Part, str | None]:
    try:
        if dataset.staged:
            load_stage(run, dataset, scope)
        loaded = load_fused(run, dataset, scope)
    except LockLost:
        raise
    except PlatformError as error:
        return {"status": "failed", "saved": 0, "message": redact(error.message)[:_MOST_TEXT]}, None
    saved = sum(result.rows_written for result in loaded.results)
    batch_id = loaded.results[-1].batch_id if loaded.results else None
    run.progress(f"{dataset.table_name}: {saved} rows written")
    return {"status": "success", "saved": saved}, batch_id


def _line(run: PipelineRun, raw: Raw, scope: Scope, part: Part, started: datetime) -> SyncLine:
    codes = scope.codes or ()
    status = part["status"]
    # A code without rows was answered for, too; the message names it.
    good = len(codes) if status == "success" else 0
    return SyncLine(
        task_type=f"download:{raw.name}",
        code=codes[0] if len(codes) == 1 else None,
        status=status,
        total=len(codes),
        success=good,
        failed=len(codes) - good,
        message=part.get("message"),
        started_at=started,
        finished_at=run.clock.now(),
        batch_id=part.get("batch_id"),
        run_id=run.trigger.run_id,
        trigger_type=run.trigger.kind,
    )
