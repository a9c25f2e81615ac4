"""How a server shows that it serves a kind of call: an answer with rows about something that always has some.

Many servers accept the connection, answer lists, and answer every call of another kind with two zero bytes.
That is no list without rows: only a server that serves the kind can say that it has nothing.
"""

import threading
import time
from collections.abc import Callable, Mapping

from core.errors import Transient
from resources.upstreams.tdx.bars import PERIODS, bars_call
from resources.upstreams.tdx.catalogue import count_call
from resources.upstreams.tdx.files import FILE_META, meta_call
from resources.upstreams.tdx.frames import Call, Kind
from resources.upstreams.tdx.instruments import MARKET_BYTES, instrument
from resources.upstreams.tdx.minutes import history_call
from resources.upstreams.tdx.quotes import quotes_call
from resources.upstreams.tdx.renames import PACKAGE

NOTHING = b"\0\0"
_NO_SIZE = b"\0\0\0\0"
REMEMBERED_S = 3600.0
"""How long a call that brought rows may prove another one. Today's calls have none before the session."""
_INDEX = "sh000001"

Exchange = Callable[[Call], bytes]


class DeadServer(Transient):
    """A server that greets and answers calls of this kind with nothing."""


def has_rows(call: Call, body: bytes) -> bool:
    """Whether the answer says something about what was asked: no two zero bytes, no file of no size."""
    return body != NOTHING and not (call.method == FILE_META and body[:4] == _NO_SIZE)


class Proofs:
    """Calls that are known to have rows. Safe to share between threads."""

    def __init__(self, past_day: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        """`past_day`: gives a trade date that is over, YYYYMMDD."""
        self._past_day = past_day
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._answered: dict[str, tuple[Call, float]] = {}

    def first_calls(self) -> Mapping[Kind, Call]:
        """A call of each kind that every server of the kind answers with rows."""
        index, day = instrument(_INDEX), self._past_day()
        return {
            Kind.LISTS: count_call(MARKET_BYTES["sh"], day),
            Kind.BARS: bars_call(index, PERIODS["day"], 0, 1),
            Kind.QUOTES: quotes_call([index], levels=5),
            Kind.TRANSACTIONS: history_call(index, day),
            Kind.FILES: meta_call(PACKAGE),
        }

    def remember(self, call: Call) -> None:
        """This call has just brought rows."""
        with self._lock:
            self._answered[call.name] = call, self._monotonic()

    def certain(self, call: Call, exchange: Exchange, host: str) -> bool:
        """Whether an answer without rows means that there is nothing: the same call brings rows for another
        security. False when no such call is known, and the server proves the kind by its first call; for a
        file always, since servers have different ones. DeadServer when it cannot prove its kind."""
        with self._lock:
            known, at = self._answered.get(call.name, (None, 0.0))
        fresh = known is not None and self._monotonic() - at <= REMEMBERED_S
        proof = known if known is not None and fresh else self.first_calls()[call.kind]
        if exchange(proof) == NOTHING:
            raise DeadServer(f"{host}: answers {call.kind} without data", source=call.name)
        return fresh and call.method != FILE_META
