"""The keys of one provider, used in turn; a key that failed rests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

REST_S = 30.0
"""Seconds that a key rests after a failure (specification, AI limits)."""


@dataclass(eq=False)
class Key:
    """`refused`: it rests because the provider does not accept it."""

    value: str = field(repr=False)
    rests_until: float = 0.0
    refused: bool = False
    turn: int = 0


class KeyPool:
    """`monotonic`: machine time in seconds. Without keys the pool hands out an empty one, for servers that
    ask for none."""

    def __init__(self, values: Sequence[str], monotonic: Callable[[], float]) -> None:
        self._keys = [Key(value) for value in (values or [""])]
        self._monotonic = monotonic
        self._turns = 0

    def take(self) -> Key | None:
        """The key that was taken least recently of those that do not rest. Where all rest after passing
        failures, the one that has rested longest; None where the provider has refused every one of them."""
        now = self._monotonic()
        awake = [key for key in self._keys if key.rests_until <= now]
        tired = [key for key in self._keys if not key.refused]
        if awake:
            chosen = min(awake, key=lambda key: key.turn)
        elif tired:
            chosen = min(tired, key=lambda key: key.rests_until)
        else:
            return None
        self._turns += 1
        chosen.turn = self._turns
        return chosen

    @property
    def awake(self) -> bool:
        """Whether any key does not rest."""
        return any(key.rests_until <= self._monotonic() for key in self._keys)

    @property
    def seconds_left(self) -> float:
        """Seconds until the first key has rested."""
        return max(0.0, min(key.rests_until for key in self._keys) - self._monotonic())

    def failed(self, key: Key, *, refused: bool = False, seconds: float = REST_S) -> None:
        key.rests_until = self._monotonic() + seconds
        key.refused = refused

    def succeeded(self, key: Key) -> None:
        key.rests_until = 0.0
        key.refused = False
