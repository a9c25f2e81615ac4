"""Loaded by every Python of `make test-dates`, child processes included.

Exchange time is 18:00 of TEST_DATE at TEST_DATE_SINCE (seconds of the epoch) and goes on from there. Waits,
tokens and leases keep the real time: libfaketime changes that too, and timed waits of Python 3.11 then fail.
"""

import os
from datetime import UTC, datetime

from core.clock import SHANGHAI, SystemClock

_now = SystemClock.now
_begun = datetime.fromtimestamp(float(os.environ["TEST_DATE_SINCE"]), UTC).replace(tzinfo=None) + SHANGHAI
_OFFSET = datetime.fromisoformat(f"{os.environ['TEST_DATE']}T18:00") - _begun


def _shifted(self: SystemClock) -> datetime:
    return _now(self) + _OFFSET


SystemClock.now = _shifted  # type: ignore[method-assign]
