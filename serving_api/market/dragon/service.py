"""Statistics of reviewed leaders. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from platform_assets.compute.parameters.dragon import DIMENSIONS, GRADES, LOWEST_GRADE
from serving_api.market.dragon.queries import Fared

Row = Mapping[str, Any]


def scores_of(row: Row) -> dict[str, Any]:
    """`total_score` and `scores`, points to two decimals."""
    parts = {name: shown(row[f"score_{name}"]) for name in DIMENSIONS}
    return {"total_score": shown(row["total_score"]), "scores": parts}


def shown(points: float | None) -> float | None:
    """Points as responses show them."""
    return _round(points, 2)


def statistics(groups: Sequence[Fared]) -> dict[str, Any]:
    """Statistics over all grades. A leader is reviewed when its five trade dates are over; it won when its
    price was higher then. One that never traded in them is reviewed and did not win."""
    return {
        "picks": sum(group.picks for group in groups),
        "reviewed": sum(group.reviewed for group in groups),
        "win_rate_pct": _won(groups),
        "avg_next_pct": _mean(groups, "next_change_pct"),
        "avg_d3_pct": _mean(groups, "d3_change_pct"),
        "avg_d5_pct": _mean(groups, "d5_change_pct"),
    }


def by_grade(groups: Sequence[Fared]) -> list[dict[str, Any]]:
    """The grades that occur, the best first."""
    own = {group.grade: group for group in groups}
    return [
        {
            "grade": grade,
            "picks": own[grade].picks,
            "win_rate_pct": _won([own[grade]]),
            "avg_d5_pct": _mean([own[grade]], "d5_change_pct"),
        }
        for grade in (*(name for _, name in GRADES), LOWEST_GRADE)
        if grade in own
    ]


def curve(
    boards: Sequence[tuple[str, int, float | None]],
    index: Mapping[str, float],
    after: Mapping[str, str | None],
) -> dict[str, Any]:
    """{items[{date, picks, avg_next_pct, cum_pct, index_cum_pct}], max_drawdown_pct}: mean changes of the
    boards on the next trade dates, compounded, next to those of the index on the same dates. `after`:
    date -> the trade date after. A date whose next session is not over leaves the curve unchanged. The
    curve of the index is null from the first date on for which the index is not known."""
    items, value, highest, deepest = [], 1.0, 1.0, 0.0
    broad: float | None = 1.0
    for day, picks, mean in boards:
        if mean is not None:
            value *= 1 + mean / 100
            change = index.get(after.get(day) or "")
            broad = None if broad is None or change is None else broad * (1 + change / 100)
        highest = max(highest, value)
        deepest = max(deepest, 1 - value / highest)
        items.append(
            {
                "date": day,
                "picks": picks,
                "avg_next_pct": _round(mean),
                "cum_pct": _round((value - 1) * 100),
                "index_cum_pct": None if broad is None else _round((broad - 1) * 100),
            }
        )
    return {"items": items, "max_drawdown_pct": _round(deepest * 100) if items else None}


def _mean(groups: Sequence[Fared], column: str) -> float | None:
    count = sum(group.changes[column][1] for group in groups)
    return _round(sum(group.changes[column][0] for group in groups) / count) if count else None


def _won(groups: Sequence[Fared]) -> float | None:
    reviewed = sum(group.reviewed for group in groups)
    return _round(sum(group.won for group in groups) / reviewed * 100) if reviewed else None


def _round(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
