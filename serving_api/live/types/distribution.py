"""How many stocks rise, fall, are unchanged or at a limit, and the size of their changes."""

from collections.abc import Sequence

from serving_api.db.sessions import Session
from serving_api.live.data_types import Body, DataType, ReadContext, of_scan_sources
from serving_api.live.movers import Mover, count, of_scan, of_wide
from serving_api.live.queries import WIDE, wide_rows

FALLING, RISING = (-7.0, -5.0, -3.0), (3.0, 5.0, 7.0)
RANGES = ("<-7", "-7~-5", "-5~-3", "-3~0", "0", "0~3", "3~5", "5~7", ">7")
_COUNTS = ("up", "flat", "down", "limit_up", "limit_down", "total", "suspended")


def range_of(change_pct: float) -> str:
    """The bucket of a change in percent: a falling one belongs to the range that begins at it (-5 is in
    -5~-3), a rising one to the range that ends at it (5 is in 3~5)."""
    if change_pct == 0:
        return "0"
    if change_pct < 0:
        return RANGES[sum(change_pct >= edge for edge in FALLING)]
    return RANGES[5 + sum(change_pct > edge for edge in RISING)]


def distribution(movers: Sequence[Mover]) -> Body:
    """Counts and buckets of all stocks; changes are first rounded to two decimals, as they are shown."""
    buckets = dict.fromkeys(RANGES, 0)
    for mover in movers:
        if mover.change_pct is not None:
            buckets[range_of(round(mover.change_pct, 2))] += 1
    counts = count(movers)
    return {
        **{name: getattr(counts, name) for name in _COUNTS},
        "buckets": [{"range": name, "count": number} for name, number in buckets.items()],
    }


def _scanned(upstream: str, context: ReadContext) -> Body:
    return distribution(of_scan(context.scan(upstream), context.session, context.calendar))


def _stored(session: Session, day: str) -> Body:
    return distribution(of_wide(wide_rows(session, day)))


DATA_TYPE = DataType(
    name="distribution",
    ttl_s=10,
    sources=of_scan_sources(_scanned),
    is_valid=lambda body: any(body.get(name) for name in ("up", "down", "flat")),
    empty=lambda: {**dict.fromkeys(_COUNTS), "buckets": []},
    stored=((WIDE, _stored),),
)
