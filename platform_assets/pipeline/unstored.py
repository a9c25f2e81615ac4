"""Rows straight from the upstreams, without a warehouse: what a load fetches, stages, fuses and checks.

The sources, their order and every rule are those of the declaration. What a table is computed with from
others (ex-rights, names) is fetched in the same way; what only a platform keeps (its ledgers, its list of
securities) has no rows here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.clock import stamp
from core.declaration.conditions import Condition
from core.declaration.dataset import Dataset, Raw
from core.declaration.frames import coerce, empty_frame
from core.declaration.registry import Registry
from core.declaration.rules import Partition, Rows
from core.declaration.scope import Context, Reader, Scope
from core.declaration.tables import Table
from core.errors import NotFound
from core.market.bars import Dense
from platform_assets.pipeline.checks import apply_contract, apply_hard, coerce_model
from platform_assets.pipeline.download import AllSourcesFailed, Download, ask
from platform_assets.pipeline.fused_rows import fused_frame
from platform_assets.pipeline.stored_rows import key_with_src
from platform_assets.pipeline.windows import Window
from resources.fetch_record import FetchLog
from resources.upstreams.fetch_context import FetchContext

KEPT = frozenset({"ref_exright_item", "fusion_stock_master", "ref_code_change", "raw_quote"})
"""Tables that a platform fills by comparing days, or for the market as a whole: read as empty here."""
FETCHED = frozenset({"ref_exright", "ref_name_history"})
"""Tables that others are computed with and that are fetched for their codes."""
TableRows = Callable[[Table, Scope], pd.DataFrame]


@dataclass
class Answer:
    """Rows in the declared columns, and what each source did: {src, rows, error?, reason?}."""

    frame: pd.DataFrame
    sources: list[dict[str, Any]] = field(default_factory=list)
    not_served: dict[str, str] = field(default_factory=dict)
    """Codes that no source answered for -> why."""


def reads_of(registry: Registry, table: Table) -> frozenset[str] | None:
    """The tables that are fetched with one; None where its rows cannot be had from upstreams alone."""
    dataset = registry.of_table(table.name)
    raws = [registry.raws[name] for name in (dataset.feeds or (table.name,)) if name in registry.raws]
    sources = [source.name for one in (*raws, dataset) for source in getattr(one, "sources", ())]
    fused = dataset.model is not None and table.name == dataset.table_name
    reads = {name for raw in raws for name in raw.reads} | set(dataset.reads if fused else ())
    own = {raw.table_name for raw in dataset.raw}
    if not sources or "derived" in sources or table.name in KEPT or (fused and dataset.calculate):
        return None
    return frozenset(reads & FETCHED) if reads <= KEPT | FETCHED | own else None


@dataclass(frozen=True)
class _Reads:
    """The reader of a load: tables that are fetched, and no rows of all others."""

    registry: Registry
    fetched: frozenset[str]
    rows: TableRows
    scope: Scope

    def __call__(
        self,
        table: str,
        *,
        columns: Sequence[str],
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        noted: Sequence[str] = (),
        as_of: str | None = None,
    ) -> pd.DataFrame:
        declared = next(one for one in self.registry.tables if one.name == table)
        if table not in self.fetched:
            return empty_frame(declared.all_columns)[list(columns)]
        frame = self.rows(declared, self.scope)
        if codes is not None:
            frame = frame[frame["code"].isin(list(codes))]
        if declared.date_column is not None:
            days = frame[declared.date_column].astype(str)
            frame = frame[(days >= (since or "")) & (days <= (until or "9999"))]
        return frame[list(columns)].reset_index(drop=True)

    def panel(
        self,
        table: str,
        *,
        columns: Sequence[str],
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        noted: Sequence[str] = (),
    ) -> Dense:
        raise NotFound(f"{table}: the market as a whole is in a platform alone")

    def latest(self, table: str, column: str, before: str) -> str | None:
        return None

    def apart(self) -> Reader:
        return self

    def take_over(self, other: Reader) -> None:
        """Nothing is remembered."""


@dataclass(frozen=True)
class Unstored:
    """Loads without a warehouse. `rows` gives the tables that a load reads: it may remember them."""

    registry: Registry
    ctx: FetchContext
    rows: TableRows

    def answer(self, table: Table, scope: Scope) -> Answer:
        """The rows of a table for a scope. Raises AllSourcesFailed, and what the checks raise."""
        dataset = self.registry.of_table(table.name)
        fetched = reads_of(self.registry, table)
        if fetched is None:
            raise NotFound(f"{table.name} cannot be had from upstreams alone")
        reads = _Reads(self.registry, fetched, self.rows, scope)
        now = stamp(self.ctx.clock.now())
        context = Context(scope=scope, now=now, calendar=self.ctx.calendar, read=reads)
        raw = self.registry.raws.get(table.name)
        if raw is not None:
            return self._raw(raw, context)
        if dataset.feeds:
            return self._staged(dataset, context)
        rule = dataset.fuse
        download = ask(
            dataset.sources,
            self.ctx.view(FetchLog(), read=reads),
            scope,
            ask_all=dataset.combine == "all",
            also=rule.finer_source if isinstance(rule, Rows) else "",
            expected=dataset.expected,
            window=Window.of(table, dataset.partition, scope, self.ctx.calendar),
        )
        return _answer(fused_frame(dataset, download.frame, context, scope), download)

    def _raw(self, raw: Raw, context: Context) -> Answer:
        scope = context.scope if "code" in raw.table.names else context.scope.whole
        download = ask(
            raw.sources,
            self.ctx.view(FetchLog(), read=context.read),
            scope,
            ask_all=raw.combine == "all",
            expected=raw.expected,
            window=Window.of(raw.table, raw.partition, scope, self.ctx.calendar),
            may_be_unserved=raw.may_be_empty,
            empty_is_answer=True,
        )
        if download.frame.empty:
            return _answer(empty_frame(raw.table.all_columns), download)
        clean, destroyed = coerce_model(download.frame, raw.model, ["src"])
        key = key_with_src(raw.table)
        checked = apply_contract(apply_hard(clean, raw.model, key, destroyed), raw.contract, key, context)
        return _answer(checked.frame, download)

    def _staged(self, dataset: Dataset, context: Context) -> Answer:
        """The feeds of a dataset, staged and fused. A feed that no source gives is among `sources` with its
        errors, as in a run of the pipeline; AllSourcesFailed where none is given."""
        frames, sources, not_served = [], [], dict[str, str]()
        failed: list[AllSourcesFailed] = []
        for name, stage in dataset.feeds.items():
            try:
                got = self._raw(self.registry.raws[name], context)
            except AllSourcesFailed as error:
                failed.append(error)
                sources += _shown(error.download)
                continue
            sources += got.sources
            not_served |= got.not_served
            if len(got.frame):
                frames.append(stage(got.frame, context))
        if len(failed) == len(dataset.feeds):
            raise failed[-1]
        if not frames:
            return Answer(empty_frame(dataset.table.all_columns), sources, not_served)
        staged = dataset.stage_table
        joined = pd.concat(frames, ignore_index=True)
        rows = coerce(joined, staged.columns)[0].assign(src=joined["src"])
        rows = rows[rows[list(staged.key)].notna().all(axis=1)]
        rows = rows.groupby(list(staged.key), sort=False, as_index=False).first()
        fused = fused_frame(dataset, rows, context, context.scope)
        return Answer(fused, sources, {} if len(fused) else not_served)


def _answer(frame: pd.DataFrame, download: Download) -> Answer:
    return Answer(frame, _shown(download), download.not_served)


def _shown(download: Download) -> list[dict[str, Any]]:
    names = ("src", "rows", "error", "reason", "fallback_reason")
    return [{name: one[name] for name in names if name in one} for one in download.sources]


def scope_of(table: Table, partition: Partition, dates: Sequence[str], codes: Sequence[str] | None) -> Scope:
    """What a load of some codes, or of a table without codes, covers: trade dates only where rows are of
    them."""
    days = tuple(dates) if partition is Partition.TRADE_DATE else tuple(dates[-1:])
    return Scope(days, None if codes is None else tuple(codes))
