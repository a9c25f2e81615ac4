"""The rows of a package's files, as the columns of the datasets that they belong to."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from core.clock import Clock
from core.days import is_closed
from core.errors import InputError, PayloadError
from core.market import securities
from core.market.symbols import instrument
from core.report_periods import estimated_notice, report_type
from platform_assets.compute.bar_checks import crowded_dates
from platform_assets.compute.exright import PRICE_EVENTS, gaps
from platform_assets.datasets._exright_sources import VALUES, as_events
from platform_assets.pipeline.imports.files import FILE, ROW, ROWS, Chunk, SourceFile
from platform_assets.pipeline.imports.mapping import Column, FileMapping
from platform_assets.pipeline.imports.packages import (
    DAILY_BARS,
    EVENTS,
    INDEX_BARS,
    REPORTS,
    Package,
    Piece,
    is_held,
)
from platform_assets.pipeline.imports.rows import Refused
from platform_assets.pipeline.run import PipelineRun
from resources.upstreams.tdx.corporate import CATEGORIES, event_row
from resources.upstreams.tdx.instruments import instrument as terminal_instrument
from resources.upstreams.tdx_packages.arrays import FILES, IMPORTED, Arrays, iso, taken
from resources.upstreams.tdx_packages.day_files import RECORD, read_day, symbol_of
from resources.upstreams.tdx_packages.day_packages import date_of, read_date
from resources.upstreams.tdx_packages.events import read_events
from resources.upstreams.tdx_packages.reports import FIGURES, Reports, read_reports
from resources.warehouse.slices import Slice

_BARS = ("code", "date", "open", "high", "low", "close", "volume", "amount")
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    DAILY_BARS: (*_BARS, "last_close"),
    INDEX_BARS: (*_BARS, "last_close"),
    EVENTS: ("code", "date", "category", "row_key", "name", *VALUES, "factor", "held_back"),
    REPORTS: ("code", "report_period", "report_type", "ann_date", "is_express", *FIGURES),
}
_PLACES = {DAILY_BARS: "after tdx", INDEX_BARS: "after tdx", EVENTS: "after tdx"}
"""The terminal answers the same figures; what else there is comes after: other sites round more."""
_COMPARED = 30
"""Newest trade dates whose stored closes are compared."""
_TINY = 1e-30
"""Below it a float32 stands for nothing."""
_SAME_CLOSE = 0.0051
_FEW = 3
Known = Callable[[str], Mapping[str, float]]
"""symbol -> date (ISO) -> close, of bars that are stored from another source."""


def mapping_of(dataset: str, place: str | None = None) -> FileMapping:
    """The mapping of a package's rows: their columns have the names and units of the dataset."""
    return FileMapping(
        dataset=dataset,
        name=FILES,
        columns={name: Column(name) for name in _COLUMNS[dataset]},
        adjust="none",
        place=place or _PLACES.get(dataset, "last"),
    )


@dataclass(frozen=True)
class PackageFiles:
    """The files of a package that belong to one dataset (`origins.Origin`)."""

    package: Package
    mapping: FileMapping
    clock: Clock
    listed: Mapping[str, str]
    """Code -> first trade date (ISO), as far as it is known."""
    known: Known
    since: str | None = None
    until: str | None = None
    """First and last day that is read of the files of one security each."""
    only: frozenset[str] | None = None
    """Names of the files that are read; None: all."""
    rows_at_once: int = ROWS

    @property
    def label(self) -> str:
        return self.package.label

    @cached_property
    def files(self) -> list[SourceFile]:
        return self.package.of(self.mapping.dataset)

    @property
    def digest(self) -> str:
        return self.package.digest

    @property
    def pieces(self) -> list[Piece]:
        """The files that are read, those of securities by code."""
        found = self.package.pieces[self.mapping.dataset]
        if self.only is not None:
            found = [one for one in found if one.name in self.only]
        by_symbol = self.mapping.dataset == INDEX_BARS
        return sorted(
            found, key=lambda one: one.own_name[0 if by_symbol else 2 : 8] if is_series(one) else ""
        )

    @property
    def series(self) -> list[Piece]:
        """Those that hold the past of one security."""
        return [one for one in self.pieces if is_series(one)]

    @property
    def bars(self) -> int:
        """How many bars these are."""
        return sum(one.size for one in self.series) // RECORD.itemsize

    def chunks(self, refused: Refused) -> Iterator[Chunk]:
        """Rows of a few files at a time. A file that is damaged, of another security than its name says, or
        of days to come is left out; InputError when it is the only one."""
        held: list[pd.DataFrame] = []
        done, total = 0, sum(one.size for one in self.files) or 1
        for name, size, frame in self._frames(refused):
            done += size
            if frame is not None and len(frame):
                held.append(frame.assign(**{FILE: name, ROW: frame.index.to_numpy() + 1}))
            if sum(map(len, held)) >= self.rows_at_once:
                yield Chunk(pd.concat(held, ignore_index=True), done / total)
                held = []
        if held:
            yield Chunk(pd.concat(held, ignore_index=True), 1.0)

    def _frames(self, refused: Refused) -> Iterator[tuple[str, int, pd.DataFrame | None]]:
        """(name, bytes, rows) of each file."""
        for group in _day_groups(self.pieces):
            first = group[0]
            try:
                frame = self._rows(group)
            except (PayloadError, OSError) as error:
                why = error.message if isinstance(error, PayloadError) else str(error.strerror)
                if self.package.count == len(group):
                    raise InputError("file", why) from None
                refused.files[first.name] = why
                frame = None
            yield first.name, sum(one.size for one in group), frame

    def _rows(self, group: list[Piece]) -> pd.DataFrame:
        dataset = self.mapping.dataset
        if dataset == EVENTS:
            return self._events(read_events(group[0].read()))
        if dataset == REPORTS:
            return self._reports(read_reports(group[0].read()))
        if len(group) > 1:
            return self._of_date(group)
        return self._bars(group[0])

    # -- bars -----------------------------------------------------------------------------------------

    def _bars(self, piece: Piece) -> pd.DataFrame:
        symbol = symbol_of(piece.name)
        bars = read_day(piece.read(), symbol)
        self._must_be_listed(symbol, bars)
        self._must_be_known(symbol, bars)
        # Of a stock an ex-right may lie between: its reference price is calculated.
        index = self.mapping.dataset == INDEX_BARS
        before = (
            np.concatenate([[np.nan], bars["close"]])[:-1] if index else np.full(len(bars["date"]), np.nan)
        )
        first, last = (None if day is None else int(day.replace("-", "")) for day in (self.since, self.until))
        start = 0 if first is None else int(np.searchsorted(bars["date"], first))
        end = len(before) if last is None else int(np.searchsorted(bars["date"], last, side="right"))
        own = {name: values[start:end] for name, values in {**bars, "last_close": before}.items()}
        days = [iso(day) for day in own["date"].tolist()]
        columns = {"code": symbol, "date": days, **{name: own[name] for name in (*_BARS[2:], "last_close")}}
        return self._finished(pd.DataFrame(columns, index=np.arange(start, end)))

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows without the bar of a session that is not over, and without days that have no price at
        all: records of a suspension."""
        now = f"{self.clock.now():%Y-%m-%d %H:%M}"
        running = (frame["date"] == now[:10]) & (not is_closed(now[:10], now))
        idle = (frame["volume"] == 0) & (frame["close"] <= 0)
        return frame[~(running | idle)]

    def _must_be_listed(self, symbol: str, bars: Arrays) -> None:
        listed = self.listed.get(symbol[2:])
        kind = instrument(symbol).kind
        if listed is None or kind == securities.INDEX or symbol.startswith("bj") or not len(bars["date"]):
            return  # companies of Beijing were quoted before they were listed there
        first = iso(int(bars["date"][0]))
        if first < listed:
            raise PayloadError(f"{symbol}: a bar of {first}, before it was listed on {listed}")

    def _must_be_known(self, symbol: str, bars: Arrays) -> None:
        """The closes are those that are stored from other sources, where both have some."""
        known = self.known(symbol)
        if not known:
            return
        newest = zip(bars["date"][-60:].tolist(), bars["close"][-60:].tolist(), strict=True)
        own = {iso(day): close for day, close in newest}
        both = [day for day in known if day in own]
        wrong = [day for day in both if abs(known[day] - own[day]) > _SAME_CLOSE]
        if len(wrong) >= _FEW and len(wrong) * 2 > len(both):
            day = wrong[-1]
            raise PayloadError(
                f"{symbol}: closes are not those that are stored ({own[day]:g} and {known[day]:g} on {day}, "
                f"{len(wrong)} of {len(both)} dates): another security or another scale"
            )

    def _of_date(self, group: list[Piece]) -> pd.DataFrame:
        """The bars of a day package; those of indices, whose unit of volume is not known there, are not
        read."""
        day = date_of([one.own_name for one in group])
        if day is None:
            raise PayloadError(f"{group[0].name}: no package of a trade date")
        bars = read_date({one.own_name: one.read() for one in group}, day)
        own = taken(bars, np.array([is_held(symbol) for symbol in bars["symbol"].tolist()], dtype=bool))
        names = (*_BARS[2:], "last_close")
        frame = pd.DataFrame({"code": own["symbol"], "date": day, **{name: own[name] for name in names}})
        frame["last_close"] = frame["last_close"].where(frame["last_close"] > 0)
        return self._finished(frame)

    # -- events ---------------------------------------------------------------------------------------

    def _events(self, raw: Arrays) -> pd.DataFrame:
        """Events up to today of mainland securities, with their factors where the package has the bars."""
        today = f"{self.clock.now():%Y-%m-%d}"
        names = ("symbol", "date", "category", "f1", "f2", "f3", "f4")
        records = []
        for symbol, day, category, *values in zip(*(raw[name].tolist() for name in names), strict=True):
            if iso(day) > today or not symbol[2:].isdigit():
                continue
            if category not in CATEGORIES:
                raise PayloadError(f"gbbq: {symbol} has an event of category {category}")
            numbers = [0.0 if abs(value) < _TINY else value for value in values]
            records.append(event_row(iso(day), terminal_instrument(symbol), category, numbers))
        if not records:
            raise PayloadError("gbbq: no event of a mainland security")
        frame = pd.DataFrame(records)
        events = as_events(frame).drop_duplicates(["code", "date", "category", "row_key"])
        moving = events["category"].isin(PRICE_EVENTS)
        crowd = crowded_dates(events.loc[moving, ["code", "date"]], events["code"].nunique())
        held = pd.Series(None, index=events.index, dtype=object)
        held = held.mask(moving & events["date"].isin(crowd), "few_are_ex_at_once")
        events["held_back"] = held.mask(moving & (events["cash_per10"] < 0), "cash_is_not_negative")
        events["factor"] = self._factors(events.assign(symbol=frame["symbol"]))
        return events[list(_COLUMNS[EVENTS])].reset_index(drop=True)

    def _factors(self, events: pd.DataFrame) -> pd.Series:
        """Price before / reference price, of the securities whose bars the package has; NaN of the others."""
        factors = pd.Series(np.nan, index=events.index)
        moving = events[events["category"].isin(PRICE_EVENTS) & events["held_back"].isna()]
        files = {symbol_of(one.name): one for one in self.package.pieces.get(DAILY_BARS, [])
                 if one.own_name.endswith(".day")}  # fmt: skip
        for symbol, own in moving.groupby("symbol"):
            if str(symbol) not in files:
                continue
            try:
                bars = read_day(files[str(symbol)].read(), str(symbol))
            except PayloadError:
                continue  # it is left out, and named, when the bars are read
            days = np.array([iso(day) for day in bars["date"].tolist()], dtype=str)
            factors[own.index] = gaps(str(symbol)[2:], str(symbol)[:2], days, bars["close"], own).factors
        return factors

    # -- reports --------------------------------------------------------------------------------------

    def _reports(self, reports: Reports) -> pd.DataFrame:
        """The reports of a period that has ended, of companies that have reported. A report without a day of
        announcement counts from the day after the legal deadline."""
        today = f"{self.clock.now():%Y-%m-%d}"
        if reports.period >= today:
            raise PayloadError(f"gpcw {reports.period}: the period has not ended; the file holds its place")
        figures = {name: reports.column(number) for name, number in FIGURES.items()}
        frame = pd.DataFrame({"code": reports.codes.astype(object), **figures})
        frame["report_period"], frame["report_type"] = reports.period, report_type(reports.period)
        frame["ann_date"] = [day or estimated_notice(reports.period) for day in reports.announced]
        frame["is_express"] = False
        amounts = frame[["revenue", "net_profit", "total_assets"]].fillna(0.0)
        said = (amounts != 0).any(axis=1) & (frame["ann_date"] <= today)
        mainland = frame["code"].map(securities.is_a_share)
        if not (said & mainland).any():
            raise PayloadError(f"gpcw {reports.period}: no company has reported; the file holds its place")
        return frame[said & mainland].reset_index(drop=True)


def files_of(run: PipelineRun, package: Package, dataset: str, place: str | None) -> PackageFiles:
    """The files of a dataset, which are held against what is stored: closes of the newest dates, days of
    listing."""
    master = run.warehouse.frame("fusion_stock_master", columns=("code", "list_date"), where=Slice())
    pairs = zip(master["code"], master["list_date"], strict=True)
    listed = {str(code): str(day) for code, day in pairs if isinstance(day, str)}
    stored: dict[str, dict[str, float]] = {}
    if dataset in (DAILY_BARS, INDEX_BARS):
        dates = run.calendar.last(_COMPARED, f"{run.clock.now():%Y-%m-%d}")
        table = run.registry.dataset(dataset).table_name
        where = Slice(date_column="date", since=dates[0], until=dates[-1])
        rows = run.warehouse.frame(table, columns=("code", "date", "close", "src"), where=where)
        rows = rows[rows["src"] != IMPORTED]
        for code, day, close in zip(rows["code"], rows["date"], rows["close"].astype(float), strict=True):
            stored.setdefault(str(code), {})[str(day)] = close
    index = dataset == INDEX_BARS
    return PackageFiles(
        package,
        mapping_of(dataset, place),
        run.clock,
        listed,
        lambda symbol: stored.get(symbol if index else symbol[2:], {}),
    )


def is_series(piece: Piece) -> bool:
    """Whether a file holds the past of one security."""
    return piece.own_name.endswith(".day")


def _day_groups(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """The six files of each day package together, every other file alone."""
    packages: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.own_name.endswith((".cod", ".md1")):
            packages.setdefault(piece.name.rpartition("/")[0], []).append(piece)
        else:
            yield [piece]
    yield from packages.values()
