"""What a client requests (`Request`), where it goes (`Site`), and what sends it (`Fetcher`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from resources.redact import redact

T = TypeVar("T")


@dataclass(frozen=True)
class Site:
    """One address of an upstream. `upstream` is its key (`src`, and the first path segment of the
    simulated market), `family` what pacing and breaker cover, `real` the upstream's own base
    addresses in fail-over order, `bases` where calls really go."""

    upstream: str
    family: str
    real: tuple[str, ...]
    referer: str = ""
    bases: tuple[str, ...] = ()
    apart: bool = False
    """Whether its family has an HTTP session of its own, whose cookies no other site sees."""
    most_calls: int | None = None
    """Calls after which it cuts off who asks: it is never walked over for more codes than that."""

    def targets(self) -> tuple[tuple[str, str], ...]:
        """(base address, host name under which pacing and cooldowns know it), in fail-over order.

        A redirected site keeps the upstream's own name, so that the cooldowns of two upstreams that
        share one loopback port stay apart."""
        if not self.bases:
            return tuple((base, host_of(base)) for base in self.real)
        return tuple(
            (base, host_of(self.real[min(i, len(self.real) - 1)])) for i, base in enumerate(self.bases)
        )

    def redirected(self, root: str) -> "Site":
        """This site behind `root`/<upstream key> (the simulated market)."""
        return replace(self, bases=(f"{root.rstrip('/')}/{self.upstream}",))


def host_of(base: str) -> str:
    return urlsplit(base).netloc


@dataclass(frozen=True)
class Request:
    """One call, free of addresses. `site` is a key of the site table, `path` is encoded already,
    `label` names codes or page in the fetch record, `explained` the HTTP errors whose body is a document
    that says what is wrong: the parser reads it."""

    site: str
    call: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    label: str = ""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    explained: tuple[int, ...] = ()

    @property
    def target(self) -> str:
        """Path and query as sent."""
        if not self.params:
            return self.path
        return f"{self.path}?{urlencode(self.params, quote_via=quote, safe=',:')}"

    def canonical(self, site: Site) -> str:
        """Redacted text that is equal for equal requests, wherever they were sent."""
        text = f"{self.method} {site.real[0]}{self.target}"
        if self.content:
            text += "\n" + self.content.decode("utf-8", "backslashreplace")
        return redact(text)


def pairs(query: str) -> tuple[tuple[str, str], ...]:
    """Parameters as `a=1&b=2`, in the order in which they are sent. The values are not encoded yet, and hold
    no `&`: what a reader typed does not belong here."""
    return tuple((name, value) for name, _, value in (one.partition("=") for one in query.split("&")))


class Fetcher(Protocol):
    """Sends a request and hands the bytes to `parse`.

    `parse` judges the bytes: it returns a value (of length 0 = truly empty) or raises
    `PayloadError`, `Refused` (a block page), `Transient` (a busy message) or `Permanent`. The fetcher
    retries `Transient`, reports to the gate, and records every response with its outcome.
    """

    def call(self, request: Request, parse: Callable[[bytes], T]) -> T: ...


Sites = Mapping[str, Site]
