"""Transactions that are tried again after a deadlock.

InnoDB may reach one row through different indexes: an UPDATE that looks it up by `run_id IS NULL` locks the
index first and the row then, one that looks it up by its key the other way round. It ends one of the two, and
leaves it to the caller to try that one again.
"""

import functools
import random
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from core.clock import real_sleep
from core.errors import Deadlock

TRIES = 5
_PAUSE_S = 0.02
"""At most, before the first repetition; it doubles with each. By chance, or both meet again."""


P = ParamSpec("P")
T = TypeVar("T")


def tried_again(change: Callable[P, T]) -> Callable[P, T]:
    """`change`, a function that is one transaction of its own, called again after a deadlock. It raises
    Deadlock when all tries ended so."""

    @functools.wraps(change)
    def until_it_holds(*args: P.args, **kwargs: P.kwargs) -> T:
        for done in range(1, TRIES):
            try:
                return change(*args, **kwargs)
            except Deadlock:
                real_sleep(random.uniform(0, _PAUSE_S * 2**done))
        return change(*args, **kwargs)

    return until_it_holds
