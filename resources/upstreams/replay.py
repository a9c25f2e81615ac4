"""The clients of the upstreams over a recording: the same requests and parsers, no socket, no pause."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from core.calendar import TradeCalendar
from core.clock import Clock
from core.errors import Permanent, PlatformError, Refused, Transient
from resources.fetch_record import Fetch, FetchLog, Outcome
from resources.recordings import Recorded, RecordedResponses
from resources.rejections import Rejection, noting
from resources.transport.request import Fetcher, Request, Sites
from resources.upstreams.factory import Makers, http_clients
from resources.upstreams.first_answers import FirstAnswers
from resources.upstreams.hosts import SITES
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.primitives import SOURCE as TDX

T = TypeVar("T")
_ERRORS: dict[str, type[PlatformError]] = {
    Outcome.TRANSIENT: Transient,
    Outcome.REFUSED: Refused,
    Outcome.PERMANENT: Permanent,
}


def _replayed(recording: RecordedResponses, log: FetchLog, asked: Fetch, parse: Callable[[bytes], T]) -> T:
    """The recorded answer, parsed again; what failed then fails in the same way."""
    one = recording.answer(asked.request_key, f"{asked.upstream} {asked.call_name} {asked.codes_or_page}")
    body = recording.body(one)
    failed = _ERRORS.get(one.outcome)
    if failed is not None:
        log.add(_fetch_of(one, body))
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
        log.add(_fetch_of(one, body, tuple(rejected)))


def _fetch_of(one: Recorded, body: bytes, rejected: tuple[Rejection, ...] = ()) -> Fetch:
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


def _recorded_request(upstream: str, call: str, request: str, label: str, at: datetime) -> Fetch:
    """The request as a fetch record without a response: its key finds the recorded one."""
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
    """Takes the place of the HTTP transport (`transport.request.Fetcher`)."""

    def __init__(self, recording: RecordedResponses, log: FetchLog, sites: Sites = SITES) -> None:
        self._recording = recording
        self._log = log
        self._sites = sites

    def call(self, request: Request, parse: Callable[[bytes], T]) -> T:
        site = self._sites[request.site]
        text = request.canonical(site)
        asked = _recorded_request(site.upstream, request.call, text, request.label, self._recording.newest)
        return _replayed(self._recording, self._log, asked, parse)


class ReplaySession:
    """Takes the place of the session with the terminal's servers (`tdx.session.Session`)."""

    def __init__(self, recording: RecordedResponses, clock: Clock, fetches: FetchLog) -> None:
        self.recording = recording
        self.clock = clock
        self.fetches = fetches

    def with_fetches(self, fetches: FetchLog) -> "ReplaySession":
        return ReplaySession(self.recording, self.clock, fetches)

    def run(self, call: Call, parse: Callable[[bytes], T]) -> T:
        asked = _recorded_request(TDX, call.name, call.request, call.page, self.recording.newest)
        return _replayed(self.recording, self.fetches, asked, parse)


def replay_clients(
    recording: RecordedResponses, clock: Clock, calendar: TradeCalendar, *, first: FirstAnswers | None = None
) -> Makers:
    """{upstream key: function that binds its client to a log}, as `factory.make_clients` gives them."""
    session: Any = ReplaySession(recording, clock, FetchLog())
    fetcher: Callable[[FetchLog], Fetcher] = partial(ReplayFetcher, recording)
    if first is not None:
        session, fetcher = first.session(session), first.fetcher(fetcher, SITES)
    return {"tdx": TdxClient.over(session, calendar).with_fetches, **http_clients(fetcher, clock)}
