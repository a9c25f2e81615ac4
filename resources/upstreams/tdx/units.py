"""Checks the unit of volumes: this protocol uses lots in one call and shares in the next.

Amount divided by volume is an average price, so it must lie between the low and the high. A unit that
is wrong is wrong by 10 (bonds) or 100, far outside; the margin only forgives rounding to whole lots.
"""

import math

from core.errors import PayloadError
from resources.upstreams.tdx.primitives import SOURCE

_MARGIN = 1.5
# Below ten lots the rounding to whole lots alone can move the average beyond the margin.
_MIN_LOTS = 10
# Average price of a share inside an index, CNY; observed between 3 and 60, the unit error is 100.
_INDEX_MEAN_PRICE = 14.0
_INDEX_SPREAD = 20.0
# One broken row in a long history is a row for the quality checks; a tenth of them is a wrong unit.
_TOLERATED_SHARE = 0.1


def contradicts(volume: int, amount: float, low: float, high: float, lot: int) -> bool:
    """Whether `amount` CNY for `volume` shares is impossible at prices between `low` and `high`."""
    if amount <= 0 or low <= 0 or volume < _MIN_LOTS * lot:
        # A volume this small with a large amount is the other unit as well.
        return volume > 0 and high > 0 and amount > _MARGIN * high * _MIN_LOTS * lot
    mean = amount / volume
    return mean < low / _MARGIN or mean > high * _MARGIN


def contradicts_index(volume: int, amount: float) -> bool:
    """The same for an index, whose level says nothing about the price of a share."""
    if volume <= 0 or amount <= 0:
        return False
    mean = amount / volume
    return not _INDEX_MEAN_PRICE / _INDEX_SPREAD < mean < _INDEX_MEAN_PRICE * _INDEX_SPREAD


def index_factor(volume: int, amount: float) -> int:
    """Shares per wire unit of an index quote: lots (100) or 100 lots (10,000), whichever is plausible.

    The wire document gives lots for quotes and 100 lots for day bars; servers are not known to agree
    on the quotes, and the two differ by a factor that the amount decides.
    """
    if volume <= 0 or amount <= 0:
        return 100
    return min((100, 10_000), key=lambda k: abs(math.log(amount / (volume * k) / _INDEX_MEAN_PRICE)))


def require_units(what: str, contradictions: int, rows: int) -> None:
    """PayloadError when so many of `rows` contradict the unit that the body as a whole must be wrong."""
    if contradictions and contradictions > _TOLERATED_SHARE * rows:
        raise PayloadError(
            f"{what}: amount / volume contradicts {contradictions} of {rows} rows (lots or shares?)",
            source=SOURCE,
        )
