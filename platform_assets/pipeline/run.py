"""The state of one run of the pipeline: warehouse, fetch context, clocks, its requester and reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.calendar import TradeCalendar
from core.clock import Clock, stamp
from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from core.declaration.scope import Context, Reader, Scope
from platform_assets.pipeline.inputs import StoredReads
from resources.fetch_record import FetchLog
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.batch_records import Quality
from resources.warehouse.ledger.watch_list import universe_of
from resources.warehouse.locks import Lease
from resources.warehouse.warehouse import Warehouse

CODE_VERSION = "0.1.0"
MASTER = "fusion_stock_master"


@dataclass(frozen=True)
class Trigger:
    """The requester of a run: schedule, manual, api, backfill or catchup; `ref` names the schedule, command,
    user."""

    kind: str = "manual"
    ref: str | None = None
    run_id: str | None = None
    command_id: int | None = None


@dataclass(frozen=True)
class Refusal:
    """A batch that was refused before any data write: its id, what its sources did, its quality records."""

    batch_id: str
    sources: Sequence[Mapping[str, Any]] = ()
    quality: Sequence[Quality] = ()


@dataclass
class PipelineRun:
    """One run of the pipeline. `ctx` is its fetch context; each load gets a view that reports to its own
    log."""

    registry: Registry
    warehouse: Warehouse
    ctx: FetchContext
    calendar: TradeCalendar
    clock: Clock
    trigger: Trigger = field(default_factory=Trigger)
    world: str | None = None
    lease: Lease | None = None
    progress: Callable[[str], None] = field(default=lambda _message: None)
    refused: list[Refusal] = field(default_factory=list)

    def scope_of(self, asked: Scope, late: int) -> Scope:
        """What a load of the asked dates covers: the `late` dates before them, and after the newest trade
        date the days without trading so far."""
        today = self.clock.now().date().isoformat()
        return asked.with_closed_days(today, self.calendar).with_late(late, self.calendar)

    def not_listed(self, day: str) -> frozenset[str]:
        """Codes that are not listed on a day, by the stored security master: no source can have them."""
        if MASTER not in self.warehouse.tables:
            return frozenset()
        master = self.warehouse.frame(MASTER, columns=("code", "list_date", "delist_date"))
        away = (master["list_date"] > day).fillna(False) | (master["delist_date"] <= day).fillna(False)
        return frozenset(master.loc[away.astype(bool), "code"])

    def refuse_unfinished(self, table: str, scope: Scope) -> None:
        """InputError for a date whose session goes on."""
        self.registry.trade_days[table].refuse_unfinished(scope.dates, self.clock.now())

    def context(self, scope: Scope, read: Reader | None = None) -> Context:
        now = stamp(self.clock.now())
        return Context(scope=scope, now=now, calendar=self.calendar, read=read or self.read)

    def reads_of(self, dataset: Dataset) -> StoredReads:
        """Stored rows for a load of a dataset: what has no date only as far as the declaration allows."""
        return StoredReads(self.warehouse, self.registry.readable(dataset))

    @cached_property
    def read(self) -> StoredReads:
        """Stored rows for derivations and checks."""
        return StoredReads(self.warehouse)

    @cached_property
    def watched(self) -> frozenset[str] | None:
        """Codes of the watch list; None for an installation of the whole market."""
        return universe_of(self.warehouse.engine)

    def context_for(self, log: FetchLog, read: Reader | None = None) -> FetchContext:
        """The fetch context of one load, of the installation's watch list where it has one."""
        view = self.ctx.view(log, read=read or self.read)
        view.watched = self.watched
        return view

    def batch_facts(self) -> dict[str, Any]:
        return {
            "trigger": self.trigger.kind, "trigger_ref": self.trigger.ref, "run_id": self.trigger.run_id,
            "command_id": self.trigger.command_id, "world": self.world, "code_version": CODE_VERSION,
        }  # fmt: skip
