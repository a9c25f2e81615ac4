"""After the session: the moment that a quote bears at each site, and the trades at the closing price.

A site stamps each security on its own, some time after the close; that stamp stays until the next session.
"""

from datetime import date, datetime, time, timedelta

from simulated_market.world.model import PRICE_UNIT, Quote, Security

CLOSE, END = time(15, 0), time(15, 30)
FOR_ALL = date(2026, 7, 6)
"""From this day on all A shares and ETFs have the session of 15:05 to 15:30; some boards had it before."""
_BOARDS = frozenset({"star", "gem"})
_KINDS = frozenset({"stock", "etf"})
_PART = 3300
"""One share in so many of the day's volume changes hands there."""


def stamp(quote: Quote, now: datetime, begin: time, spread_s: int) -> datetime:
    """`quote.time` while the session runs, then `now` until the security's own moment, which is `begin` and
    up to `spread_s` seconds."""
    if quote.time.time() < CLOSE:
        return quote.time
    own = datetime.combine(quote.time.date(), begin) + timedelta(seconds=_own(quote.security) % spread_s)
    return min(own, now.replace(microsecond=0))


def traded(security: Security, quote: Quote, now: datetime) -> tuple[int, float]:
    """Shares and CNY of the trades after hours, which the day's figures contain; none before they end."""
    day = quote.time.date()
    allowed = security.kind in _KINDS and (security.board in _BOARDS or day >= FOR_ALL)
    if not allowed or quote.suspended or now < datetime.combine(day, END):
        return 0, 0.0
    shares = quote.volume // _PART // 100 * 100
    return shares, round(shares * quote.price / PRICE_UNIT, 2)


def _own(security: Security) -> int:
    """A number of the security's own that has nothing to do with its neighbours'."""
    return int("".join(one for one in security.code if one.isdigit()) or "0") * 7919 // 13
