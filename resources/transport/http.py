"""The HTTP transport: the one module that imports httpx.

It knows addresses, the pool, timeouts, the body limit, the gate, retries and the record of each
response; it knows nothing about formats. Synchronous; one instance serves all threads of a process.
"""

import logging
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from core.clock import Clock, Sleeper, SystemClock, real_sleep
from core.errors import PayloadError, Permanent, PlatformError, Refused, Transient, Unavailable
from resources.fetch_record import Fetch, FetchLog, Outcome, traced
from resources.redact import redact
from resources.rejections import Rejection, noting
from resources.transport.budget import may_retry
from resources.transport.gate import CountsRetries, Gate, KnowsReadiness
from resources.transport.patience import may_wait, wait_out
from resources.transport.request import Request, Site, Sites
from resources.transport.settings import TransportSettings


@dataclass(frozen=True)
class RetryPolicy:
    """At most `attempts` tries. Waits double from `base_sec` to `cap_sec`, each scaled by 0.5..1.5."""

    attempts: int
    base_sec: float
    cap_sec: float
    retry_after_max_sec: float

    @classmethod
    def of(cls, settings: TransportSettings) -> "RetryPolicy":
        return cls(
            attempts=max(1, settings.retry_attempts),
            base_sec=settings.retry_base_sec,
            cap_sec=settings.retry_cap_sec,
            retry_after_max_sec=settings.retry_after_max_sec,
        )

    def wait(self, attempt: int, retry_after: float | None, rng: random.Random) -> float | None:
        """Seconds before the attempt after `attempt` (1-based); None = do not try again."""
        if attempt >= self.attempts:
            return None
        if retry_after is not None:
            # Clients that come back earlier than asked get banned, so a long Retry-After ends the call.
            return retry_after if retry_after <= self.retry_after_max_sec else None
        backoff = min(self.cap_sec, self.base_sec * 2.0 ** (attempt - 1))
        return backoff * rng.uniform(0.5, 1.5)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds from a Retry-After header (a number or an HTTP date); None when absent or unreadable.

    `now` is UTC without zone."""
    if not value:
        return None
    text = value.strip()
    if text.isdigit():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    return max(0.0, (when - now).total_seconds())


T = TypeVar("T")

logger = logging.getLogger(__name__)

USER_AGENT = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36"
)
# 456 is how one portal says 'banned'; 401 and 451 never change by asking again.
_REFUSING = frozenset({401, 403, 451, 456})
_BUSY = frozenset({408, 425, 429})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@lru_cache(maxsize=2)
def _trusted(from_environment: bool) -> ssl.SSLContext:
    """The trusted certificates, read once per process: reading takes thirty milliseconds, which each
    transport of a run would spend again."""
    return httpx.create_ssl_context(trust_env=from_environment)


@dataclass
class _Answer(Generic[T]):
    """How one attempt ended: a value, or the error that it raises."""

    value: T | None = None
    error: PlatformError | None = None
    retry_after: float | None = None


class HttpTransport:
    """Sends requests to the sites of a table. Use as a context manager, or call `close`.

    `clock` stamps the fetch records, `monotonic` measures, `sleeper` spends the retry waits.
    """

    def __init__(
        self,
        settings: TransportSettings,
        gate: Gate,
        sites: Sites,
        *,
        clock: Clock | None = None,
        sleeper: Sleeper = real_sleep,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._settings = settings
        self._gate = gate
        self._sites = sites
        self._clock = clock or SystemClock()
        self._sleep = sleeper
        self._monotonic = monotonic
        self._random = rng or random.Random()
        self._retry = RetryPolicy.of(settings)
        loopback = any(
            urlsplit(base).hostname in _LOOPBACK for site in sites.values() for base, _ in site.targets()
        )
        self._trust = not loopback
        self._client = self._session()
        self._apart = {site.family: self._session() for site in sites.values() if site.apart}

    def _session(self) -> httpx.Client:
        settings = self._settings
        return httpx.Client(
            timeout=httpx.Timeout(settings.http_timeout, connect=settings.http_connect_timeout),
            limits=httpx.Limits(
                max_connections=settings.http_max_connections,
                max_keepalive_connections=settings.http_max_keepalive,
                keepalive_expiry=settings.http_keepalive_expiry,
            ),
            headers={"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Language": "zh-CN,zh;q=0.9"},
            follow_redirects=False,
            # A proxy of the environment cannot reach our own loopback.
            trust_env=self._trust,
            verify=_trusted(self._trust),
        )

    def __enter__(self) -> "HttpTransport":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for client in (self._client, *self._apart.values()):
            client.close()

    def logged(self, log: FetchLog) -> "LoggedFetcher":
        """A `Fetcher` that records what it does in `log`: one per piece of work."""
        return LoggedFetcher(self, log)

    def call(self, request: Request, parse: Callable[[bytes], T], log: FetchLog | None = None) -> T:
        """Send, retry, parse. Raises the error family of `core.errors`."""
        site = self._sites[request.site]
        earlier: PlatformError | None = None
        attempt = 0
        while True:
            attempt += 1
            try:
                base, host = self._enter(site, attempt)
            except Unavailable as refusal:
                # What the upstream did says more than what our guard did afterwards.
                raise (earlier or refusal) from refusal
            answer = self._attempt(request, parse, site=site, base=base, host=host, attempt=attempt, log=log)
            if answer.error is None:
                return answer.value  # type: ignore[return-value]  # value is set whenever error is not
            if not isinstance(answer.error, Transient):
                raise answer.error
            wait = self._retry.wait(attempt, answer.retry_after, self._random)
            if wait is None or not may_retry() or not self._may_retry(site):
                raise answer.error
            logger.info("retry %s %s in %.1f s: %s", site.upstream, request.call, wait, answer.error)
            if isinstance(self._gate, CountsRetries):
                self._gate.retried(site.family)
            self._sleep(wait)
            earlier = answer.error

    def _may_retry(self, site: Site) -> bool:
        """Whether the gate would now let a retry pass, or the work waits until it does; else a backoff would
        be useless."""
        if not isinstance(self._gate, KnowsReadiness) or may_wait():
            return True
        return any(self._gate.ready(site.family, host) for _, host in site.targets())

    def _enter(self, site: Site, attempt: int) -> tuple[str, str]:
        """Pass the gate with one of the site's hosts: another one at each attempt, none that cools down.
        Where all do, work that has the patience waits for the first."""
        targets = site.targets()
        while True:
            refusals: list[Unavailable] = []
            for step in range(len(targets)):
                base, host = targets[(attempt - 1 + step) % len(targets)]
                try:
                    self._gate.enter(site.family, host)
                except Unavailable as error:
                    refusals.append(error)
                else:
                    return base, host
            if not refusals:
                raise Unavailable(f"{site.upstream} has no address", source=site.upstream)
            if not wait_out(refusals):
                raise refusals[0]

    def _attempt(
        self,
        request: Request,
        parse: Callable[[bytes], T],
        *,
        site: Site,
        base: str,
        host: str,
        attempt: int,
        log: FetchLog | None,
    ) -> _Answer[T]:
        started = self._monotonic()
        status: int | None = None
        body = b""
        answer: _Answer[T] = _Answer()
        outcome = Outcome.PAYLOAD
        rejected: list[Rejection] = []
        try:
            try:
                status, headers, body = self._send(request, site, base, host, started)
                retry_after = headers.get("retry-after")
                answer.retry_after = parse_retry_after(retry_after, datetime.now(UTC).replace(tzinfo=None))
                if status not in request.explained:
                    _check_status(status, host)
                with noting() as rejected:
                    answer.value = parse(body)
                outcome = Outcome.EMPTY if _is_empty(answer.value) else Outcome.OK
            except PlatformError as error:
                answer.error = error
                outcome = _outcome(error)
        finally:
            # Also when the parser raised an unexpected error: the host did answer.
            fetch = Fetch(
                upstream=site.upstream,
                call_name=request.call,
                request=request.canonical(site),
                outcome=outcome,
                body=body,
                received_at=self._clock.now(),
                codes_or_page=request.label,
                http_status=status,
                attempt=attempt,
                elapsed_ms=int((self._monotonic() - started) * 1000),
                rejected=tuple(rejected),
            )
            traced(fetch, host, answer.error)
            if log is not None:
                log.add(fetch)
            if answer.error is None:
                self._gate.succeeded(site.family, host)
            else:
                answer.error.source = answer.error.source or site.upstream
                answer.error.fetch_id = fetch.fetch_id
                self._gate.failed(site.family, host, answer.error)
        return answer

    def _send(
        self, request: Request, site: Site, base: str, host: str, started: float
    ) -> tuple[int, httpx.Headers, bytes]:
        headers = dict(request.headers)
        if site.referer:
            headers.setdefault("Referer", site.referer)
        deadline = started + self._settings.http_timeout + self._settings.http_connect_timeout
        try:
            with self._apart.get(site.family, self._client).stream(
                request.method, base + request.target, headers=headers, content=request.content or None
            ) as response:
                return response.status_code, response.headers, self._read(response, host, deadline)
        except httpx.TimeoutException as error:
            raise Transient(f"{host}: timeout ({type(error).__name__})") from error
        except httpx.DecodingError as error:
            raise PayloadError(f"{host}: compressed body is damaged") from error
        except httpx.HTTPError as error:
            raise Transient(f"{host}: {redact(str(error)) or type(error).__name__}") from error

    def _read(self, response: httpx.Response, host: str, deadline: float) -> bytes:
        chunks: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > self._settings.max_body_bytes:
                raise PayloadError(f"{host}: body is larger than {self._settings.max_body_bytes} bytes")
            chunks.append(chunk)
            # The pool's read timeout restarts with every byte; a trickle must end as well.
            if self._monotonic() > deadline:
                raise Transient(f"{host}: timeout (body too slow)")
        return b"".join(chunks)


@dataclass(frozen=True)
class LoggedFetcher:
    """A transport and the log of one piece of work."""

    transport: HttpTransport
    log: FetchLog

    def call(self, request: Request, parse: Callable[[bytes], T]) -> T:
        return self.transport.call(request, parse, self.log)


def _check_status(status: int, host: str) -> None:
    if 200 <= status < 300:
        return
    if status in _REFUSING:
        raise Refused(f"{host}: HTTP {status}")
    if status in _BUSY or status >= 500:
        raise Transient(f"{host}: HTTP {status}")
    raise Permanent(f"{host}: HTTP {status}")


def _is_empty(value: object) -> bool:
    return hasattr(value, "__len__") and len(value) == 0


def _outcome(error: PlatformError) -> Outcome:
    if isinstance(error, Transient):
        return Outcome.TRANSIENT
    if isinstance(error, Refused):
        return Outcome.REFUSED
    if isinstance(error, Permanent):
        return Outcome.PERMANENT
    return Outcome.PAYLOAD
