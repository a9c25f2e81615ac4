"""The interface that admits every outgoing call: pacing, budget, breaker, host cooldown.

`Gate` is the interface that clients are given; implementations keep the state in memory (tests), in a file
that all processes of a machine share, or in the warehouse's database, where all machines share it.
"""

from typing import Protocol

from core.errors import PlatformError


class Gate(Protocol):
    """Admits a call before it is sent and records afterwards how it ended."""

    def enter(self, family: str, host: str) -> None:
        """Wait for the family's turn. Raises `Unavailable` (nothing is sent) when the breaker is
        open, the host cools down or the call budget of this piece of work is used up."""
        ...

    def succeeded(self, family: str, host: str) -> None: ...

    def failed(self, family: str, host: str, error: PlatformError) -> None: ...


class OpenGate:
    """Lets everything pass at once. For tests of parsers and for replay from files."""

    def enter(self, family: str, host: str) -> None:
        return None

    def succeeded(self, family: str, host: str) -> None:
        return None

    def failed(self, family: str, host: str, error: PlatformError) -> None:
        return None
