"""The fetch context: clients, calendar, clock and stored tables for a dataset's fetch functions.

A context is made once per process; a load gets a *view* of it that records into the load's own `FetchLog`.
What several tables of one run need (the security list, the quote batch of the day) is requested once per
run and shared: `once` remembers the value and the ids of the responses that it came from.
"""

import datetime
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from core.calendar import COMPLETE, TradeCalendar
from core.clock import Clock
from core.declaration.conditions import Condition
from core.declaration.scope import Reader, Scope
from core.errors import NotServed, PayloadError, Unavailable
from resources.fetch_record import FetchLog
from resources.rejections import Rejection, note, noting
from resources.upstreams import universe
from resources.upstreams.clients import Clients
from resources.upstreams.hosts import SITES
from resources.upstreams.tolerated_failures import check_failed, code_of_item

if TYPE_CHECKING:
    from core.market.bars import Dense

T = TypeVar("T")
MORNING = datetime.time(9)


class _Memo:
    """Answers of one run, with the ids of the responses, the reads of stored tables and the rejected rows
    behind them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: dict[object, tuple[Any, list[str], Reader | None, list[Rejection]]] = {}


def current_session(ctx: "FetchContext", scope: Scope) -> bool:
    """For `Source(only_when=…)`: the scope is the one finished session that quotes of now belong to."""
    return not scope.is_range and ctx.is_current_session(scope.until)


def whole_market(ctx: "FetchContext", scope: Scope) -> bool:
    """For `Source(only_when=…)`: the stored stocks are the market, not those of a watch list."""
    return ctx.watched is None


def within_last(days: int) -> "Callable[[FetchContext, Scope], bool]":
    """For `Source(only_when=…)`: the whole scope lies within the newest `days` trade dates."""
    return lambda ctx, scope: scope.since >= ctx.calendar.last(days, ctx.today)[0]


class FetchContext(Clients):
    """Clients, calendar and clock for fetch functions. `direct`: only a table's first source is asked."""

    def __init__(
        self,
        *,
        clock: Clock,
        calendar: TradeCalendar,
        makers: Mapping[str, Callable[[FetchLog], Any]],
        closers: Sequence[Callable[[], None]] = (),
        direct: bool = False,
        workers: int = 3,
        ths_eps: bool = True,
        throttle: tuple[float, float] = (0.0, 0.0),
        sleeper: Callable[[float], None] = time.sleep,
    ) -> None:
        """`makers`: upstream key -> function that binds its client to a log (sharing connections);
        `closers` end the shared connections. `ths_eps`: whether the topic portal's pages of single companies
        are read; `throttle`: seconds, at least and at most, before each page of a per-code fetch."""
        super().__init__(makers, FetchLog())
        self.clock = clock
        self.calendar = calendar
        self.direct = direct
        self.ths_eps = ths_eps
        self.watched: frozenset[str] | None = None
        """Codes of an installation that loads some securities alone; None for the whole market."""
        self.problems: list[tuple[str, str]] = []
        self.not_served: dict[str, str] = {}
        """What the source has not answered for: code or date -> why."""
        self.served = 0
        """Codes and dates that it has answered for, as far as they were asked for one by one."""
        self._closers = tuple(closers)
        self._workers = workers
        self._throttle = throttle
        self._sleep = sleeper
        self._memo = _Memo()
        self._reused: list[str] = []
        self._read: Reader | None = None

    def new_run(self) -> "FetchContext":
        """The same clients with an empty memo, so that the next run makes its own requests."""
        fresh = self.view(FetchLog(), read=self._read)
        fresh._memo = _Memo()
        return fresh

    def view(self, log: FetchLog, *, read: Reader | None) -> "FetchContext":
        """The same context with `log` as its fetch log."""
        view = object.__new__(FetchContext)
        view.__dict__.update(self.__dict__)
        view.log = log
        view.problems = []
        view.begin_source()
        view._reused = []
        view._read = read
        view._clients = {}
        return view

    def begin_source(self) -> None:
        """Another source is asked: what the one before did not answer for is forgotten."""
        self.not_served, self.served = {}, 0

    def close(self) -> None:
        for close in self._closers:
            close()

    # -- time -------------------------------------------------------------------------------------

    @property
    def today(self) -> str:
        return self.clock.now().date().isoformat()

    def is_current_session(self, day: str) -> bool:
        """Whether a quote asked now belongs to the finished session of `day`: also on the morning after,
        until upstreams make ready for the next one."""
        now = self.clock.now()
        running = MORNING <= now.time() < COMPLETE
        return day == self.newest_finished() and not (running and self._is_trade_date)

    def newest_finished(self) -> str:
        """The newest trade date whose session is over, that of fixed prices after the close included."""
        return self.calendar.newest_complete(self.clock.now())

    @property
    def _is_trade_date(self) -> bool:
        return self.calendar.on_or_before(self.today) == self.today

    def is_published(self, day: str, hour: str) -> bool:
        """Whether it is past `hour` (HH:MM) of the trade date after `day`, when late figures of it appear."""
        if day >= self.today:
            return False
        return f"{self.calendar.offset(day, 1)} {hour}" <= self.clock.now().strftime("%Y-%m-%d %H:%M")

    # -- stored tables ----------------------------------------------------------------------------

    def read(
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
        if self._read is None:
            raise Unavailable("this fetch context has no stored tables")
        return self._read(
            table, columns=columns, codes=codes, since=since, until=until, noted=noted, as_of=as_of
        )

    def panel(
        self,
        table: str,
        *,
        columns: Sequence[str],
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        noted: Sequence[str] = (),
    ) -> "Dense":
        """Numbers of a stored series of the whole market as arrays [codes, dates]."""
        if self._read is None:
            raise Unavailable("this fetch context has no stored tables")
        return self._read.panel(
            table, columns=columns, since=since, until=until, conditions=conditions, noted=noted
        )

    def latest(self, table: str, column: str, before: str) -> str | None:
        """The newest day of a stored table's column before a day; None if empty (`Reader.latest`)."""
        if self._read is None:
            raise Unavailable("this fetch context has no stored tables")
        return self._read.latest(table, column, before)

    # -- sharing and spreading work -----------------------------------------------------------------

    def once(self, key: object, make: "Callable[[FetchContext], T]") -> T:
        """`make(ctx)` the first time in this run, its remembered answer afterwards."""
        with self._memo.lock:
            known = self._memo.values.get(key)
        if known is not None:
            value, ids, reads, rejected = known
            self._reused += ids
            self._take_over(reads)
            note(rejected)
            found: T = value
            return found
        # Made on a view of its own, so that threads of a pool do not mix their responses.
        reads = None if self._read is None else self._read.apart()
        view = self.view(FetchLog(), read=reads)
        try:
            with noting() as rejected:
                made = make(view)
        finally:
            for item in view.log.items:
                self.log.add(item)
            self._take_over(reads)
        note(rejected)
        ids = [item.fetch_id for item in view.log.items]
        of_responses = [one for item in view.log.items for one in item.rejected]
        with self._memo.lock:
            self._memo.values[key] = (made, ids, reads, [*of_responses, *rejected])
        return made

    def _take_over(self, reads: Reader | None) -> None:
        """Count the stored tables behind a shared value as read by this load too."""
        if self._read is not None and reads is not None:
            self._read.take_over(reads)

    def take_reused(self) -> list[str]:
        """Ids of responses that another load of this run fetched and this one used too."""
        own = {item.fetch_id for item in self.log.items}
        ids = [fetch_id for fetch_id in dict.fromkeys(self._reused) if fetch_id not in own]
        self._reused = []
        return ids

    def each(
        self,
        work: Callable[[str], T],
        items: Iterable[str],
        *,
        pages: bool = False,
        site: str = "",
        calls: int = 1,
        code_of: Callable[[str], str] = code_of_item,
    ) -> list[T]:
        """`work` for every item, in order, in a bounded pool. An item with a rejected payload is
        noted in `problems` and left out; too many of them, of all or of one board, fail the whole fetch. So
        is one without an answer (NotServed), of which there may be any number. Both are `not_served`, under
        the code that `code_of` gives.
        `pages`: each item is a web page of one stock, so a random pause comes before each but the first.
        `site`: the site (of `hosts.SITES`) that each item asks `calls` times; Unavailable, before anything is
        asked, when these are more calls than it answers."""
        todo = list(items)
        most = SITES[site].most_calls if site else None
        if most is not None and len(todo) * calls > most:
            raise Unavailable(
                f"{site} cuts off after {most} calls: not asked for {len(todo)} codes, {calls} calls each"
            )
        pause = self._throttle if pages and len(todo) > 1 else (0.0, 0.0)

        def one(item: str) -> tuple[T | None, PayloadError | None]:
            if pause[1] > 0 and item != todo[0]:
                self._sleep(random.uniform(*pause))
            try:
                return work(item), None
            except PayloadError as error:
                return None, error

        # Each item in a copy of its own: a context cannot be entered by two threads at a time. It carries
        # the ids of the log, the call budget and the request to stop.
        context = copy_context()
        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            answers = list(pool.map(lambda item: context.copy().run(one, item), todo))
        errors = [(item, error) for item, (_, error) in zip(todo, answers, strict=True) if error is not None]
        failed = [(item, str(error)) for item, error in errors if not isinstance(error, NotServed)]
        self.problems += failed
        self.not_served |= {code_of(item): str(error) for item, error in errors}
        self.served += len(todo) - len(errors)
        check_failed(todo, failed)
        return [value for value, error in answers if error is None and value is not None]

    def note_not_served(self, asked: Iterable[str], served: Iterable[str], why: str) -> None:
        """Codes of a batch that its answer says nothing about."""
        found = set(served)
        self.not_served |= {code: why for code in asked if code not in found}
        self.served += len(found)

    # -- the universe -------------------------------------------------------------------------------

    def securities(self) -> pd.DataFrame:
        """Every listed security that the per-code datasets hold: code, market (SH, SZ, BJ), symbol, name,
        sec_type, board, decimals, pre_close; of a watch list its own alone. The terminal's list; while it
        cannot be read, the stored security list joined with the portal's (no decimals, and pre_close of the
        portal's stocks only)."""
        return self.of_watched(self.once("securities", universe.universe))

    def of_watched(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows without those of securities that are not on the installation's watch list."""
        if self.watched is None or "code" not in rows.columns:
            return rows
        other = rows["code"].str.fullmatch(r"\d{6}") & ~rows["code"].isin(list(self.watched))
        return rows[~other.fillna(False).astype(bool)].reset_index(drop=True)

    def terminal_list(self) -> pd.DataFrame:
        """The securities of `securities()` from the terminal alone."""
        return self.once("terminal_list", universe.list_securities)

    def symbols(self, codes: Sequence[str] | None = None, sec_type: str | None = None) -> list[str]:
        """Symbols of the universe; only of `codes`, only of one `sec_type` where given."""
        listed = self.securities()
        if sec_type is not None:
            listed = listed[listed["sec_type"] == sec_type]
        if codes is not None:
            listed = listed[listed["code"].isin(list(codes))]
        return [str(symbol) for symbol in listed["symbol"].tolist()]

    def fetch_per_code(
        self,
        scope: Scope,
        ask: "Callable[[str], pd.DataFrame]",
        *,
        sec_type: str | None = None,
        site: str = "",
    ) -> pd.DataFrame:
        """`ask(symbol)` for every symbol of the scope, joined; only rows of the scope's dates. A frame
        without `code` gets the symbol's digits, one without rows is no answer. `site` as in `each`."""

        def one(symbol: str) -> pd.DataFrame:
            rows = ask(symbol)
            if rows.empty:
                raise NotServed(f"{symbol}: no series")
            return rows if "code" in rows.columns else rows.assign(code=symbol[2:])

        symbols = self.symbols(scope.codes, sec_type)
        frames = [frame for frame in self.each(one, symbols, site=site) if len(frame)]
        if not frames:
            return pd.DataFrame(columns=["code", "date"])
        rows = pd.concat(frames, ignore_index=True)
        return rows[rows["date"].isin(list(scope.dates))].reset_index(drop=True)

    # -- batches that several tables of a run share ---------------------------------------------------

    def portal_list(self) -> pd.DataFrame:
        """The portal's list of all A shares with today's quotes, shares and money flow, asked once per run
        (columns: `eastmoney.stock_list`)."""
        return self.once("portal_list", lambda ctx: ctx.eastmoney.stock_list())

    def site_quotes(self) -> pd.DataFrame:
        """The quote site's batch of the whole universe, asked once per run (columns: `tencent.quotes`)."""
        return self.once("site_quotes", lambda ctx: ctx.tencent.quotes(ctx.symbols()))

    def former_names(self) -> pd.DataFrame:
        """Former names of all securities from the terminal's package, asked once per run (columns:
        `renames.SCHEMA`)."""
        return self.once("former_names", lambda ctx: ctx.tdx.former_names())

    def terminal_quotes(self) -> pd.DataFrame:
        """The quote batch of the whole universe from the terminal source, asked once per run."""
        return self.once("tdx_quotes", lambda ctx: ctx.tdx.quotes(ctx.symbols(None)))

    def terminal_bars(self, symbol: str, count: int) -> pd.DataFrame:
        """Unadjusted daily bars of one stock, at least `count` (whole pages), asked once per run.
        PayloadError when they are of another instrument."""
        pages = -(-count // 800)
        return self.once(
            ("tdx_bars", symbol, pages),
            lambda ctx: ctx.accept_bars(symbol, ctx.tdx.bars(symbol, "day", 800 * pages)),
        )

    def accept_bars(self, symbol: str, bars: pd.DataFrame) -> pd.DataFrame:
        """The bars when they agree with the known closes of `symbol`, else PayloadError."""
        return universe.accept_bars(self, symbol, bars)
