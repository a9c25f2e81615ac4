"""The terminal client: symbols in, pandas frames in canonical units out.

Prices CNY, volumes in shares, amounts CNY, dates 'YYYY-MM-DD', times naive Asia/Shanghai text. Page
limits of the protocol (800 bars, 1,000 securities, 80 quotes, 2,000 transactions) are handled here.
Methods raise `Transient`, `PayloadError` or `Unavailable` (see `Session.run`), never return a part.
An upstream that truly has nothing is a frame without rows and the outcome 'empty' in the fetch log.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import pandas as pd

from core.calendar import TradeCalendar, shipped_calendar
from core.clock import Clock, Sleeper, real_sleep
from core.errors import InputError, PayloadError
from resources.fetch_record import FetchLog
from resources.transport.gate import Gate
from resources.transport.servers import KeepsServers, ServerRecords
from resources.upstreams.tdx import bars as bar_calls
from resources.upstreams.tdx import (
    catalogue,
    closed_days,
    company,
    corporate,
    files,
    frames,
    profile,
    renames,
)
from resources.upstreams.tdx import minutes as minute_calls
from resources.upstreams.tdx import quotes as quote_calls
from resources.upstreams.tdx import transactions as tick_calls
from resources.upstreams.tdx.connection import Endpoint
from resources.upstreams.tdx.instruments import Instrument, instrument, market_byte
from resources.upstreams.tdx.paging import join_pages, read_bars, read_list, read_transactions
from resources.upstreams.tdx.pool import Pool, host_of
from resources.upstreams.tdx.primitives import SOURCE, Columns
from resources.upstreams.tdx.proofs import Proofs
from resources.upstreams.tdx.session import Servers, Session

_MEMBER_FILES = {"zs": "block_zs.dat", "gn": "block_gn.dat", "fg": "block_fg.dat"}
_INDUSTRY_FILE = "tdxhy.cfg"
_INDEX_FILE = "tdxzs.cfg"

T = TypeVar("T")


class TdxClient:
    """Reads one set of terminal servers. Use as a context manager, or `close()` it."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        gate: Gate,
        clock: Clock,
        fetches: FetchLog,
        sleeper: Sleeper = real_sleep,
        timeout: float = 15.0,
        connect_timeout: float = 5.0,
        pool_size: int = 3,
        heartbeat_every: float = 30.0,
        second_hello: bool = False,
        calendar: TradeCalendar | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        file_endpoints: Sequence[Endpoint] = (),
    ) -> None:
        """`file_endpoints`: servers that are asked first for files and last for anything else. `calendar`
        dates the answers of 'today' calls, which carry no date. Which server serves what is kept where the
        gate keeps its state."""
        pool = Pool(
            [*endpoints, *file_endpoints],
            size=pool_size,
            timeout=timeout,
            connect_timeout=connect_timeout,
            heartbeat_every=heartbeat_every,
            second_hello=second_hello,
            monotonic=monotonic,
        )
        self._session = Session(
            pool,
            Servers(
                [host_of(one) for one in endpoints],
                gate.servers() if isinstance(gate, KeepsServers) else ServerRecords(),
                [host_of(one) for one in file_endpoints],
            ),
            Proofs(self._past_day, monotonic),
            gate=gate,
            clock=clock,
            fetches=fetches,
            sleeper=sleeper,
        )
        self._calendar = calendar
        self._owns_pool = True

    @classmethod
    def over(cls, session: Any, calendar: TradeCalendar) -> "TdxClient":
        """A client over a session that is not its own (a recording)."""
        made = object.__new__(cls)
        made._session = session
        made._calendar = calendar
        made._owns_pool = False
        return made

    @property
    def session(self) -> Session:
        """Its session with the servers."""
        return self._session

    def with_fetches(self, fetches: FetchLog) -> "TdxClient":
        """A view that shares the connections and reports to another log; closing it closes nothing."""
        view = object.__new__(TdxClient)
        view._session = self._session.with_fetches(fetches)
        view._calendar = self._calendar
        view._owns_pool = False
        return view

    def __enter__(self) -> "TdxClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._owns_pool:
            self._session.pool.close()

    # -- the list of securities -------------------------------------------------------------------

    def security_count(self, market: str) -> int:
        """Securities of all kinds (indices, bonds, categories too) that the market's list promises."""
        today = self._session.clock.now().date()
        call = catalogue.count_call(market_byte(market), int(today.strftime("%Y%m%d")))
        return self._session.run(call, catalogue.parse_count)

    def security_list(self, market: str, *, new: bool = False) -> pd.DataFrame:
        """The whole list of one market (`new`: 0x044d with 16-byte names). PayloadError when fewer or
        more rows come than the count promises, or one code twice."""
        promised = self.security_count(market)
        return _frame(read_list(self._session, market_byte(market), promised, new=new), catalogue.SCHEMA)

    # -- quotes -----------------------------------------------------------------------------------

    def quotes(self, symbols: Sequence[str], *, decimals: Mapping[str, int] | None = None) -> pd.DataFrame:
        """Five-level snapshots in the order of `symbols`. Columns: `quotes.schema()`.

        `suspended`: the day has no open while a last close is known (true for all before 09:25).
        `unknown`: delisted, or not known to the server. `decimals` (symbol -> places) overrides the
        prefix rule for prices.
        """
        return self._snapshots(symbols, quote_calls.LEVELS, decimals)

    def snapshots(self, symbols: Sequence[str], *, decimals: Mapping[str, int] | None = None) -> pd.DataFrame:
        """The same with one level of the book (0x054c)."""
        return self._snapshots(symbols, 1, decimals)

    def _snapshots(
        self, symbols: Sequence[str], levels: int, decimals: Mapping[str, int] | None
    ) -> pd.DataFrame:
        pages = []
        for asked in _batches([instrument(symbol) for symbol in symbols], quote_calls.PAGE):
            parse = functools.partial(quote_calls.parse_quotes, asked=asked, levels=levels, decimals=decimals)
            pages.append(self._session.run(quote_calls.quotes_call(asked, levels=levels), parse))
        return _frame(join_pages(pages, quote_calls.schema(levels)), quote_calls.schema(levels))

    # -- bars -------------------------------------------------------------------------------------

    def bars(
        self, symbol: str, period: str = "day", count: int = bar_calls.PAGE, start: int = 0
    ) -> pd.DataFrame:
        """The newest `count` unadjusted bars (after skipping `start`), oldest first. Period day, week,
        month, quarter, year, 1m, 5m, 15m, 30m, 60m. Suspended days are bars with volume 0."""
        what = instrument(symbol)
        if what.is_index:
            raise InputError("symbol", f"{symbol} is an index: ask index_bars")
        return self._bars(what, period, count, start)

    def index_bars(
        self, symbol: str, period: str = "day", count: int = bar_calls.PAGE, start: int = 0
    ) -> pd.DataFrame:
        """The same for an index, with the counts of risen and fallen members."""
        what = instrument(symbol)
        if not what.is_index:
            raise InputError("symbol", f"{symbol} is no index: ask bars")
        return self._bars(what, period, count, start)

    def bars_absolute(
        self, symbol: str, period: str = "day", count: int = bar_calls.PAGE, start: int = 0
    ) -> pd.DataFrame:
        """Unadjusted bars through the newer call 0x0523."""
        return self._bars(instrument(symbol), period, count, start, absolute=True)

    def _bars(
        self, what: Instrument, period: str, count: int, start: int, *, absolute: bool = False
    ) -> pd.DataFrame:
        of = bar_calls.period(period)
        columns = read_bars(self._session, what, of, count, start, absolute=absolute)
        columns = bar_calls.mend_noon(columns, self._session.clock.now().date().isoformat())
        return _frame(columns, bar_calls.schema(of, index=what.is_index))

    # -- inside a day -----------------------------------------------------------------------------

    def minutes(
        self, symbol: str, date: str | None = None, *, averages: bool = False, decimals: int | None = None
    ) -> pd.DataFrame:
        """Minute series of `date` ('YYYY-MM-DD'), or of today (`averages`: through 0x0537)."""
        what = instrument(symbol)
        day = date or self._today()
        call, parser = (
            (minute_calls.history_call(what, _yyyymmdd(date)), minute_calls.parse_history)
            if date is not None
            else (minute_calls.averages_call(what), minute_calls.parse_averages)
            if averages
            else (minute_calls.today_call(what), minute_calls.parse_today)
        )
        parse = functools.partial(parser, what=what, day=day, decimals=decimals)
        return _frame(self._session.run(call, parse), minute_calls.SCHEMA)

    def transactions(
        self, symbol: str, date: str | None = None, *, orders: bool = False, decimals: int | None = None
    ) -> pd.DataFrame:
        """All transactions of `date`, or of today, oldest first. Past dates carry the number of orders
        only through 0x0fc6 (`orders`)."""
        form = tick_calls.TODAY
        if date is not None:
            form = tick_calls.HISTORY_ORDERS if orders else tick_calls.HISTORY
        day = date or self._today()
        columns = read_transactions(self._session, form, instrument(symbol), day, decimals=decimals)
        return _frame(columns, tick_calls.SCHEMA)

    def auction(self, symbol: str) -> pd.DataFrame:
        """The steps of today's call auctions (09:15-09:25, 14:57-15:00)."""
        what = instrument(symbol)
        parse = functools.partial(tick_calls.parse_auction, what=what)
        return _frame(self._session.run(tick_calls.auction_call(what), parse), tick_calls.AUCTION_SCHEMA)

    def _today(self) -> str:
        """The newest trade date: what the 'today' calls answer about, also on a holiday."""
        calendar = self._calendar or shipped_calendar()
        return calendar.on_or_before(self._session.clock.now().date().isoformat())

    def _past_day(self) -> int:
        """The newest trade date before today, YYYYMMDD."""
        calendar = self._calendar or shipped_calendar()
        yesterday = self._session.clock.now().date() - timedelta(days=1)
        return _yyyymmdd(calendar.on_or_before(yesterday.isoformat()))

    # -- the company ------------------------------------------------------------------------------

    def xdxr(self, symbol: str) -> pd.DataFrame:
        """Ex-rights and capital changes. Columns: `corporate.XDXR_SCHEMA`."""
        what = instrument(symbol)
        parse = functools.partial(corporate.parse_xdxr, what=what)
        return _frame(self._session.run(corporate.xdxr_call(what), parse), corporate.XDXR_SCHEMA)

    def finance(self, symbol: str) -> pd.DataFrame:
        """The newest finance snapshot: one row, or none. Columns: `corporate.FINANCE_SCHEMA`."""
        what = instrument(symbol)
        parse = functools.partial(corporate.parse_finance, what=what)
        return _frame(self._session.run(corporate.finance_call(what), parse), corporate.FINANCE_SCHEMA)

    def company_sections(self, symbol: str) -> pd.DataFrame:
        """Titles of the company text with the place of each in its file."""
        what = instrument(symbol)
        columns = self._session.run(company.sections_call(what), company.parse_sections)
        return _frame(columns, company.SCHEMA)

    def company_text(self, symbol: str, title: str) -> str:
        """The text of one section; '' when the company has no section of that title."""
        found = self.company_sections(symbol)
        found = found[found["title"] == title]
        if found.empty:
            return ""
        first = found.iloc[0]
        section = company.Section(title, str(first["file_name"]), int(first["start"]), int(first["length"]))
        what = instrument(symbol)
        raw = b""
        while len(raw) < section.length:
            call = company.text_call(what, section, len(raw))
            limit = min(company.SLICE, section.length - len(raw))
            piece = self._session.run(call, functools.partial(company.parse_text, what=what, limit=limit))
            if not piece:
                raise PayloadError(
                    f"{symbol} {title}: {len(raw)} of {section.length} bytes, then nothing", source=SOURCE
                )
            raw += piece
        try:
            return raw.decode("gb18030")
        except UnicodeDecodeError as error:
            raise PayloadError(f"{symbol} {title}: {error}", source=SOURCE) from error

    def company_profile(self, symbol: str) -> pd.DataFrame:
        """The company's profile from the section 公司概况; at most one row, columns `PROFILE_COLUMNS`."""
        return profile.parse_profile(self.company_text(symbol, profile.SECTION), symbol)

    # -- files of the server ----------------------------------------------------------------------

    def file(self, name: str) -> bytes:
        """A whole file of the server; b'' when it has none of that name."""
        meta = self._session.run(files.meta_call(name), files.parse_meta)
        raw = b""
        while len(raw) < meta.size:
            piece = self._session.run(files.content_call(name, len(raw)), files.parse_content)
            if not piece:
                break
            raw += piece
        if len(raw) != meta.size:
            raise PayloadError(f"{name}: {len(raw)} of {meta.size} bytes", source=SOURCE)
        return raw

    def block_members(self, kind: str) -> pd.DataFrame:
        """Members of all blocks of a kind: zs index, gn concept, fg style, hy industry. A block of 400
        members may be cut by the file format."""
        if kind != "hy" and kind not in _MEMBER_FILES:
            raise InputError("kind", f"{kind!r} is not one of zs, gn, fg, hy")
        indices = files.parse_block_indices(self.file(_INDEX_FILE))
        if kind == "hy":
            columns = files.industry_members(files.parse_industries(self.file(_INDUSTRY_FILE)), indices)
        else:
            content = self.file(_MEMBER_FILES[kind])
            columns = files.block_members(kind, files.parse_blocks(content) if content else [], indices)
        return _frame(columns, files.MEMBER_SCHEMA)

    def former_names(self) -> pd.DataFrame:
        """Every change of a name up to the day before: `old_name` was shown until the day before
        `renamed_on`. Current names are not among them. PayloadError when the server does not hand them out.
        """
        content = renames.unpacked(self.file(renames.PACKAGE))
        return _frame(renames.parse_renames(content), renames.SCHEMA)

    def closed_days(self) -> pd.DataFrame:
        """Closed days beside weekends of every year that the terminal's settings list, some of them ahead of
        their announcement. Columns: `closed_days.SCHEMA`."""
        content = renames.unpacked(self.file(renames.PACKAGE), closed_days.MEMBER)
        return _frame(closed_days.parse_closed_days(content), closed_days.SCHEMA)

    # -- the server -------------------------------------------------------------------------------

    def greeting(self) -> frames.Greeting:
        """Clock and name of the current server."""
        return self._session.run(frames.HELLO_1, frames.parse_hello)

    def server_info(self) -> frames.ServerInfo:
        return self._session.run(frames.SERVER_INFO, frames.parse_server_info)

    def heartbeat(self) -> int:
        """The server's date as YYYYMMDD, 0 from older servers."""
        return self._session.run(frames.HEARTBEAT, frames.parse_heartbeat)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _yyyymmdd(date: str) -> int:
    digits = date.replace("-", "")
    if len(digits) != 8 or not digits.isdigit():
        raise InputError("date", f"{date!r} is not of the form YYYY-MM-DD")
    return int(digits)


def _frame(columns: Columns, schema: dict[str, str]) -> pd.DataFrame:
    """A frame with the declared dtypes, also when it has no rows."""
    return pd.DataFrame({name: pd.Series(columns[name], dtype=dtype) for name, dtype in schema.items()})
