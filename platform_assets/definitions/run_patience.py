"""Which runs wait for upstreams that cool down, and for how long all in all."""

from collections.abc import Iterator
from contextlib import contextmanager

from resources.transport.patience import Patience, patient

BACKFILL = "backfill"
"""The trigger of runs for many dates: waiting costs them less than giving up what falls into the pause."""
PATIENCE_S = 150.0
"""Longer than the portal's breaker stays open (120 s)."""

_of_run: dict[str, Patience] = {}


@contextmanager
def patience_for(trigger: str, run_id: str) -> Iterator[None]:
    """The steps of one run in this process share its patience; other runs have none."""
    if trigger != BACKFILL:
        yield
        return
    if run_id not in _of_run:
        _of_run.clear()  # a process executes one run at a time
        _of_run[run_id] = Patience(PATIENCE_S)
    with patient(_of_run[run_id]):
        yield
