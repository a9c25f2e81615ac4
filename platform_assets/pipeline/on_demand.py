"""A requested download of some codes and types, then the fusions that they feed.

Every part is tried; what failed says why and hurts no other. A fusion failure leaves the download as it is.
`failed` is a type of which every source failed; an upstream that answered without rows is an answer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.declaration.dataset import Dataset, Raw
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.errors import InputError, LockLost, PlatformError
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.load import load_fused, load_raw, load_stage, raw_window
from platform_assets.pipeline.run import PipelineRun
from resources.redact import redact
from resources.warehouse.ledger.sync_log import SyncLine, write_lines
from resources.warehouse.slices import Slice

_MOST_TEXT = 300

Part = dict[str, Any]


def download(run: PipelineRun, codes: Sequence[str], types: Sequence[str], date: str) -> dict[str, Any]:
    """{types: {type: {status, message?, incomplete?, batch_id?, codes: {code: {total, saved, gap_count}}}},
    fusion: {status, batch_id?, results: {fused dataset: {status, saved, message?}}} or None}.

    `date` is the newest trade date that day-shaped types are downloaded for; where upstreams have the past
    of a code (`Raw.history`), the dates before it come first. Raises InputError for a type that the registry
    does not have."""
    raws = [_raw(run, name) for name in types]
    scope = Scope((date,), tuple(codes))
    parts: dict[str, Part] = {}
    lines = []
    for raw in raws:
        started = run.clock.now()
        parts[raw.name] = part = _one_type(run, raw, scope)
        lines.append(sync_line(run, f"download:{raw.name}", part, started, codes))
        run.progress(f"{raw.name}: {part['status']}")
    write_lines(run.warehouse.engine, lines)
    fetched = [
        raw for raw in raws if any(reported["total"] for reported in parts[raw.name]["codes"].values())
    ]
    return {"types": parts, "fusion": _fuse(run, fetched, scope)}


def _raw(run: PipelineRun, name: str) -> Raw:
    found = run.registry.download_types.get(name)
    if found is None:
        raise InputError("types", f"{name!r} is no download type of this platform")
    return found


def _one_type(run: PipelineRun, raw: Raw, scope: Scope) -> Part:
    done: list[Loaded] = []
    refused = []
    asked = _with_history(run, raw.history, scope)
    for part_of in asked:
        try:
            done.append(load_raw(run, raw, part_of, empty_is_answer=True))
        except LockLost:
            raise
        except PlatformError as error:
            refused.append(redact(error.message)[:_MOST_TEXT])
    if not done:
        return {"status": "failed", "message": refused[-1], "codes": {}}
    whole = Scope(tuple(day for part_of in asked for day in part_of.dates), scope.codes)
    counted = _per_code(run, raw, whole, done)
    part: Part = {"status": "success", "codes": counted}
    batches = [loaded.results[-1].batch_id for loaded in done if loaded.results]
    if batches:
        part["batch_id"] = batches[-1]
    without = [code for code in scope.codes or () if not counted[code]["total"]]
    reported = [_without_rows(without, done)] if without else []
    if refused:
        part["incomplete"] = True
        reported += [f"part of the dates failed: {reason}" for reason in refused]
    if reported:
        part["message"] = "; ".join(reported)[:_MOST_TEXT]
    return part


def _with_history(run: PipelineRun, history: int, scope: Scope) -> list[Scope]:
    """The dates before the newest, where upstreams have them of a single code, and then the newest by itself:
    only the current session has quotes and lists with more columns."""
    alone = scope.codes is not None and len(scope.codes) == 1
    older = history - 1 if alone else 0
    before = tuple(run.calendar.last(older, run.calendar.offset(scope.until, -1))) if older > 0 else ()
    return [Scope(before, scope.codes), scope] if before else [scope]


def _without_rows(codes: Sequence[str], done: Sequence[Loaded]) -> str:
    """The sources that answered that some codes have no rows."""
    named = ", ".join(codes[:5]) + (" ..." if len(codes) > 5 else "")
    answered = dict.fromkeys(
        str(item["src"])
        for loaded in done
        for item in loaded.sources
        if not item.get("error") and (item.get("calls") or item.get("fetch_ids"))
    )
    if not answered:
        return f"no rows of {named}, and no upstream that could have been asked"
    return f"{', '.join(answered)} answered without rows of {named}"


def _per_code(run: PipelineRun, raw: Raw, scope: Scope, done: Sequence[Loaded]) -> dict[str, dict[str, int]]:
    """Rows that are stored for each code, those that this download wrote, and missing trade dates."""
    scope = run.scope_of(scope, raw.late)
    mine = {result.batch_id for loaded in done for result in loaded.results}
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


def _fuse(run: PipelineRun, fetched: Sequence[Raw], scope: Scope) -> Part | None:
    """Every fused dataset that the downloaded types feed, once, as far back as they were asked for; None when
    they feed none."""
    history: dict[str, int] = {}
    for raw in fetched:
        for name in run.registry.download_to_fusion[raw.name]:
            history[name] = max(history.get(name, 1), raw.history)
    if not history:
        return None
    results: dict[str, Part] = {}
    batch_id = None
    for name, dates in history.items():
        dataset = run.registry.dataset(name)
        asked = _with_history(run, dates if dataset.partition is Partition.TRADE_DATE else 1, scope)
        results[name], written = _fuse_one(run, dataset, asked)
        batch_id = written or batch_id
    ok = any(part["status"] == "success" for part in results.values())
    return {"status": "success" if ok else "failed", "batch_id": batch_id, "results": results}


def _fuse_one(run: PipelineRun, dataset: Dataset, scopes: Sequence[Scope]) -> tuple[Part, str | None]:
    """Success when a part of the dates was fused; the message says what failed of the others."""
    done: list[Loaded] = []
    refused = []
    for scope in scopes:
        try:
            if dataset.staged:
                load_stage(run, dataset, scope)
            done.append(load_fused(run, dataset, scope))
        except LockLost:
            raise
        except PlatformError as error:
            refused.append(redact(error.message)[:_MOST_TEXT])
    saved = sum(result.rows_written for loaded in done for result in loaded.results)
    batches = [loaded.results[-1].batch_id for loaded in done if loaded.results]
    run.progress(f"{dataset.table_name}: {saved} rows written")
    part: Part = {"status": "success" if done else "failed", "saved": saved}
    if refused:
        part["message"] = "; ".join(dict.fromkeys(refused))[:_MOST_TEXT]
    return part, batches[-1] if batches else None


def sync_line(
    run: PipelineRun, task: str, part: Part, started: datetime, codes: Sequence[str | None]
) -> SyncLine:
    """The line of a download of some codes; `(None,)` for the market as a whole."""
    good = len(codes) if part["status"] == "success" else 0
    return SyncLine(
        task_type=task,
        code=codes[0] if len(codes) == 1 else None,
        status=part["status"],
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
