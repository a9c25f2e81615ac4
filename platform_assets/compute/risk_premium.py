"""Equity risk premium: what an index earns for its price, above the yield of government bonds. Pure."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date
from statistics import fmean, pstdev
from typing import Any

STANDS_FOR = 15
"""Days for which a yield is used: the longest holidays of the bond market, and some."""

Point = tuple[str, float]


def premiums(earnings: Sequence[Point], yields: Sequence[Point]) -> list[dict[str, Any]]:
    """{date, pe, earnings_yield_pct, bond_10y_pct, erp_pct} for each date with a PE above zero and a yield
    of that date or of at most `STANDS_FOR` days before; oldest first. Both inputs are (ISO date, number),
    oldest first; never a yield of a later date."""
    days = [day for day, _ in yields]
    found = []
    for day, pe in earnings:
        at = bisect_right(days, day) - 1
        if at < 0 or not math.isfinite(pe) or pe <= 0:
            continue
        bond_day, bond = yields[at]
        if (date.fromisoformat(day) - date.fromisoformat(bond_day)).days > STANDS_FOR:
            continue
        earned = 100 / pe
        found.append(
            {
                "date": day,
                "pe": pe,
                "earnings_yield_pct": round(earned, 4),
                "bond_10y_pct": bond,
                "erp_pct": round(earned - bond, 4),
            }
        )
    return found


def position_of_newest(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{percentile_pct, band{mean, plus1, minus1}} of the newest premium among all of them: the share that
    is not above it, and one standard deviation around the mean. Without rows: None everywhere."""
    values = [float(row["erp_pct"]) for row in rows]
    if not values:
        return {"percentile_pct": None, "band": {"mean": None, "plus1": None, "minus1": None}}
    mean, spread = fmean(values), pstdev(values)
    share = sum(value <= values[-1] for value in values) / len(values) * 100
    band = {"mean": mean, "plus1": mean + spread, "minus1": mean - spread}
    return {
        "percentile_pct": round(share, 2),
        "band": {name: round(value, 4) for name, value in band.items()},
    }
