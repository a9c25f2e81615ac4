"""What a load would cost before it starts, each way that there is: a package of the terminal's publisher over
HTTP, the import of files that are there, the calls of each source in the order in which they are asked.

Calls follow from the limits that are declared beside the sources, else from recorded loads; minutes from the
pacing in force, and from how long recorded answers took. Nothing is asked of anybody.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.declaration.dataset import Dataset, Source
from core.declaration.registry import Registry
from core.declaration.scope import Scope
from core.errors import InputError
from platform_assets.pipeline.imports.old_years import FEW, MANY
from platform_assets.pipeline.imports.packages import (
    DAILY_BARS,
    EVENTS,
    INDEX_BARS,
    REPORTS,
    looked_through,
)
from resources.transport.settings import TransportSettings
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.tdx_packages import client as packages
from resources.upstreams.tdx_packages.day_files import RECORD
from resources.warehouse.ledger.costs import calls_per_date, tables_of, usual_answers
from resources.warehouse.ledger.loads import Run

PACKAGES: Mapping[str, tuple[str, packages.RemoteFile, int]] = {
    DAILY_BARS: ("bars", packages.ALL_BARS, 1),
    INDEX_BARS: ("bars", packages.ALL_BARS, 1),
    EVENTS: ("events", packages.EVENTS, 1),
    REPORTS: ("reports", packages.report_file("gpcw.txt"), packages.USUAL_REPORTS),
}
"""Dataset -> the argument of `ashare download`, a file of it, how many there are."""
_SITE = "tdx_packages"


@dataclass(frozen=True)
class Price:
    """What one source takes: calls, minutes at least, bytes (None: not known)."""

    source: str
    calls: int
    minutes: float
    bytes: int | None


@dataclass(frozen=True)
class Way:
    """One way to the rows of a dataset. `sources`: in the order in which they are asked; the later ones stand
    in for those before. `sums`: each of them is asked. `note`: what is not known."""

    dataset: str
    kind: str
    command: str
    sources: tuple[Price, ...]
    sums: bool = False
    note: str = ""

    @property
    def expected(self) -> tuple[Price, ...]:
        """The sources that are asked unless one fails."""
        return self.sources if self.sums else self.sources[:1]

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.expected)

    @property
    def minutes(self) -> float:
        return sum(one.minutes for one in self.expected)

    @property
    def bytes(self) -> int | None:
        known = [one.bytes for one in self.expected if one.bytes is not None]
        return sum(known) if known else None


@dataclass(frozen=True)
class Pricing:
    """What prices are made of: declarations, pacing, what is recorded, how many securities the market has."""

    registry: Registry
    ctx: FetchContext
    paces: TransportSettings
    securities: int
    run: Run
    command: Callable[[Dataset], str]
    """How a dataset is loaded."""
    dates_a_run: int

    def ways(
        self, dataset: Dataset, dates: Sequence[str], codes: Sequence[str] | None, folder: Path | None
    ) -> list[Way]:
        """The ways to a dataset, the cheapest first: fewest calls, then fewest minutes. What cannot be priced
        comes last."""
        found = [*self._imports(dataset, folder), *self._package(dataset, dates)]
        found.append(self._load(dataset, dates, codes))
        return sorted(found, key=lambda way: (not way.sources, way.calls, way.minutes))

    # -- files and packages ---------------------------------------------------------------------------

    @staticmethod
    def _imports(dataset: Dataset, folder: Path | None) -> Iterator[Way]:
        if folder is None or not folder.exists() or dataset.name not in PACKAGES:
            return
        try:
            with looked_through(folder) as package:
                size = sum(one.size for one in package.pieces.get(dataset.name, []))
        except InputError:
            return  # nothing that can be imported
        if size:
            bars = size // RECORD.itemsize if dataset.name in (DAILY_BARS, INDEX_BARS) else 0
            price = Price("import:tdx_files", 0, _import_minutes(bars), size)
            yield Way(dataset.name, "import", f"ashare import {folder}", (price,))

    def _package(self, dataset: Dataset, dates: Sequence[str]) -> Iterator[Way]:
        if dataset.name not in PACKAGES:
            return
        name, file, count = PACKAGES[dataset.name]
        bars = packages.USUAL_BARS if name == "bars" else 0
        if dataset.name == DAILY_BARS and len(dates) == 1:
            name, file, bars = dates[0], packages.date_file(dates[0]), self.securities
        calls = count * math.ceil(file.usual / packages.PART) + (name in ("bars", "reports"))
        minutes = self.paces.seconds(_SITE, calls) / 60 + _import_minutes(bars)
        price = Price(_SITE, calls, minutes, count * file.usual)
        yield Way(dataset.name, "package", f"ashare download {name}, then ashare import of it", (price,))

    # -- calls ----------------------------------------------------------------------------------------

    def _load(self, dataset: Dataset, dates: Sequence[str], codes: Sequence[str] | None) -> Way:
        command, declared = self.command(dataset), [one for one in dataset.sources if one.calls is not None]
        if declared:
            prices = (self._source(dataset, one, dates, codes) for one in declared)
            return Way(dataset.name, "load", command, tuple(one for one in prices if one is not None))
        if codes is not None:
            note = (
                "what single codes take is not declared; `ashare add --plan` prices all that belongs to them"
            )
            return Way(dataset.name, "load", command, (), note=note)
        per_date, unknown = calls_per_date(self.run, self.registry, tables_of(dataset), self.ctx.calendar)
        found = tuple(
            self._price(name, name, math.ceil(share * len(dates))) for name, share in sorted(per_date.items())
        )
        note = f"no load is recorded of {', '.join(unknown)}: its calls are not counted" if unknown else ""
        return Way(dataset.name, "load", command, found, sums=True, note=note)

    def _source(
        self, dataset: Dataset, source: Source, dates: Sequence[str], codes: Sequence[str] | None
    ) -> Price | None:
        """The price of a source of which calls are declared; None where it does not serve the wish."""
        if source.calls is None:
            return None
        named = None if codes is None else tuple(codes)
        # Codes are loaded at once from their first day on, as tables are that hold the whole past of each;
        # dates of the market in runs of some dates each.
        at_once = codes is not None or not dataset.partition.by_date
        size = len(dates) if at_once else self.dates_a_run
        scopes = [Scope(tuple(dates[at : at + size]), named) for at in range(0, len(dates), size)]
        served = [one for one in scopes if source.only_when is None or source.only_when(self.ctx, one)]
        if len(served) < len(scopes):
            return None
        number = self.securities if codes is None else len(codes)
        calls = sum(source.calls.number(self.ctx, scope, number) for scope in scopes)
        return self._price(source.name, source.calls.family or source.name, calls)

    @cached_property
    def _answers(self) -> Mapping[str, tuple[float, float]]:
        return usual_answers(self.run)

    def _price(self, source: str, family: str, calls: int) -> Price:
        size, took = self._answers.get(source, (0.0, 0.0))
        minutes = max(self.paces.seconds(family, calls), calls * took) / 60
        return Price(source, calls, minutes, round(calls * size) if size else None)


def _import_minutes(bars: int) -> float:
    return bars / (MANY if bars > FEW else FEW)
