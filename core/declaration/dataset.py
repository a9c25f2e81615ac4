"""A dataset as its file declares it. Everything else derives from this.

`fetch` functions get a fetch context (the upstream clients, see `resources.upstreams.fetch_context`) and a
scope, and return a canonical frame. They are the only place where a dataset names an upstream.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from core.declaration.calls import Calls
from core.declaration.columns import ColumnSpec, Model, key_and_date, model_columns
from core.declaration.interfaces import Interface
from core.declaration.rules import (
    Contract,
    Derive,
    Fields,
    Freshness,
    LaterRows,
    Needed,
    Partition,
    PublicAt,
    Repairs,
    Rows,
    Soft,
    Stage,
    Whole,
)
from core.declaration.scope import Scope
from core.declaration.tables import Layer, Table
from core.declaration.trade_days import A_SHARES, Market
from core.errors import DeclarationError

Fetch = Callable[[Any, Scope], pd.DataFrame]
MIN_COVERAGE = 0.9
"""A full-market answer with a smaller share of the promised rows is truncated, not small."""
DERIVED = "derived"
"""`src` of rows that were computed from stored tables."""
_KEEP_NAME = ("aux_", "cninfo_", "exchange_")
_KEEP_CALCULATED = ("track_", "scorecard_")


@dataclass(frozen=True)
class Source:
    """One upstream of a table, in priority order. `name` is the `src` that its rows carry. `only_when`
    answers whether this source can serve a scope at all (a quote batch knows only the current day).
    `beside`: whether it may be asked beside one that answered, for finer figures. `parts`: what of the table
    it brings (an exchange, a list), where the sources bring it together: a date that lacks a part is not
    complete. `every_date`: it has rows of every date that is out: none is no answer. `calls`: its price."""

    name: str
    fetch: Fetch
    only_when: Callable[[Any, Scope], bool] | None = None
    calls: Calls | None = None
    beside: bool = True
    parts: tuple[str, ...] = ()
    every_date: bool = False


def _take_from_model(declared: "Raw | Dataset", model: type[Model]) -> None:
    """Write the defaults of `key` and `date_column` into a declaration that is still under construction."""
    key, date_column = key_and_date(model, declared.key, declared.date_column)
    object.__setattr__(declared, "key", key)
    object.__setattr__(declared, "date_column", date_column)


@dataclass(frozen=True)
class Raw:
    """A RAW table and the downloader that fills it. `combine`: 'fallback' asks the next source only when
    one failed; 'all' asks every source and needs one success."""

    name: str
    model: type[Model]
    key: tuple[str, ...] = ()
    """Default: the columns that the model declares with `key()`, in their order."""
    sources: tuple[Source, ...] = ()
    title: str = ""
    combine: str = "fallback"
    date_column: str | None = None
    """Default: the first day or time of the key; "" for none."""
    partition: Partition = Partition.TRADE_DATE
    payload: bool = False
    """Store each upstream record as received, next to its canonical columns."""
    freshness: Freshness | None = None
    topical: bool = False
    replace_by: tuple[str, ...] = ()
    """Columns whose groups are replaced whole by a successful download (block members). Where `src` is one of
    them, a download also withdraws the groups of the sources after the one that answered, since those were
    its fallback."""
    replace: Literal["snapshot"] | None = None
    """'snapshot': a download holds all there is (of its codes), and stored rows that it lacks are withdrawn;
    only for `Partition.SNAPSHOT`. None: a row that a download lacks stays."""
    coalesce_with_stored: tuple[str, ...] = ()
    """Columns that a poorer call of the same source leaves empty: where the answer is null, the stored value
    stays."""
    moves: bool = False
    """The row of a key changes with time (a plan becomes a date) and the key does not hold the source: while
    the better source is unavailable, the row of the next source replaces the stored one."""
    may_be_empty: bool = True
    """A scope that no source can serve (a quote batch knows no past) is an ordinary, empty answer."""
    late: int = 0
    """Trade dates after which the figures of a date are out: a load takes so many dates before with it."""
    market: Market = A_SHARES
    """Of a table by trade date: no date is loaded before the volume of this market is final."""
    expected: Callable[[Any, Scope], int] | None = None
    """Rows per date that the universe promises of a full market; less than `MIN_COVERAGE` is refused."""
    contract: tuple[Contract, ...] = ()
    per_code: bool = False
    """Counted for each code (`/datamgr/stats/{code}`), as fused tables are."""
    history: int = 1
    """Trade dates that a download of a single code loads: as many as a few calls bring."""
    fuses: tuple[str, ...] = ()
    """Fused datasets that a download by codes is followed by although they do not stage this table: they ask
    upstreams themselves (bars by period)."""
    gaps: bool = False
    """Every trade date between a code's first and last row promises one: a download by codes counts those
    that are missing."""
    reads: tuple[str, ...] = ()
    """Stored tables that its sources read (which codes had an event): they are loaded before."""
    tasks: tuple[str, ...] | None = None
    """Scheduled tasks that download it. None: those of its file and of the datasets that it feeds."""
    also_tasks: tuple[str, ...] = ()
    """Tasks that download it in addition to those of `tasks`."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Further groups of columns that name a row."""

    def __post_init__(self) -> None:
        if self.replace and self.partition is not Partition.SNAPSHOT:
            raise DeclarationError(f"{self.name}: replace='snapshot' is for Partition.SNAPSHOT alone")
        _take_from_model(self, self.model)

    def alone(
        self,
        *,
        name: str = "",
        subject: str,
        title: str = "",
        tasks: tuple[str, ...] = (),
        interfaces: tuple[Interface, ...] = (),
    ) -> "Dataset":
        """The declaration of a file that has this table alone, by default under its name and title."""
        return Dataset(
            name=name or self.name,
            subject=subject,
            title=title or self.title,
            raw=(self,),
            tasks=tasks,
            interfaces=interfaces,
        )

    @property
    def table_name(self) -> str:
        return self.name if self.name.startswith(_KEEP_NAME) else f"raw_{self.name}"

    @cached_property
    def table(self) -> Table:
        return Table(
            name=self.table_name,
            layer=Layer.RAW,
            columns=model_columns(self.model),
            key=self.key,
            dataset=self.name,
            description=self.title,
            date_column=self.date_column,
            payload=self.payload,
            unique=self.unique,
        )


@dataclass(frozen=True)
class Dataset:
    """One file's declaration: RAW tables that it owns, and the fused (or reference) table with its rules.

    Staged datasets name `feeds` (RAW table -> staging function); bypass datasets name `sources`;
    derived ones (kline_bar's open period, stock_wide) may have neither and compute in `derive`.
    """

    name: str
    title: str = ""
    subject: str = "other"
    """Group of its tables in the Dagster UI. The subjects depend on each other one way."""
    model: type[Model] | None = None
    key: tuple[str, ...] = ()
    """Default: the columns that the model declares with `key()`, in their order."""
    layer: Layer = Layer.DWD
    domain: str | None = None
    partition: Partition = Partition.TRADE_DATE
    date_column: str | None = None
    """Default: the first day or time of the key; "" for none."""
    raw: tuple[Raw, ...] = ()
    calculate: Fetch | None = None
    """Of a table by trade date that is calculated from stored tables alone: makes the rows of a scope. It is
    a `Layer.CALC` table with this one source. A load brings all rows of each of its dates: stored ones that
    it lacks are withdrawn, and no row at all is an ordinary answer. Of dates before the scope (`late`,
    `revisits`) only those are replaced that the load brings a row of."""
    sources: tuple[Source, ...] = ()
    combine: str = "fallback"
    """Of a bypass dataset, as in `Raw`: 'all' asks every source and needs one success."""
    expected: Callable[[Any, Scope], int] | None = None
    """Rows per date that the universe promises of a bypass source in a full-market scope."""
    feeds: Mapping[str, Stage] = field(default_factory=dict)
    dimension: bool = False
    order: tuple[str, ...] = ()
    """Source priority of a staged dataset (bypass datasets: the order of `sources`)."""
    completes: tuple[str, ...] = ()
    """Sources whose rows only complete those of others: required columns are checked on the fused row alone,
    and a key that no other source has is left out."""
    fuse: Rows | Fields = field(default_factory=Rows)
    contract: tuple[Contract, ...] = ()
    unchanged_within: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = field(default_factory=dict)
    """Column -> rounding of the wire, as a function of the new rows (null: none). A stored value that equals
    the new one within this rounding is not changed: reading a coarser source again must not look like a
    correction."""
    derive: tuple[Derive, ...] = ()
    soft: tuple[Soft, ...] = ()
    whole: tuple[Whole, ...] = ()
    late: int = 0
    """As in its RAW tables; a date of the scope may have no row yet."""
    market: Market = A_SHARES
    reads: tuple[str, ...] = ()
    """Other tables that fetch, derivation or checks read: edges of the asset graph."""
    needs: tuple[Needed, ...] = ()
    """Columns that are null and recorded (`not_loaded`) until the dates of other tables are there."""
    undated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a dataset by dates: table of `reads` whose rows have no date -> the columns that are read of it.
    They are `fixed`: what changes would be today's in a row of another date."""
    as_known: tuple[str, ...] = ()
    """Tables of `reads` whose rows have no date and which are read as they were known on each date
    (`known_on`)."""
    reads_own_past: bool = False
    owners: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of a dataset that is computed from stored tables: column -> (table of `reads`, its column) that the
    value is taken or computed from. Lineage goes on there."""
    public_at: PublicAt | None = None
    later: tuple[str, ...] = ()
    """Columns that become known after `public_at` (the change on the day after). The first version of a row
    is stored without them, so that no `as_of` read looks ahead."""
    later_rows: LaterRows | None = None
    """Of a dataset with `later`: in which rows these columns were not known by then. None: in all."""
    freshness: Freshness | None = None
    per_code: bool | None = None
    """Counted for each code (`/datamgr/stats/{code}`). Default: fused tables of stocks are."""
    of_stocks: bool = True
    """False: its codes are no stocks (indices), so a run that is limited to codes takes all of them."""
    monitored: bool = True
    tasks: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    interfaces: tuple[Interface, ...] = ()
    may_be_empty: bool = False
    """No row at all is an ordinary answer (no ex-date, no new name today)."""
    replace: Literal["code"] | None = None
    """'code': a load brings all rows of each code that it holds, and stored ones that it lacks are withdrawn;
    only for `Partition.CODE`. None: a row that a load lacks stays."""
    revisits: int = 0
    """Trade dates before those of the scope that a load looks at again, because rows of theirs are completed
    by what happened since (the review of a pick). Only with `calculate`."""
    short_lived: Mapping[str, int] = field(default_factory=dict)
    """Column -> newest trade dates that hold it, a load clears older ones; only for calculated tables."""
    builtin: bool = True
    records: tuple[Table, ...] = ()
    """Tables of this file that no load fills: what people or models write (notes)."""
    importable: bool = False
    """Rows may come from a user's file (`ashare import`): `import_tables` are the tables that they pass."""
    adjusted: bool | tuple[str, ...] = ()
    """Columns computed from adjusted prices, or their factor. True: all; they decide which rows there are."""
    repairs: tuple[str, Repairs] | tuple[str, Repairs, str] | None = None
    """(job, function of the written rows: what a load found to be wrong elsewhere, the job that calculates
    from it). The jobs are asked for once for each such range of dates and codes."""

    def __post_init__(self) -> None:
        if self.calculate is not None:
            self._take_calculate(self.calculate)
        if self.per_code is None:
            stocks = self.model is not None and self.layer is Layer.DWD and self.of_stocks
            object.__setattr__(self, "per_code", stocks)
        if self.model is None:
            if not self.raw and not self.records:
                raise DeclarationError(
                    f"{self.name}: a dataset without a model must own RAW tables or records"
                )
            return
        _take_from_model(self, self.model)
        names = {spec.name for spec in model_columns(self.model)}
        optional = {spec.name for spec in model_columns(self.model) if spec.nullable} - {*self.key}
        unmet = {one.table for one in self.needs} - {*self.reads}
        unmet |= {column for one in self.needs for column in one.columns} - optional
        missing = [part for part in self.key if part not in names]
        strange = {table for table, _ in self.owners.values()} - set(self.reads)
        by_code = self.partition is Partition.CODE
        faults = {
            f"key columns {missing or '(none)'} are not in the model": missing or not self.key,
            "sources (bypass) and feeds (staged) exclude each other": self.sources and self.feeds,
            "a staged dataset names the order of its sources": self.feeds and not self.order,
            "`completes` names sources that are not in its order": {*self.completes} - {*self.order},
            "replace='code' is for Partition.CODE alone": self.replace and not by_code,
            "only what is calculated revisits dates": self.revisits and self.calculate is None,
            "owners name columns or tables that are not its own or read": strange or {*self.owners} - names,
            "`later` names columns that are not its own, or its key": {*self.later} - (names - {*self.key}),
            "`needs` names tables that are not read, or columns that cannot be null": unmet,
            f"date_column {self.date_column} is not in the model": self.date_column not in ("", None, *names),
        }
        for text, found in faults.items():
            if found:
                raise DeclarationError(f"{self.name}: {text}")

    def _take_calculate(self, calculate: Fetch) -> None:
        """Expand `calculate` into the fields that it implies."""
        own = (Source(DERIVED, calculate),)
        if self.feeds or self.sources not in ((), own) or self.public_at is not None:
            raise DeclarationError(f"{self.name}: what is calculated has no sources, feeds or history")
        if self.partition is not Partition.TRADE_DATE:
            raise DeclarationError(f"{self.name}: what is calculated is partitioned by trade date")
        for word, value in {"layer": Layer.CALC, "sources": own, "may_be_empty": True}.items():
            object.__setattr__(self, word, value)  # the declaration is frozen, but still under construction

    def table_of(self, interface: Interface) -> Table:
        """The table that one of the interfaces reads: by default the fused one, else the first."""
        tables = (*self.tables(), *self.records)
        if not interface.table:
            return tables[0] if self.model is None else self.table
        return next(one for one in tables if one.name == interface.table)

    @property
    def table_name(self) -> str:
        if self.layer is Layer.CALC and self.name.startswith(_KEEP_CALCULATED):
            return self.name
        prefix = {Layer.DWD: "fusion_", Layer.REF: "ref_", Layer.CALC: "calc_"}[self.layer]
        return prefix + self.name

    @property
    def stage_name(self) -> str:
        return f"stg_{self.name}"

    @property
    def staged(self) -> bool:
        return bool(self.feeds)

    @property
    def source_order(self) -> tuple[str, ...]:
        return self.order or tuple(dict.fromkeys(source.name for source in self.sources))

    @cached_property
    def columns(self) -> tuple[ColumnSpec, ...]:
        if self.model is None:
            raise DeclarationError(f"{self.name} has no fused table")
        return model_columns(self.model)

    @cached_property
    def table(self) -> Table:
        """The fused (or reference) table."""
        return Table(
            name=self.table_name,
            layer=self.layer,
            columns=self.columns,
            key=self.key,
            dataset=self.name,
            description=self.title,
            date_column=self.date_column,
            indexes=self.indexes,
        )

    @cached_property
    def stage_table(self) -> Table:
        """The staging table: the fused columns without the computed ones, one row per source."""
        return self.table.staged(self.stage_name)

    @cached_property
    def import_table(self) -> Table:
        """RAW rows of users' files: the columns that sources deliver, and where in which file each row is."""
        return self.stage_table.imported(f"raw_import_{self.name}", self.title)

    @property
    def dated(self) -> bool:
        """Whether its rows are of dates, and not of the moment of a load."""
        return self.table.moment is not None and self.partition is not Partition.SNAPSHOT

    @property
    def import_tables(self) -> tuple[Table, ...]:
        """Tables that imported rows pass and that no other load fills: RAW, and staging where sources are not
        staged."""
        if not self.importable:
            return ()
        return (self.import_table,) if self.staged else (self.import_table, self.stage_table)

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table of this file, also those that people, models or files of users fill."""
        return (*self.tables(), *self.records, *self.import_tables)

    def tables(self) -> tuple[Table, ...]:
        """Every table of this file that a load of upstreams fills."""
        own = [raw.table for raw in self.raw]
        if self.model is not None:
            if self.staged:
                own.append(self.stage_table)
            own.append(self.table)
        return tuple(own)
