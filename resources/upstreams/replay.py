"""The clients of the upstreams over a recording: the same requests and parsers, no socket, no pause."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from core.calendar import TradeCalendar
from core.clock import Clock
from core.errors import Permanent, PlatformError, Refused, Transient
from core.stopping import safe_point
from resources.fetch_record import Fetch, FetchLog, Outcome
from resources.recordings import Recorded, WorldBars
from resources.rejections import Rejection, noting
from resources.transport.request import Request, Sites
from resources.upstreams.factory import Makers
from resources.upstreams.hosts import SITES
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.primitives import SOURCE as TDX

T = TypeVar("T")
_ERRORS: dict[str, type[PlatformError]] = {
    Outcome.TRANSIENT: Transient,
    Outcome.REFUSED: Refused,
    Outcome.PERMANENT: Permanent,
}


def _replayed(world_bars: WorldBars, log: FetchLog, asked: Fetch, parse: Callable[[bytes], T]) -> T:
    """The recorded answer, parsed again; what failed then fails in the same way."""
    safe_point()
    one = world_bars.answer(asked.request_key, f"{asked.upstream} {asked.call_name} {asked.codes_or_page}")
    body = world_bars.body(one)
    failed = _ERRORS.get(one.outcome)
    if failed is not None:
        log.add(_again(one, body))
        status = "" if one.http_status is None else f", HTTP {one.http_status}"
        raise failed(
            f"{one.upstream} {one.call_name}: failed when it was recorded{status}", source=one.upstream
        )
    rejected: list[Rejection] = []
    try:
        with noting() as rejected:
            return parse(body)
    except PlatformError as error:
        error.source = error.source or one.upstream
        raise
    finally:
        log.add(_again(one, body, tuple(rejected)))


def _again(one: Recorded, body: bytes, rejected: tuple[Rejection, ...] = ()) -> Fetch:
    return Fetch(
        upstream=one.upstream,
        call_name=one.call_name,
        request=one.request,
        outcome=Outcome(one.outcome),
        body=body,
        received_at=datetime.fromisoformat(one.received_at),
        codes_or_page=one.codes_or_page,
        http_status=one.http_status,
        attempt=one.attempt,
        rejected=rejected,
    )


def _question(upstream: str, call: str, request: str, label: str, at: datetime) -> Fetch:
    """What would be recorded of a request: its hash finds the answer."""
    return Fetch(
        upstream=upstream,
        call_name=call,
        request=request,
        outcome=Outcome.OK,
        body=b"",
        received_at=at,
        codes_or_page=label,
    )


class ReplayFetcher:
    """Stands for the HTTP transport (`transport.request.Fetcher`)."""

    def __init__(self, world_bars: WorldBars, log: FetchLog, sites: Sites = SITES) -> None:
        self._world_bars = world_bars
        self._log = log
        self._sites = sites

    def call(self, request: Request, parse: Callable[[bytes], T]) -> T:
        site = self._sites[request.site]
        text = request.canonical(site)
        asked = _question(site.upstream, request.call, text, request.label, self._world_bars.newest)
        return _replayed(self._world_bars, self._log, asked, parse)


class ReplaySession:
    """Stands for the session with the terminal's servers (`tdx.session.Session`)."""

    def __init__(self, world_bars: WorldBars, clock: Clock, fetches: FetchLog) -> None:
        self.world_bars = world_bars
        self.clock = clock
        self.fetches = fetches

    def with_fetches(self, fetches: FetchLog) -> "ReplaySession":
        return ReplaySession(self.world_bars, self.clock, fetches)

    def run(self, call: Call, parse: Callable[[bytes], T]) -> T:
        asked = _question(TDX, call.name, call.request, call.page, self.world_bars.newest)
        return _replayed(self.world_bars, self.fetches, asked, parse)


def replay_clients(world_bars: WorldBars, clock: Clock, calendar: TradeCalendar) -> Makers:
    """{upstream key: function that binds its client to a log}, as `factory.make_clients` gives them."""
    from resources.upstreams.factory import http_clients
    from resources.upstreams.tdx.client import TdxClient

    tdx = TdxClient.over(ReplaySession(world_bars, clock, FetchLog()), calendar)
    return {"tdx": tdx.with_fetches, **http_clients(lambda log: ReplayFetcher(world_bars, log), clock)}
