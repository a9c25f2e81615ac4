"""A requested download of one table of the market as a whole, then the fusions that it feeds.

A fusion that fails leaves the download as it is.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from core.declaration.dataset import Dataset, Raw
from core.declaration.scope import Scope
from core.errors import InputError, LockLost, PlatformError
from platform_assets.pipeline.load import load_fused, load_raw, load_stage, raw_window
from platform_assets.pipeline.on_demand import sync_line
from platform_assets.pipeline.run import PipelineRun
from resources.redact import redact
from resources.warehouse.ledger.sync_log import write_lines
from resources.warehouse.locks import Lease

CHANNEL = "channel"
_MOST_TEXT = 300

Answer = dict[str, Any]
Leases = Callable[[str | None], AbstractContextManager[Lease | None]]
"""Domain -> the lease under which its tables are written; raises ConflictError while another holds it."""


def download_market(run: PipelineRun, name: str, date: str, leases: Leases) -> Answer:
    """{status, total, saved, latest_date, channels[], message?, partial?, batch_id?, fusion?}: `total` rows
    of the table on `date`, `saved` of them written now; `partial`: what of it nobody brought, by table.
    Raises InputError for a name that is no topical downloader."""
    raw = run.registry.topical.get(name)
    if raw is None:
        raise InputError("name", f"{name!r} is no market-level download of this platform")
    started = run.clock.now()
    scope = Scope((date,))
    answer = _downloaded(run, raw, scope)
    write_lines(run.warehouse.engine, [sync_line(run, name, answer, started, (None,))])
    fed = [run.registry.dataset(one) for one in run.registry.download_to_fusion[name]]
    if answer["status"] == "success" and fed:
        answer["fusion"] = {one.name: _fused(run, one, scope, leases) for one in fed}
    return answer


def _downloaded(run: PipelineRun, raw: Raw, scope: Scope) -> Answer:
    nothing: Answer = {"total": 0, "saved": 0, "latest_date": None, "channels": []}
    try:
        loaded = load_raw(run, raw, scope)
    except LockLost:
        raise
    except PlatformError as error:
        return {**nothing, "status": "failed", "message": redact(error.message)[:_MOST_TEXT]}
    window = raw_window(run, raw, run.scope_of(scope, raw.late))
    columns = [name for name in (raw.date_column, CHANNEL) if name in raw.table.names]
    rows = run.warehouse.frame(raw.table_name, columns=columns or raw.key[:1], where=window.slice())
    newest = rows[raw.date_column].dropna().max() if raw.date_column and len(rows) else None
    answer: Answer = {
        "status": "success",
        "total": len(rows),
        "saved": sum(result.rows_written for result in loaded.results),
        "latest_date": None if newest is None else str(newest)[:10],
        "channels": sorted(set(rows[CHANNEL])) if CHANNEL in rows else [],
    }
    if loaded.results:
        answer["batch_id"] = loaded.results[-1].batch_id
    missing = [result.missing for result in loaded.results if result.missing]
    if missing:
        answer["partial"] = {raw.table_name: missing[-1]}
    reported = [item for item in loaded.sources if item.get("error")]
    if reported:
        answer["message"] = "; ".join(f"{item['src']}: {item['reason']}" for item in reported)[:_MOST_TEXT]
    elif not len(rows):
        answer["message"] = f"no source has rows of {scope.until} yet"
    return answer


def _fused(run: PipelineRun, dataset: Dataset, scope: Scope, leases: Leases) -> Answer:
    try:
        with leases(dataset.domain) as lease:
            run.lease = lease
            load_stage(run, dataset, scope)
            loaded = load_fused(run, dataset, scope)
    except LockLost:
        raise
    except PlatformError as error:
        return {"status": "failed", "saved": 0, "message": redact(error.message)[:_MOST_TEXT]}
    finally:
        run.lease = None
    return {"status": "success", "saved": sum(result.rows_written for result in loaded.results)}
