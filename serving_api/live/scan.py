"""Quotes of all A shares at one moment: the basis of the live market reads.

One scan serves all data types within its time to live, over all threads and API processes.
"""

import base64
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from anyio import from_thread

from core.declaration.dataset import MIN_COVERAGE
from core.errors import PayloadError, Unavailable
from core.market.securities import sec_type_of
from serving_api.live.clients import TDX, TENCENT, Answered, LiveClients
from serving_api.live.frame_values import Row, number, positive, records
from serving_api.live.shared_reads import SharedReads
from serving_api.live.single_flight import SingleFlightCache
from serving_api.live.stored_facts import Facts
from serving_api.live.symbols import Listed

WAN = 10_000.0
HALF_TICK = 0.005
BOOKS_PER_CALL = 80
USUAL_STOCKS = 6000
_LEAST_COMPARED, _LEAST_EQUAL = 20, 0.5
"""Of the stocks whose close of the previous session is stored, at least this share must have it as their
last close; the others may have an ex-right."""


@dataclass(frozen=True)
class Traded:
    """One A share at this moment: CNY, shares, cap in 10k CNY. No price = it does not trade today; `high`
    and `main_net` (CNY) are None when the source has none."""

    listed: Listed
    price: float | None
    last_close: float | None
    volume: float
    amount: float
    market_cap: float | None
    high: float | None = None
    main_net: float | None = None

    @property
    def suspended(self) -> bool:
        return not self.price or self.volume <= 0

    @property
    def change_pct(self) -> float | None:
        """Percent, two decimals; None while the stock does not trade."""
        if self.suspended or not self.price or not self.last_close:
            return None
        return round((self.price / self.last_close - 1) * 100, 2)


def _traded(row: Row, listed: Listed, **figures: Any) -> Traded:
    volume, amount = number(row["volume"]) or 0.0, number(row["amount"]) or 0.0
    return Traded(listed, volume=volume, amount=amount, **figures)


def from_terminal(row: Row, listed: Listed) -> Traded:
    price, last_close = positive(row["price"]), positive(row["last_close"])
    known = price or last_close
    cap = known * listed.total_shares / WAN if known and listed.total_shares else None
    live = None if row["suspended"] or row["unknown"] else price
    high = positive(row["high"])
    return _traded(row, listed, price=live, last_close=last_close, market_cap=cap, high=high)


def from_ranking(row: Row, listed: Listed) -> Traded:
    price, moved = positive(row["price"]), number(row["change_amt"])
    last_close = round(price - moved, 4) if price and moved is not None else None
    cap, net = number(row["total_market_cap"]), number(row["main_net"])
    return _traded(row, listed, price=price, last_close=last_close, market_cap=cap, main_net=net)


def from_quote(row: Row, listed: Listed) -> Traded:
    """A quote of given symbols of the quote site."""
    price = None if row["is_suspended"] else positive(row["price"])
    cap, last_close = number(row["total_market_cap"]), positive(row["last_close"])
    high = positive(row["high"])
    return _traded(row, listed, price=price, last_close=last_close, market_cap=cap, high=high)


def by_terminal(clients: LiveClients, facts: Facts) -> list[Traded]:
    """Every listed stock, 80 per call."""
    if not facts.stocks:
        raise Unavailable("the terminal is asked by code, and no list of securities is stored")
    frame = clients.client(TDX).quotes(list(facts.stocks))
    return [from_terminal(row, facts.stocks[row["symbol"]]) for row in records(frame)]


def by_quote_site(clients: LiveClients, facts: Facts) -> list[Traded]:
    """The ranking of all A shares, 200 per call; it also has stocks that are not stored yet."""
    return [
        from_ranking(row, facts.stocks.get(row["symbol"]) or _unlisted(row))
        for row in records(clients.client(TENCENT).rank())
        if sec_type_of(row["code"], row["market"]) == "stock"
    ]


SCANS: Mapping[str, Callable[[LiveClients, Facts], list[Traded]]] = {TDX: by_terminal, TENCENT: by_quote_site}


def pages_of(facts: Facts) -> int:
    """Number of calls of the longest scan."""
    return -(-max(len(facts.stocks), USUAL_STOCKS) // BOOKS_PER_CALL)


def check_scan(rows: Sequence[Traded], facts: Facts) -> None:
    """Raises PayloadError when a scan covers only a part of the market, or another session."""
    if not rows:
        raise PayloadError("an empty list of stocks")
    known = sum(row.listed.symbol in facts.stocks for row in rows)
    if known < MIN_COVERAGE * len(facts.stocks):
        raise PayloadError(f"{known} of {len(facts.stocks)} listed stocks are quoted")
    check_session(rows, facts)


def check_session(rows: Sequence[Traded], facts: Facts) -> None:
    """Raises PayloadError when last closes of quotes are not the stored ones of the previous session."""
    pairs = [
        (row.last_close, close)
        for row in rows
        if row.last_close and (close := facts.closes.get(row.listed.code)) is not None
    ]
    equal = sum(abs(reported - stored) < HALF_TICK for reported, stored in pairs)
    if len(pairs) >= _LEAST_COMPARED and equal < _LEAST_EQUAL * len(pairs):
        raise PayloadError(
            f"quotes are not of {facts.session}: {equal} of {len(pairs)} last closes are those stored"
        )


def _unlisted(row: Row) -> Listed:
    return Listed(symbol=row["symbol"], code=row["code"], name=row["name"])


class MarketScan:
    """Scans of one app, by upstream; called in threads that may block."""

    def __init__(
        self,
        clients: LiveClients,
        monotonic: Callable[[], float],
        ttl: Callable[[], float],
        shared: SharedReads,
    ) -> None:
        """`ttl`: seconds that a scan of this moment is cached. `shared`: scans of other processes."""
        self._shared = shared
        self._clients = clients
        self._ttl = ttl
        self._locks = {upstream: threading.Lock() for upstream in SCANS}
        self._cache: SingleFlightCache[tuple[str, list[Traded], str | None]] = SingleFlightCache(monotonic)
        """(session, its scan, why it is not accepted), by upstream."""

    def take(self, upstream: str, facts: Facts) -> list[Traded]:
        """The scan of an upstream; a cached one, or one that another thread is making, is shared. Raises
        what the client raises, and PayloadError for a scan that cannot be of this market now: it is not
        requested again within its time to live."""
        with self._locks[upstream]:
            cached = self._cache.kept(upstream)
            if cached is None or cached.value[0] != facts.session or not self._cache.is_fresh(cached):
                rows, refused, seconds = self._scanned(upstream, facts)
                cached = self._cache.keep(upstream, (facts.session, rows, refused), seconds)
            _, rows, refused = cached.value
            if refused is not None:
                raise PayloadError(refused)
            return rows

    def _scanned(self, upstream: str, facts: Facts) -> tuple[list[Traded], str | None, float]:
        """(rows, why they are refused, seconds that this holds): the scan of another process that has not
        expired, else one of this process for all of them."""
        name = f"scan {upstream}"
        reported = from_thread.run(self._shared.find_or_claim, name, facts.session)
        if reported is not None:
            rows, refused = unpacked(reported.answer.value, facts)
            return rows, refused, reported.left
        try:
            rows = SCANS[upstream](self._clients, facts)
        except BaseException as error:
            from_thread.run_sync(self._shared.give_up, name, error)
            raise
        refused = None
        try:
            check_scan(rows, facts)
        except PayloadError as error:
            rows, refused = [], error.message
        seconds = self._ttl()
        from_thread.run_sync(
            self._shared.put, name, facts.session, Answered(packed(rows, refused), upstream), seconds
        )
        return rows, refused, seconds


_FIGURES = ("price", "last_close", "volume", "amount", "market_cap", "high", "main_net")


def packed(rows: Sequence[Traded], refused: str | None) -> dict[str, Any]:
    """A scan as JSON: a list per figure, compressed, since a market takes about 400 kB every ten seconds."""
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in _FIGURES}
    columns["symbol"] = [row.listed.symbol for row in rows]
    columns["name"] = [row.listed.name for row in rows]
    return {"refused": refused, "rows": base64.b64encode(zlib.compress(orjson.dumps(columns), 1)).decode()}


def unpacked(body: dict[str, Any], facts: Facts) -> tuple[list[Traded], str | None]:
    """(rows, why they are refused) of `packed`."""
    columns = orjson.loads(zlib.decompress(base64.b64decode(body["rows"])))
    figures = zip(*(columns[name] for name in _FIGURES), strict=True)
    securities = zip(columns["symbol"], columns["name"], strict=True)
    rows = [
        Traded(facts.stocks.get(symbol) or Listed(symbol=symbol, code=symbol[2:], name=name), *values)
        for (symbol, name), values in zip(securities, figures, strict=True)
    ]
    return rows, body["refused"]
