"""From one request to one answer: reads the payload, names the call, takes its fault, renders the body."""

import struct
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.clock import Clock
from simulated_market.conditions import Served
from simulated_market.false_facts import FIGURE_CORRUPTIONS, with_figures
from simulated_market.faults import Fault, FaultPlan
from simulated_market.tdx import (
    auction,
    bars,
    corporate,
    directory,
    encoding,
    files,
    intraday,
    quotes,
)
from simulated_market.tdx.encoding import NO_DATA
from simulated_market.tdx.state import MARKETS, RequestView
from simulated_market.world.model import Security, World

UPSTREAM = "tdx"
#: Faults that change what is said; all others concern how the bytes travel and are the server's.
CONTENT_FAULTS = frozenset(
    {
        "cut_list",
        "lots_for_shares",
        "wrong_instrument",
        "stale_day",
        "late_record",
        "double_rows",
        "negative_price",
        "swap_open_close",
        "override_bar",
    }
)
_CODE_SIZE = 6
_GREETINGS = frozenset({"hello", "hello2", "heartbeat"})

Render = Callable[[RequestView], bytes]
Reader = Callable[[RequestView, bytes], tuple[str, Render]]
"""Takes a view and a payload, returns the call's name and how to render its answer."""


class BadRequest(Exception):
    """The payload does not fit the method; real servers close the connection."""


@dataclass(frozen=True)
class Answer:
    """The body to send, the call's name, and the transport fault to act out on it."""

    name: str
    body: bytes
    fault: Fault | None


class Responder:
    """Answers every call of the method table from a world. Stateless but for built files and counts."""

    def __init__(
        self,
        world: World,
        clock: Clock,
        faults: FaultPlan,
        *,
        quote_head: bool = True,
        server: int = 1,
        served: Served = None,
    ) -> None:
        """`quote_head` chooses the layout of 0x051d: today's (True) or the one up to about 2019. `server`:
        number of the server that answers. `served`: the calls with an answer, None = all."""
        self._world = world
        self._clock = clock
        self._faults = faults
        self._server = server
        self._served = served
        self._methods = _methods(files.Files(), quote_head=quote_head)
        self._calls: Counter[str] = Counter()
        self._calls_lock = threading.Lock()

    def calls(self) -> dict[str, int]:
        """Requests that were understood, by call."""
        with self._calls_lock:
            return dict(self._calls)

    def answer(self, method: int, payload: bytes) -> Answer:
        """BadRequest when the payload does not fit the method."""
        read = self._methods.get(method)
        if read is None:
            return Answer("unknown", NO_DATA, None)
        view = RequestView(self._world, self._clock.now())
        try:
            name, render = read(view, payload)
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise BadRequest(f"method {method:#06x}: {error}") from error
        with self._calls_lock:
            self._calls[name] += 1
        if self._served is not None and name not in self._served | _GREETINGS:
            return Answer(name, NO_DATA, None)
        fault = self._faults.take(UPSTREAM, name, self._server)
        if fault is not None and fault.kind in FIGURE_CORRUPTIONS:
            view, fault = RequestView(with_figures(view.world, fault), view.now), None
        elif fault is not None and fault.kind in CONTENT_FAULTS:
            view, fault = RequestView(view.world, view.now, fault), None
            if view.has("stale_day"):
                view = view.day_before()
        elif fault is not None and fault.kind == "dead":
            return Answer(name, render(view) if name in _GREETINGS else NO_DATA, None)
        return Answer(name, render(view), fault)


def _methods(known: files.Files, *, quote_head: bool) -> dict[int, Reader]:
    """Method -> the reader of its payload. `x` in a layout is a byte that means nothing."""

    def newest_transactions(view: RequestView, one: Security, start: int, count: int) -> bytes:
        return intraday.transactions(view, one, None, start, count, orders=True)

    minutes = partial(intraday.minutes_today, quote_head=quote_head)
    history, orders = (partial(intraday.transactions, orders=shown) for shown in (False, True))
    return {
        0x000D: _general("hello", lambda view: encoding.hello(view.now)),
        0x0FDB: _general("hello2", lambda _: encoding.hello_2()),
        0x0004: _general("heartbeat", lambda view: encoding.heartbeat(view.now)),
        0x0015: _general("server_info", lambda view: encoding.server_info(view.now)),
        0x044E: _parsed("count", "<H4x", directory.count),
        0x0450: _parsed("list", "<HH", partial(directory.page, limit=directory.PAGE, new=False)),
        0x044D: _parsed("list_new", "<HII4x", partial(directory.page, new=True)),
        0x053E: _quotes("quotes", levels=5),
        0x054C: _quotes("snapshots", levels=1),
        0x052D: _bars("<H6sHHHH10x", absolute=False),
        0x0523: _bars("<H6sHHHH10x", absolute=True),
        0x051D: _about("minutes", "<H6s4x", minutes, market=True),
        0x0537: _about("minutes_new", "<H6s4x", intraday.averages_today),
        0x0FB4: _about("history_minutes", "<IB6s", intraday.minutes_of),
        0x0FC5: _about("transactions", "<H6sHH", newest_transactions),
        0x0FB5: _about("history_transactions", "<IH6sHH", history),
        0x0FC6: _about("history_orders", "<IH6sHH", orders),
        0x056A: _about("auction", "<H6s20x", auction.auction),
        0x000F: _about("xdxr", "<2xB6s", corporate.xdxr, market=True),
        0x0010: _about("finance", "<2xB6s", corporate.finance, market=True),
        0x02CF: _about("company_sections", "<H6s4x", corporate.sections),
        0x02D0: _about("company_text", "<H6s2x80sII4x", corporate.text, market=True),
        0x02C5: _parsed("file_meta", "<40s", known.meta),
        0x06B9: partial(_file_content, known),
    }


def _general(name: str, render: Render) -> Reader:
    """A call whose payload says nothing."""
    return lambda _view, _payload: (name, render)


def _parsed(name: str, layout: str, render: Callable[..., bytes]) -> Reader:
    """A call with one layout: `render` gets the view and the values of the payload."""

    def read(_view: RequestView, payload: bytes) -> tuple[str, Render]:
        values = [_text(one) if isinstance(one, bytes) else one for one in struct.unpack(layout, payload)]
        return name, lambda view: render(view, *values)

    return read


def _about(name: str, layout: str, render: Callable[..., bytes], *, market: bool = False) -> Reader:
    """A call about the security whose code is the first text of the layout, behind its market: `render` gets
    the view, the requested `market` where it says so, the security and the other values. `0000` when the
    server does not know it."""

    def of_security(view: RequestView, *values: Any) -> bytes:
        at = next(place for place, one in enumerate(values) if isinstance(one, str))
        security = view.security(values[at - 1], values[at])
        first = values[at - 1 : at] if market else ()
        rest = *values[: at - 1], *values[at + 1 :]
        return NO_DATA if security is None else render(view, *first, security, *rest)

    return _parsed(name, layout, of_security)


def _quotes(name: str, *, levels: int) -> Reader:
    def read(_view: RequestView, payload: bytes) -> tuple[str, Render]:
        return name, partial(quotes.render, asked=_securities(payload), levels=levels)

    return read


def _bars(layout: str, *, absolute: bool) -> Reader:
    def read(view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, raw_code, category, times, *which = struct.unpack(layout, payload)
        code = raw_code.decode("ascii")
        period = bars.CATEGORIES[category][0]
        asked = view.security(market, code)
        index = asked is not None and asked.kind == "index"
        name = f"bars_absolute_{period}" if absolute else f"{'index_' if index else ''}bars_{period}"

        def render(view: RequestView) -> bytes:
            found = view.security(market, code)
            # Some servers answer only where the number behind the category is 1, as all clients send it.
            if found is None or times != 1:
                return NO_DATA
            return bars.render(view, found, category, *which, absolute=absolute)

        return name, render

    return read


def _file_content(known: files.Files, _view: RequestView, payload: bytes) -> tuple[str, Render]:
    # Clients pad the name to 100 or to 300 bytes.
    start, size = struct.unpack_from("<II", payload)
    name = payload[8:].split(b"\0", 1)[0].decode("gb18030")
    return "file_content", lambda view: known.chunk(view, name, start, size)


def _securities(payload: bytes) -> list[tuple[int, str]]:
    (count,) = struct.unpack_from("<H", payload, 8)
    pairs = [struct.unpack_from("<B6s", payload, 10 + 7 * at) for at in range(count)]
    if any(market >= len(MARKETS) for market, _ in pairs):
        raise KeyError("market")
    return [(market, code.decode("ascii")) for market, code in pairs]


def _text(raw: bytes) -> str:
    """A code of six digits, or a name up to its first zero byte."""
    return raw.decode("ascii") if len(raw) == _CODE_SIZE else raw.split(b"\0", 1)[0].decode("gb18030")
