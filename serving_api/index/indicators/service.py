"""The calendar of an index from its bars. Pure."""

from collections.abc import Sequence
from typing import Any


def calendar(bars: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """{items[{date, close, change_percent}], summary}. A month's change compounds the changes of its
    dates; the first month counts only the dates that are shown."""
    items = [
        {"date": bar["date"], "close": bar["close"], "change_percent": bar["change_pct"]} for bar in bars
    ]
    known = [one for one in items if one["change_percent"] is not None]
    ups = sum(one["change_percent"] > 0 for one in known)
    months: dict[str, float] = {}
    for one in known:
        month = one["date"][:7]
        months[month] = months.get(month, 1.0) * (1 + one["change_percent"] / 100)
    best = max(known, key=lambda one: one["change_percent"], default=None)
    worst = min(known, key=lambda one: one["change_percent"], default=None)
    return {
        "items": items,
        "summary": {
            "up_days": ups,
            "down_days": sum(one["change_percent"] < 0 for one in known),
            "best": _day(best),
            "worst": _day(worst),
            "by_month": [
                {"month": month, "change_percent": round((value - 1) * 100, 4)}
                for month, value in months.items()
            ],
            "win_rate_pct": round(ups / len(known) * 100, 4) if known else None,
        },
    }


def _day(one: dict[str, Any] | None) -> dict[str, Any]:
    return {} if one is None else {"date": one["date"], "change_percent": one["change_percent"]}
