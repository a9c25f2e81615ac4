"""What `ashare plan` does; `load` and `backfill` share its wish: datasets, codes and days."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ashare.output import Output
from ashare.session import with_state
from ashare.work.download import FOLDER
from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.errors import InputError, StorageError
from core.market.symbols import INDEX_NAMES
from platform_assets.definitions.assets import RUN_DATES
from platform_assets.pipeline.imports.packages import INDEX_BARS, ORDER
from platform_assets.pipeline.load_prices import Pricing, Way
from platform_assets.research.known_codes import no_security
from platform_assets.research.queries import nearest
from resources.transport.settings import transport_settings
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.ledger.loads import Run
from resources.warehouse.ledger.missing_partitions import has_dates
from serving_api.admin.shared import parse_day
from serving_api.admin.watch_list import wish_of
from serving_api.db.sessions import Session
from serving_api.framework.state import State

MARKET = 7_500
"""Stocks, funds and convertible bonds of the market, where the list of securities is not loaded."""
_MASTER = "fusion_stock_master"


@dataclass(frozen=True)
class Wish:
    """Datasets, codes as they write them (None: the market), first and last day, trade dates between."""

    datasets: tuple[Dataset, ...]
    codes: tuple[str, ...] | None
    since: str
    until: str
    dates: tuple[str, ...]

    def codes_of(self, dataset: Dataset) -> tuple[str, ...] | None:
        """The codes that a dataset can have rows of: indices, or securities."""
        if self.codes is None:
            return None
        return self.indices if dataset.name == INDEX_BARS else self.securities

    @property
    def indices(self) -> tuple[str, ...]:
        return tuple(code for code in self.codes or () if code in INDEX_NAMES)

    @property
    def securities(self) -> tuple[str, ...]:
        return tuple(code for code in self.codes or () if code not in INDEX_NAMES)


def wished(
    state: State, datasets: str | None, codes: str | None, since: str | None, until: str | None
) -> Wish:
    """InputError that names the parameter of a value that cannot be meant."""
    own = datasets_named(",".join(ORDER) if datasets is None else datasets)
    found, first = wish_of(state, [] if codes is None else codes.split(","), since)
    newest = state.calendar.newest_complete(state.clock.now())
    last = newest if until is None else min(parse_day("to", until, state.today), newest)
    dates = state.calendar.between(first, last)
    if not dates:
        raise InputError("from" if until is None else "to", f"there is no trade date from {first} to {last}")
    return Wish(own, None if codes is None else tuple(found), first, last, tuple(dates))


def datasets_named(names: str) -> tuple[Dataset, ...]:
    """The datasets of a comma list that loads fill. InputError with the nearest names for another one."""
    known = {one.name: one for one in builtin_registry().datasets.values() if one.model is not None}
    named = [part.strip() for part in names.split(",") if part.strip()]
    if not named:
        raise InputError("datasets", "is a comma list of names")
    for name in named:
        if name not in known:
            raise InputError("datasets", f"{name[:64]!r} is no dataset{nearest(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(named))


async def refuse_unlisted(state: State, codes: Sequence[str]) -> None:
    """InputError, with the nearest ones, for a code that the list of securities does not have; nothing while
    that is not loaded."""
    rows = await state.reading.scan(lambda session: session.rows(_MASTER, columns=("code", "name")))
    names = {**INDEX_NAMES, **{str(code): str(name) for code, name in rows}}
    unknown = next((code for code in codes if code not in names), None) if rows else None
    if unknown is not None:
        raise no_security(unknown, names)


def run(
    out: Output,
    datasets: str | None,
    codes: str | None,
    since: str | None,
    until: str | None,
    folder: str | None,
) -> None:
    """Show the ways of each dataset, the cheapest first."""
    wish, ways = with_state(partial(_priced, folder=folder, asked=(datasets, codes, since, until)))
    document = {
        "codes": wish.codes, "from": wish.since, "to": wish.until, "trade_dates": len(wish.dates),
        "ways": [_facts(one) for one in ways],
    }  # fmt: skip
    out.result(document, [*_head(wish), *(line for one in ways for line in _lines(one))])


async def _priced(
    state: State, *, folder: str | None, asked: tuple[str | None, str | None, str | None, str | None]
) -> tuple[Wish, list[Way]]:
    wish = wished(state, *asked)
    path = Path(folder) if folder else state.settings.data_path / FOLDER
    try:
        return wish, await state.reading.scan(_recorded, state, wish, path)
    except StorageError:  # nothing was ever loaded: there is no database yet
        return wish, _ways(state, wish, path, lambda _sql, _values: [], MARKET)


def _recorded(session: Session, state: State, wish: Wish, folder: Path) -> list[Way]:
    return _ways(state, wish, folder, session.run, session.count(_MASTER) or MARKET)


def _ways(state: State, wish: Wish, folder: Path, recorded: Run, securities: int) -> list[Way]:
    ctx = FetchContext(clock=state.clock, calendar=state.calendar, makers={})

    def command(dataset: Dataset) -> str:
        days = f"--from {wish.since} --to {wish.until}"
        codes = wish.codes_of(dataset)
        if codes is not None:
            return f"ashare load {dataset.name} --codes {','.join(codes)} --since {wish.since}"
        return f"ashare backfill {dataset.name} {days}" if has_dates(dataset) else "ashare load"

    pricing = Pricing(
        builtin_registry(), ctx, transport_settings(state.settings), securities, recorded, command, RUN_DATES,
    )  # fmt: skip
    found: list[Way] = []
    for dataset in wish.datasets:
        codes = wish.codes_of(dataset)
        if codes != ():
            of_indices = dataset.name == INDEX_BARS and codes is None
            found += pricing.ways(dataset, wish.dates, tuple(INDEX_NAMES) if of_indices else codes, folder)
    return found


def _facts(way: Way) -> dict[str, Any]:
    known = {"calls": way.calls, "minutes": round(way.minutes, 1), "bytes": way.bytes} if way.sources else {}
    return {**asdict(way), **known}


def _head(wish: Wish) -> list[str]:
    codes = "the whole market" if wish.codes is None else ", ".join(wish.codes)
    return [f"{codes}, {wish.since} to {wish.until}: {len(wish.dates)} trade dates"]


def _lines(way: Way) -> list[str]:
    lines = [f"{way.dataset}, {way.kind}: {way.command}"]
    shown: Sequence[str] = [
        f"  {one.source}: {one.calls:,} calls, at least {one.minutes:.1f} minutes"
        + ("" if one.bytes is None else f", {one.bytes / 1e6:,.1f} MB")
        for one in way.sources
    ]
    if len(shown) > 1 and not way.sums:
        shown = [shown[0], *(f"  or, if it fails,{line[1:]}" for line in shown[1:])]
    return [*lines, *shown, *([f"  {way.note}"] if way.note else [])]
