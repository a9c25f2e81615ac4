"""What a trace consists of: spans, and the tracer that makes them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol

Kind = Literal["internal", "server", "client", "consumer"]
Attributes = Mapping[str, str | int | float | bool | None]


class Span(Protocol):
    """One timed step. Texts are masked as those of the log are; None is left out."""

    def set(self, attributes: Attributes) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, reason: str) -> None:
        """Mark the step as failed where no exception says so."""
        ...


class Tracer(Protocol):
    """What `configure` puts in the place of no tracing; implemented in `trace_export`."""

    def span(
        self, name: str, kind: Kind, attributes: Attributes, parent: str | None
    ) -> AbstractContextManager[Span]: ...

    def finished(
        self, name: str, kind: Kind, seconds: float, attributes: Attributes, failure: str | None
    ) -> None: ...

    def traceparent(self) -> str | None: ...
