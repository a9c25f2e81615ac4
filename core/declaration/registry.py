"""Collects the dataset files, fails loudly on what does not fit, and answers what derives from all.

Nothing registers itself as a side effect: the registry imports every module of a package in name order
and takes its one `DATASET`. Downstream (assets, DDL, stats, freshness, catalog, docs) reads only this.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

from core.declaration.dataset import Dataset, Raw
from core.declaration.interfaces import Interface
from core.declaration.rules import Freshness, Partition
from core.declaration.tables import Layer, Table
from core.declaration.trade_days import TradeDays
from core.errors import DeclarationError, InputError, NotFound

_FACTS = frozenset({Layer.RAW, Layer.STG, Layer.DWD, Layer.CALC, Layer.REF})


@dataclass(frozen=True)
class FreshnessDimension:
    """One row of the freshness report; its name is the table's."""

    table: str
    rule: Freshness


class Registry:
    """All declarations of one platform, checked against each other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets: dict[str, Dataset] = {}
        self.raws: dict[str, Raw] = {}
        self._tables: dict[str, Table] = {}
        for dataset in datasets:
            if dataset.name in self.datasets:
                raise DeclarationError(f"two datasets are named {dataset.name!r}")
            self.datasets[dataset.name] = dataset
            for table in dataset.all_tables:
                if table.name in self._tables:
                    raise DeclarationError(f"{dataset.name}: the table {table.name!r} is declared twice")
                self._tables[table.name] = table
            for raw in dataset.raw:
                self.raws[raw.table_name] = raw
        self._check_references()

    def _check_references(self) -> None:
        for dataset in self.datasets.values():
            for feed in dataset.feeds:
                if feed not in self.raws:
                    raise DeclarationError(f"{dataset.name}: feed {feed!r} is no RAW table of any dataset")
            for fused in (name for raw in dataset.raw for name in raw.fuses):
                if fused not in self.datasets:
                    raise DeclarationError(f"{dataset.name}: fuses {fused!r}, which is not declared")
            for table in (*dataset.reads, *(name for raw in dataset.raw for name in raw.reads)):
                if table not in self._tables:
                    raise DeclarationError(f"{dataset.name}: reads {table!r}, which is not declared")
            if dataset.adjusted:
                unknown = _adjusted_columns(dataset) - {spec.name for spec in dataset.columns}
                if unknown:
                    raise DeclarationError(f"{dataset.name}: adjusted={sorted(unknown)} are no columns of it")
        self._check_days()
        names: dict[str, str] = {}
        for dataset in self.datasets.values():
            for interface in dataset.interfaces:
                if interface.name in names:
                    owner = names[interface.name]
                    raise DeclarationError(
                        f"interface {interface.name!r} is declared by {owner} and {dataset.name}"
                    )
                names[interface.name] = dataset.name

    def _check_days(self) -> None:
        """What has no date enters rows of dates where it never changes, or as it was known on the date."""
        for dataset in self.datasets.values():
            if dataset.model is None or not dataset.dated:
                continue
            for name in sorted({*dataset.undated, *dataset.as_known} - {*dataset.reads}):
                raise DeclarationError(f"{dataset.name}: {name!r} is not among the tables that it reads")
            for name in dataset.as_known:
                if self._dated(name) or not self._tables[name].has_history:
                    raise DeclarationError(f"{dataset.name}: {name!r} is dated, or keeps no versions")
            for name in (*dataset.reads, *dataset.feeds):
                if self._dated(name) or name in dataset.as_known:
                    continue
                columns = dataset.undated.get(name)
                if columns is None:
                    raise DeclarationError(
                        f"{dataset.name}: rows of {name!r} have no date; `undated` names the fixed columns "
                        "that are read of them, `as_known` reads them as they were known on a date"
                    )
                owned = [theirs for table, theirs in dataset.owners.values() if table == name]
                for column in (*columns, *owned):
                    self._check_fixed(dataset, name, column)

    def _check_fixed(self, dataset: Dataset, table: str, column: str) -> None:
        spec = self._tables[table].column(column)
        if not (spec.fixed or spec.of_key):
            raise DeclarationError(
                f"{dataset.name}: {table}.{column} is that of now, and its rows are of dates: it comes "
                "from a table of dated facts, or is declared fixed"
            )

    def _dated(self, table: str) -> bool:
        found = self._tables[table]
        return found.moment is not None or found.date_column is not None or table not in self._facts

    @cached_property
    def _facts(self) -> frozenset[str]:
        """Tables whose rows are facts about the market: of the system's own the state is that of now."""
        return frozenset(name for name, table in self._tables.items() if table.layer in _FACTS)

    def readable(self, dataset: Dataset) -> Mapping[str, frozenset[str]]:
        """Table without dates -> columns that a load of the dataset may read of it."""
        if dataset.model is None or not dataset.dated:
            return {}
        undated = (name for name in self._tables if not self._dated(name))
        return {name: frozenset(dataset.undated.get(name, ())) for name in undated}

    # -- what derives -----------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(self._tables.values())

    @cached_property
    def adjusted(self) -> Mapping[str, frozenset[str]]:
        """Table -> its columns that are computed from adjusted prices."""
        return {one.table_name: _adjusted_columns(one) for one in self.datasets.values() if one.adjusted}

    def dataset(self, name: str) -> Dataset:
        try:
            return self.datasets[name]
        except KeyError:
            raise NotFound(f"no dataset {name!r}") from None

    def of_table(self, name: str) -> Dataset:
        """The dataset that declares a table."""
        for dataset in self.datasets.values():
            if any(table.name == name for table in dataset.all_tables):
                return dataset
        raise NotFound(f"no table {name!r}")

    def reads_of_task(self, task: str) -> frozenset[str]:
        """The tables that what a task fuses and calculates is made from."""
        made = [dataset for dataset in self.datasets.values() if task in dataset.tasks]
        return frozenset(name for dataset in made for name in (*dataset.reads, *dataset.feeds))

    def tasks_of(self, raw: Raw) -> tuple[str, ...]:
        """The scheduled tasks that download a RAW table."""
        tasks = raw.tasks
        if tasks is None:
            fed = [one for one in self.datasets.values() if raw.table_name in one.feeds]
            tasks = tuple(task for one in (self.of_table(raw.table_name), *fed) for task in one.tasks)
        return tuple(dict.fromkeys((*tasks, *raw.also_tasks)))

    def tables_of_task(self, task: str) -> tuple[str, ...]:
        """The tables that a scheduled task loads."""
        raws = [name for name, raw in self.raws.items() if task in self.tasks_of(raw)]
        made = [one for one in self.datasets.values() if one.model is not None and task in one.tasks]
        staged = [one.stage_name for one in made if one.staged]
        return (*raws, *staged, *(one.table_name for one in made))

    @cached_property
    def trade_days(self) -> dict[str, TradeDays]:
        """Table that a load fills -> what is declared about its dates."""
        found = {}
        for dataset in self.datasets.values():
            for raw in dataset.raw:
                optional = not raw.late if dataset.model is None else dataset.may_be_empty
                found[raw.table_name] = _trade_days(raw, dataset, optional)
            if dataset.model is None:
                continue
            found[dataset.table_name] = _trade_days(dataset, dataset, dataset.may_be_empty)
            if dataset.staged:
                found[dataset.stage_name] = replace(found[dataset.table_name], table=dataset.stage_name)
                if dataset.dimension:
                    found[dataset.stage_name] = replace(
                        found[dataset.stage_name], partition=Partition.SNAPSHOT
                    )
        return found

    def fused(self) -> tuple[Dataset, ...]:
        """Datasets with a DWD table, by name."""
        return tuple(d for d in self.datasets.values() if d.model is not None and d.layer is Layer.DWD)

    def domain(self, domain: str) -> tuple[Dataset, ...]:
        return tuple(dataset for dataset in self.datasets.values() if dataset.domain == domain)

    @cached_property
    def download_types(self) -> dict[str, Raw]:
        """Per-stock download types (the `types` of the download routes)."""
        return {raw.name: raw for raw in self.raws.values() if not raw.topical}

    @cached_property
    def topical(self) -> dict[str, Raw]:
        """Downloads of the market as a whole, or of a topic, by name."""
        return {raw.name: raw for raw in self.raws.values() if raw.topical}

    @cached_property
    def download_to_fusion(self) -> dict[str, tuple[str, ...]]:
        """Download type -> fused datasets that it feeds."""
        return {
            raw.name: tuple(
                d.name for d in self.datasets.values() if raw.table_name in d.feeds or d.name in raw.fuses
            )
            for raw in self.raws.values()
        }

    def monitored(self) -> tuple[Table, ...]:
        """Tables of /datamgr/stats: staging, fused and calculated ones of monitored datasets."""
        requested = []
        for dataset in self.datasets.values():
            if dataset.model is None or not dataset.monitored or dataset.layer is Layer.REF:
                continue
            if dataset.staged:
                requested.append(dataset.stage_table)
            requested.append(dataset.table)
        return tuple(requested)

    def staged_series(self) -> tuple[Table, ...]:
        """Staging tables with a time, which the cleanup shortens by their date column."""
        return tuple(d.stage_table for d in self._staged() if not d.dimension)

    def staged_dimensions(self) -> tuple[Table, ...]:
        """Staging tables without a time column, which are never shortened."""
        return tuple(d.stage_table for d in self._staged() if d.dimension)

    def _staged(self) -> tuple[Dataset, ...]:
        return tuple(d for d in self.datasets.values() if d.model is not None and d.staged)

    def cleaned(self, name: str) -> Table:
        """The staged time series of this name. Raises InputError that names those there are."""
        known = {table.name: table for table in self.staged_series()}
        if name in known:
            return known[name]
        why = "is no staging table"
        if any(table.name == name for table in self.staged_dimensions()):
            why = "is a dimension and never shortened"
        raise InputError("table", f"{name[:64]!r} {why}; allowed: {', '.join(sorted(known))}")

    def per_code(self) -> tuple[Table, ...]:
        """Tables of /datamgr/stats/{code}."""
        fused = (dataset.table for dataset in self.datasets.values() if dataset.per_code)
        return (*fused, *(raw.table for raw in self.raws.values() if raw.per_code))

    def freshness(self) -> tuple[FreshnessDimension, ...]:
        fused = [dataset for dataset in self.datasets.values() if dataset.model is not None]
        owners: list[Dataset | Raw] = [*fused, *self.raws.values()]
        watched = ((one.table_name, one.freshness) for one in owners)
        return tuple(FreshnessDimension(name, rule) for name, rule in watched if rule is not None)

    @cached_property
    def interfaces(self) -> dict[str, tuple[Interface, Dataset]]:
        return {
            interface.name: (interface, dataset)
            for dataset in self.datasets.values()
            for interface in dataset.interfaces
        }


def _adjusted_columns(dataset: Dataset) -> frozenset[str]:
    if dataset.adjusted is True:
        # The code too: that a security has a row depends on its prices. That a date has rows does not.
        return frozenset(spec.name for spec in dataset.columns if not spec.of_key or spec.name == "code")
    return frozenset(dataset.adjusted or ())


def _trade_days(declared: Raw | Dataset, owner: Dataset, optional: bool) -> TradeDays:
    return TradeDays(
        table=declared.table_name,
        partition=declared.partition,
        market=declared.market,
        public_at=owner.public_at,
        late=declared.late,
        optional=optional or declared.partition is Partition.EVENT_DATE,
    )


def load_package(package: str) -> Registry:
    """The registry of a package of dataset files. A failing import or a missing declaration raises with
    the file's name."""
    module = importlib.import_module(package)
    found = []
    for info in sorted(pkgutil.iter_modules(module.__path__), key=lambda item: item.name):
        if info.name.startswith("_"):
            continue
        name = f"{package}.{info.name}"
        try:
            loaded = importlib.import_module(name)
        except DeclarationError as error:
            raise DeclarationError(f"{name}: {error}") from error
        dataset = getattr(loaded, "DATASET", None)
        if not isinstance(dataset, Dataset):
            raise DeclarationError(f"{name}: the file declares no DATASET")
        found.append(dataset)
    return Registry(found)


@cache
def builtin_registry() -> Registry:
    """The datasets that come with the project."""
    beside = __name__.removesuffix("core.declaration.registry")  # the client's wheel has both below a name
    return load_package(f"{beside}platform_assets.datasets")
