"""Sums over reviewed leaders. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from platform_assets.compute.parameters.dragon import GRADES, LOWEST_GRADE

Row = Mapping[str, Any]
DIMENSIONS = ("height", "seal", "theme", "capital", "structure")


def scores_of(row: Row) -> dict[str, Any]:
    """`total_score` and `scores`, points to two decimals."""
    parts = {name: _round(row[f"score_{name}"], 2) for name in DIMENSIONS}
    return {"total_score": _round(row["total_score"], 2), "scores": parts}


def statistics(rows: Sequence[Row]) -> dict[str, Any]:
    """A leader is reviewed when its five trade dates are over; it won when it then stood higher."""
    after = _known(rows, "d5_change_pct")
    return {
        "picks": len(rows),
        "reviewed": len(after),
        "win_rate_pct": _won(after),
        "avg_next_pct": _mean(_known(rows, "next_change_pct")),
        "avg_d3_pct": _mean(_known(rows, "d3_change_pct")),
        "avg_d5_pct": _mean(after),
    }


def by_grade(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The grades that occur, the best first."""
    told = []
    for grade in (*(name for _, name in GRADES), LOWEST_GRADE):
        own = [row for row in rows if row["grade"] == grade]
        if own:
            after = _known(own, "d5_change_pct")
            told.append(
                {
                    "grade": grade,
                    "picks": len(own),
                    "win_rate_pct": _won(after),
                    "avg_d5_pct": _mean(after),
                }
            )
    return told


def curve(
    boards: Sequence[tuple[str, int, float | None]],
    index: Mapping[str, float],
    after: Mapping[str, str | None],
) -> dict[str, Any]:
    """{items[{date, picks, avg_next_pct, cum_pct, index_cum_pct}], max_drawdown_pct}: mean changes of the
    boards on the trade dates after, one after the other, beside those of the index on the same dates.
    `after`: date -> the trade date after. A date whose next session is not over leaves the curve where it is.
    """
    items, value, broad, highest, deepest = [], 1.0, 1.0, 1.0, 0.0
    for day, picks, mean in boards:
        if mean is not None:
            value *= 1 + mean / 100
            broad *= 1 + index.get(after.get(day) or "", 0.0) / 100
        highest = max(highest, value)
        deepest = max(deepest, 1 - value / highest)
        items.append(
            {
                "date": day,
                "picks": picks,
                "avg_next_pct": _round(mean),
                "cum_pct": _round((value - 1) * 100),
                "index_cum_pct": _round((broad - 1) * 100),
            }
        )
    return {"items": items, "max_drawdown_pct": _round(deepest * 100) if items else None}


def _known(rows: Sequence[Row], column: str) -> list[float]:
    return [row[column] for row in rows if row[column] is not None]


def _mean(values: Sequence[float]) -> float | None:
    return _round(sum(values) / len(values)) if values else None


def _won(values: Sequence[float]) -> float | None:
    return _round(sum(value > 0 for value in values) / len(values) * 100) if values else None


def _round(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
