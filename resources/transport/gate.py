"""The interface that admits every outgoing call: pacing, budget, breaker, host cooldown.

`Gate` is the interface that clients are given; implementations keep the state in memory (tests), in a file
that all processes of a machine share, or in the warehouse's database, where all machines share it.
"""

from typing import Protocol, runtime_checkable

from core.errors import PlatformError


class Gate(Protocol):
    """Admits a call before it is sent and records afterwards how it ended."""

    def enter(self, family: str, host: str) -> None:
        """Wait for the family's turn. Raises `Unavailable` (nothing is sent) when the breaker is
        open, the host cools down or the call budget of this piece of work is used up."""
        ...

    def succeeded(self, family: str, host: str) -> None: ...

    def failed(self, family: str, host: str, error: PlatformError) -> None: ...


@runtime_checkable
class CountsRetries(Protocol):
    """A gate that also counts retries."""

    def retried(self, family: str) -> None: ...


@runtime_checkable
class KnowsReadiness(Protocol):
    """A gate that can report in advance whether it would refuse a call."""

    def ready(self, family: str, host: str) -> bool: ...


class OpenGate:
    """Lets everything pass at once. For tests of parsers and for replay from files."""

    def enter(self, family: str, host: str) -> None:
        return None

    def succeeded(self, family: str, host: str) -> None:
        return None

    def failed(self, family: str, host: str, error: PlatformError) -> None:
        return None
