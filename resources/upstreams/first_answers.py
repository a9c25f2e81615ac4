"""Each kind of upstream call once: transports that send the first request of a kind and refuse the others.

With them every source of every dataset can be run for what its calls look like, at the cost of one request a
kind.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import PayloadError, PlatformError, Unavailable
from resources.fetch_record import Fetch, FetchLog
from resources.transport.request import Fetcher, Request, Sites
from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.primitives import SOURCE as TDX

T = TypeVar("T")
TRIES = 3
"""How often a call is made that fails."""
REPEATED = frozenset({"visit", "register"})
"""Calls that bring the cookies of the calls after them: made again by each client."""


class Enough(Unavailable):
    """A call of this kind has been made."""


@dataclass(frozen=True)
class Answer:
    """The first good call of a kind, else the last one that was sent: responses, and the parser's result or
    the error."""

    name: str
    fetches: tuple[Fetch, ...]
    value: Any = None
    error: PlatformError | None = None

    @property
    def body(self) -> bytes:
        """Of its last response; b'' without one."""
        return self.fetches[-1].body if self.fetches else b""


class FirstAnswers:
    """The answers by the name of their kind: upstream, call, and the report that was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.log = FetchLog()
        self._made: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._all = False

    @contextmanager
    def every_call(self) -> Iterator[None]:
        """Within the block calls are made however often they are asked for; the first one counts."""
        self._all = True
        try:
            yield
        finally:
            self._all = False

    def fetcher(self, make: Callable[[FetchLog], Fetcher], sites: Sites) -> Callable[[FetchLog], Fetcher]:
        """In place of `make`, a transport by its log."""
        return lambda _log: _FirstFetcher(self, make, sites)

    def session(self, session: Any) -> "_FirstSession":
        """In place of a session with the terminal's servers."""
        return _FirstSession(self, session)

    def ask(self, name: str, send: Callable[[FetchLog], T]) -> T:
        """What `send` gives, and its record. Raises Enough for a kind that was asked for before."""
        with self._lock:
            self._made[name] += 1
            known = self.answers.get(name)
            # A client may ask again after an error, for example with a new cookie.
            open_still = known is not None and known.error is not None and self._made[name] <= TRIES
            allowed = self._made[name] == 1 or open_still or self._all
        if not (allowed or name.rpartition(" ")[2] in REPEATED):
            raise Enough(f"{name}: asked for once")
        log = FetchLog()
        try:
            value = send(log)
        except PlatformError as error:
            self._note(Answer(name, tuple(log.items), error=error))
            raise
        except Exception as error:  # a parser that broke off is what a caller wants to hear of
            broken = PayloadError(f"{name}: {type(error).__name__}: {error}")
            self._note(Answer(name, tuple(log.items), error=broken))
            raise broken from error
        self._note(Answer(name, tuple(log.items), value))
        return value

    def _note(self, answer: Answer) -> None:
        with self._lock:
            known = self.answers.get(answer.name)
            held_back = isinstance(answer.error, Unavailable)
            if known is None or (known.error is not None and not held_back):
                self.answers[answer.name] = answer
        for one in answer.fetches:
            self.log.add(one)


class _FirstFetcher:
    def __init__(self, first: FirstAnswers, make: Callable[[FetchLog], Fetcher], sites: Sites) -> None:
        self._first, self._make, self._sites = first, make, sites

    def call(self, request: Request, parse: Callable[[bytes], T]) -> T:
        report = dict(request.params).get("reportName", "")
        name = " ".join(filter(None, (self._sites[request.site].upstream, request.call, report)))
        return self._first.ask(name, lambda log: self._make(log).call(request, parse))


class _FirstSession:
    def __init__(self, first: FirstAnswers, session: Any) -> None:
        self._first, self._session = first, session
        self.clock = session.clock

    def with_fetches(self, _log: FetchLog) -> "_FirstSession":
        return self

    def run(self, call: Call, parse: Callable[[bytes], T]) -> T:
        def send(log: FetchLog) -> T:
            answer: T = self._session.with_fetches(log).run(call, parse)
            return answer

        return self._first.ask(f"{TDX} {call.name}", send)
