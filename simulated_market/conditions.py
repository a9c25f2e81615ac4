"""Standing conditions: what the simulated upstreams are like at all times, by the state of the market.

Fault rules come on top: a request that a rule hits has the rule's fault and no condition. What the world
itself contains in a state (securities, events) is in `world/autumn.py`.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from simulated_market.faults import Fault
from simulated_market.wire import HttpRequest
from simulated_market.world.built import AUTUMN_2026, CALM
from simulated_market.world.dates import number_of
from simulated_market.world.model import World

Served = frozenset[str] | None
"""Calls that a terminal server serves, None = all; every other one is answered by two zero bytes."""

LISTS = frozenset({"count", "list", "list_new", "xdxr", "finance", "company_sections", "company_text"})
FILES = frozenset({"file_meta", "file_content"})
_TERMINAL: dict[str, tuple[Served, ...]] = {AUTUMN_2026: (LISTS, LISTS, FILES, None)}

HISTORY_CALLS = frozenset({"kline", "fflow_day", "trends2"})
"""Calls of the portal's history hosts."""
HISTORY_LIMIT = 10
AWAY_S = 300.0
"""Seconds for which the history hosts reset every connection of a visitor after that many calls."""
_SELDOM = 3
"""Every third request has the error page of an exchange, or a stale object of a cache."""
_UNTIDY = 40
"""One row of a report in so many is there twice; as many have an empty field."""
_BEIJING = re.compile(r"\bbj\d{6}")
CZCE_ERROR_PAGE = (
    "<!DOCTYPE html><html><head><meta charset='utf-8'><title>访问出错</title></head>"
    "<body><h2>您的访问出错了</h2><p>请稍后再试</p></body></html>"
)


def state_of(world: World) -> str:
    """The state of a world; one that has none is calm."""
    return getattr(world, "state", CALM)


def terminal_servers(state: str) -> Sequence[Served]:
    """What each server of the terminal protocol serves, in the order of their addresses."""
    return _TERMINAL.get(state, (None,))


class Conditions:
    """The conditions of one server's upstreams. Thread-safe."""

    def __init__(self, state: str, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._away: dict[str, float] = {}
        self._rules = self._autumn_rules() if state == AUTUMN_2026 else {}

    def fault(self, upstream: str, call: str, request: HttpRequest, now: datetime) -> Fault | None:
        """What is wrong with the answer to this request; None where nothing is."""
        rule = self._rules.get((upstream, call))
        return rule(request, now) if rule is not None else None

    def _autumn_rules(self) -> dict[tuple[str, str], Callable[[HttpRequest, datetime], Fault | None]]:
        return {
            **{("eastmoney", call): self._history for call in HISTORY_CALLS},
            **{("csindex", call): self._stale(call) for call in ("indicator", "closeweight")},
            **{("tencent", call): _tencent_bars for call in ("bars", "bars_short")},
            ("czce", "daily"): self._error_page,
            ("eastmoney", "report"): _untidy,
        }

    def _history(self, request: HttpRequest, now: datetime) -> Fault | None:
        """Ten answers a cookie, then resets for a while."""
        visitor, moment = request.headers.get("cookie", ""), self._elapsed()
        with self._lock:
            if moment < self._away.get(visitor, 0.0):
                return Fault("reset")
            self._counts["history", visitor] += 1
            if self._counts["history", visitor] <= HISTORY_LIMIT:
                return None
            self._counts["history", visitor] = 0
            self._away[visitor] = moment + AWAY_S
        return Fault("reset")

    def _seldom(self, name: str, key: str) -> bool:
        with self._lock:
            self._counts[name, key] += 1
            return self._counts[name, key] % _SELDOM == 0

    def _error_page(self, request: HttpRequest, now: datetime) -> Fault | None:
        hit = self._seldom("czce", "")
        return Fault("status", {"code": 200, "body": CZCE_ERROR_PAGE}) if hit else None

    def _stale(self, call: str) -> Callable[[HttpRequest, datetime], Fault | None]:
        def rule(request: HttpRequest, now: datetime) -> Fault | None:
            return Fault("stale_day", {"cached": True}) if self._seldom(call, request.path) else None

        return rule


def _tencent_bars(request: HttpRequest, now: datetime) -> Fault | None:
    """The bars of `web.ifzq` are off; those of `proxy.finance`, below `/ifzqgtimg`, have no Beijing codes."""
    if not request.path.startswith("/ifzqgtimg"):
        return Fault("status", {"code": 501})
    return Fault("no_series") if _BEIJING.search(request.query) else None


def _untidy(request: HttpRequest, now: datetime) -> Fault | None:
    return Fault("untidy_rows", {"every": _UNTIDY, "day": number_of(now)})
