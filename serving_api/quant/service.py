"""Combined reads of the daily calculations."""

from collections.abc import Sequence

import numpy as np

from platform_assets.compute.studies import obv
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row
from serving_api.quant import queries


def indicators(session: Session, code: str, days: int, until: str | None, fields: Sequence[str]) -> list[Row]:
    """Stored indicators of a code, `obv` on one scale."""
    items = queries.of_code(session, queries.INDICATORS, code, days, until, fields)
    return _with_continued_obv(session, code, items)


def _with_continued_obv(session: Session, code: str, items: list[Row]) -> list[Row]:
    """Rows whose `obv` continues from that of the oldest of them, bar by bar: stored values each start at
    a first bar of their own."""
    known = [item for item in items if item.get("obv") is not None]
    if len(known) < 2:
        return items
    bars = queries.traded(session, code, str(known[0]["date"]), str(known[-1]["date"]))
    days = [day for day, _, _ in bars]
    gained = obv(np.array([close for _, close, _ in bars]), np.array([volume for *_, volume in bars]))
    since = {day: known[0]["obv"] + gain for day, gain in zip(days, gained.tolist(), strict=True)}
    return [
        item if item.get("obv") is None else {**item, "obv": since.get(str(item["date"]))} for item in items
    ]
