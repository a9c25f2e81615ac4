"""From one request to one answer: reads the payload, names the call, takes its fault, renders the body."""

import struct
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from core.clock import Clock
from resources.simulated_market.false_facts import FIGURE_CORRUPTIONS, with_figures
from resources.simulated_market.faults import Fault, FaultPlan
from resources.simulated_market.tdx import (
    auction,
    bars,
    corporate,
    directory,
    encoding,
    files,
    intraday,
    quotes,
)
from resources.simulated_market.tdx.encoding import NO_DATA
from resources.simulated_market.tdx.state import MARKETS, RequestView
from resources.simulated_market.world.model import Security, World

UPSTREAM = "tdx"
#: Faults that change what is said; all others concern how the bytes travel and are the server's.
CONTENT_FAULTS = frozenset(
    {
        "cut_list",
        "lots_for_shares",
        "wrong_instrument",
        "stale_day",
        "double_rows",
        "negative_price",
        "swap_open_close",
        "override_bar",
    }
)
_GREETINGS = frozenset({"hello", "hello2", "heartbeat"})

Render = Callable[[RequestView], bytes]


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

    def __init__(self, world: World, clock: Clock, faults: FaultPlan, *, quote_head: bool = True) -> None:
        """`quote_head` chooses the layout of 0x051d: today's (True) or the one up to about 2019."""
        self._world = world
        self._clock = clock
        self._faults = faults
        self._quote_head = quote_head
        self._files = files.Files()
        self._calls: Counter[str] = Counter()
        self._calls_lock = threading.Lock()

    def calls(self) -> dict[str, int]:
        """Requests that were understood, by call."""
        with self._calls_lock:
            return dict(self._calls)

    def answer(self, method: int, payload: bytes) -> Answer:
        """BadRequest when the payload does not fit the method."""
        reader = _METHODS.get(method)
        if reader is None:
            return Answer("unknown", NO_DATA, None)
        view = RequestView(self._world, self._clock.now())
        try:
            name, render = reader(self, view, payload)
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise BadRequest(f"method {method:#06x}: {error}") from error
        with self._calls_lock:
            self._calls[name] += 1
        fault = self._faults.take(UPSTREAM, name)
        if fault is not None and fault.kind in FIGURE_CORRUPTIONS:
            view, fault = RequestView(with_figures(view.world, fault), view.now), None
        elif fault is not None and fault.kind in CONTENT_FAULTS:
            view, fault = RequestView(view.world, view.now, fault), None
            if view.has("stale_day"):
                view = view.day_before()
        elif fault is not None and fault.kind == "dead":
            return Answer(name, render(view) if name in _GREETINGS else NO_DATA, None)
        return Answer(name, render(view), fault)

    # Each reader takes (view, payload) and returns the call's name and how to render it.

    def _hello(self, _view: RequestView, _payload: bytes) -> tuple[str, Render]:
        return "hello", lambda view: encoding.hello(view.now)

    def _hello_2(self, _view: RequestView, _payload: bytes) -> tuple[str, Render]:
        return "hello2", lambda _: encoding.hello_2()

    def _heartbeat(self, _view: RequestView, _payload: bytes) -> tuple[str, Render]:
        return "heartbeat", lambda view: encoding.heartbeat(view.now)

    def _server_info(self, _view: RequestView, _payload: bytes) -> tuple[str, Render]:
        return "server_info", lambda view: encoding.server_info(view.now)

    def _count(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, _date = struct.unpack("<HI", payload)
        return "count", lambda view: directory.count(view, market)

    def _list(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, start = struct.unpack("<HH", payload)
        return "list", lambda view: directory.page(view, market, start, directory.PAGE, new=False)

    def _list_new(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, start, count, _zero = struct.unpack("<HIII", payload)
        limit = min(count, directory.PAGE_NEW)
        return "list_new", lambda view: directory.page(view, market, start, limit, new=True)

    def _quotes(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        asked = _securities(payload)
        return "quotes", lambda view: quotes.render(view, asked, levels=5)

    def _snapshots(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        asked = _securities(payload)
        return "snapshots", lambda view: quotes.render(view, asked, levels=1)

    def _bars(self, view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, category, _one, start, count, *_zeros = struct.unpack("<H6sHHHHIIH", payload)
        return self._any_bars(view, (market, code, category, start, count), absolute=False)

    def _bars_absolute(self, view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, category, _one, start, count, _adjust, _zeros = struct.unpack("<H6sHHHHH8s", payload)
        return self._any_bars(view, (market, code, category, start, count), absolute=True)

    def _any_bars(
        self, view: RequestView, ask: tuple[int, bytes, int, int, int], *, absolute: bool
    ) -> tuple[str, Render]:
        market, raw_code, category, start, count = ask
        code = raw_code.decode("ascii")
        period = bars.CATEGORIES[category][0]
        asked = view.security(market, code)
        index = asked is not None and asked.kind == "index"
        name = f"bars_absolute_{period}" if absolute else f"{'index_' if index else ''}bars_{period}"

        def render(view: RequestView) -> bytes:
            security = view.security(market, code)
            if security is None:
                return NO_DATA
            return bars.render(view, security, category, start, count, absolute=absolute)

        return name, render

    def _minutes(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, _zero = struct.unpack("<H6sI", payload)
        return "minutes", _about(
            market,
            code,
            lambda view, one: intraday.minutes_today(view, market, one, quote_head=self._quote_head),
        )

    def _minutes_new(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, _start, _count = struct.unpack("<H6sHH", payload)
        return "minutes_new", _about(market, code, intraday.averages_today)

    def _history_minutes(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        date, market, code = struct.unpack("<IB6s", payload)
        return "history_minutes", _about(market, code, lambda view, one: intraday.minutes_of(view, one, date))

    def _transactions(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, start, count = struct.unpack("<H6sHH", payload)
        return "transactions", _about(
            market,
            code,
            lambda view, one: intraday.transactions(view, one, None, start=start, count=count, orders=True),
        )

    def _history_transactions(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        return "history_transactions", _history(payload, orders=False)

    def _history_orders(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        return "history_orders", _history(payload, orders=True)

    def _auction(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, *_rest = struct.unpack("<H6sIIIII", payload)
        return "auction", _about(market, code, auction.auction)

    def _xdxr(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        _one, market, code = struct.unpack("<HB6s", payload)
        return "xdxr", _about(market, code, lambda view, one: corporate.xdxr(view, market, one))

    def _finance(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        _one, market, code = struct.unpack("<HB6s", payload)
        return "finance", _about(market, code, lambda view, one: corporate.finance(view, market, one))

    def _sections(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, _zero = struct.unpack("<H6sI", payload)
        return "company_sections", _about(market, code, corporate.sections)

    def _text(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        market, code, _zero, raw_name, start, length, _end = struct.unpack("<H6sH80sIII", payload)
        name = _name(raw_name)
        return "company_text", _about(
            market,
            code,
            lambda view, one: corporate.text(
                view, one, market=market, file_name=name, start=start, length=length
            ),
        )

    def _file_meta(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        name = _name(struct.unpack("<40s", payload)[0])
        return "file_meta", lambda view: self._files.meta(view, name)

    def _file_content(self, _view: RequestView, payload: bytes) -> tuple[str, Render]:
        # Clients pad the name to 100 or to 300 bytes.
        start, size = struct.unpack_from("<II", payload)
        name = _name(payload[8:])
        return "file_content", lambda view: self._files.chunk(view, name, start, size)


def _about(market: int, raw_code: bytes, render: Callable[[RequestView, Security], bytes]) -> Render:
    """Renders the answer about one security; `0000` when the server does not know it."""
    code = raw_code.decode("ascii")

    def run(view: RequestView) -> bytes:
        security = view.security(market, code)
        return NO_DATA if security is None else render(view, security)

    return run


def _history(payload: bytes, *, orders: bool) -> Render:
    date, market, code, start, count = struct.unpack("<IH6sHH", payload)
    return _about(
        market,
        code,
        lambda view, one: intraday.transactions(view, one, date, start=start, count=count, orders=orders),
    )


def _securities(payload: bytes) -> list[tuple[int, str]]:
    (count,) = struct.unpack_from("<H", payload, 8)
    pairs = [struct.unpack_from("<B6s", payload, 10 + 7 * at) for at in range(count)]
    if any(market >= len(MARKETS) for market, _ in pairs):
        raise KeyError("market")
    return [(market, code.decode("ascii")) for market, code in pairs]


def _name(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("gb18030")


_METHODS: dict[int, Callable[[Responder, RequestView, bytes], tuple[str, Render]]] = {
    0x000D: Responder._hello,
    0x0FDB: Responder._hello_2,
    0x0004: Responder._heartbeat,
    0x0015: Responder._server_info,
    0x044E: Responder._count,
    0x0450: Responder._list,
    0x044D: Responder._list_new,
    0x053E: Responder._quotes,
    0x054C: Responder._snapshots,
    0x052D: Responder._bars,
    0x0523: Responder._bars_absolute,
    0x051D: Responder._minutes,
    0x0537: Responder._minutes_new,
    0x0FB4: Responder._history_minutes,
    0x0FC5: Responder._transactions,
    0x0FB5: Responder._history_transactions,
    0x0FC6: Responder._history_orders,
    0x056A: Responder._auction,
    0x000F: Responder._xdxr,
    0x0010: Responder._finance,
    0x02CF: Responder._sections,
    0x02D0: Responder._text,
    0x02C5: Responder._file_meta,
    0x06B9: Responder._file_content,
}
