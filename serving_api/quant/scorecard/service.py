"""Statistics of stored picks: by group, by month, industry, phase, rank, board of listing, and over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.calendar import TradeCalendar
from core.errors import InputError
from core.market.securities import BOARDS, board_of
from platform_assets.compute.parameters.scorecards import BOARD_SIZE, CARD_HORIZON, HOLD_DAYS
from platform_assets.compute.scorecards.statistics import (
    GroupStats,
    Picks,
    cumulated,
    fillable_stats,
    group_stats,
    grouped,
)
from resources.warehouse.stored import ANY
from serving_api.db.sessions import Session
from serving_api.quant.scorecard import queries
from serving_api.quant.scorecard.queries import Figures
from serving_api.quant.scorecard.sources import (
    BUILTIN,
    DECISION,
    GROUP_LABELS,
    LABELS,
    STRATEGIES,
    STRATEGY,
    TABLES,
)
from serving_api.quant.scorecard.strategies import by_date as strategies_by_date
from serving_api.quant.scorecard.strategies import summed

Texts = npt.NDArray[Any]
RANK_SPAN = 5
RANKS = tuple((first, first + RANK_SPAN - 1) for first in range(1, BOARD_SIZE, RANK_SPAN))
UNKNOWN = "unknown"
_OF_CARD = ("picks", "reviewed", "win_rate_pct", "avg_profit_pct")
OF_KEY = (*_OF_CARD, "avg_excess_pct")
_BRIEF = (*OF_KEY, "profit_loss_ratio", "unfillable")
_FILLABLE = ("reviewed", "win_rate_pct", "avg_profit_pct", "avg_excess_pct", "profit_loss_ratio")
"""Figures of an answer, of those in `GroupStats`."""
NOTHING = queries.NO_FIGURES.picks
RECENT = 60
"""Pick rows of a performance response."""


def sources(session: Session) -> list[dict[str, Any]]:
    found = queries.extents(session)
    shown = []
    for key, label in LABELS.items():
        first, picks, present = found.get(key, (None, 0, set()))
        known = GROUP_LABELS.get(key, {})
        named = [*known, *sorted(present - known.keys())]
        groups = [{"key": group, "label": known.get(group, group)} for group in named]
        shown.append({"key": key, "label": label, "groups": groups, "first_date": first, "picks": picks})
    return shown


def overview(
    session: Session, requested: tuple[str, ...], since: str
) -> tuple[list[dict[str, Any]], str | None]:
    """(items by source and group, the newest date of a pick)."""
    items: list[dict[str, Any]] = []
    newest: list[str] = []
    for source in requested:
        if source == STRATEGY:
            reported, last = _of_strategies(session, since)
            items += reported
            newest += [last] if last else []
            continue
        found = queries.figures(session, source, since)
        newest += [str(found.dates.max())] if len(found) else []
        for group, picks in grouped(found.picks, found.groups).items():
            items.append(
                {
                    "source": source,
                    "group_key": group,
                    "hold_days": CARD_HORIZON if source == DECISION else HOLD_DAYS,
                    **shown(group_stats(picks), _BRIEF),
                    "fillable": _fillable(picks),
                }
            )
    return items, max(newest, default=None)


def _of_strategies(session: Session, since: str) -> tuple[list[dict[str, Any]], str | None]:
    """Figures from the sums of the scorecards by date."""
    rows = strategies_by_date(session, since)
    items = []
    for group in sorted({row["group_key"] for row in rows}):
        reported = summed([row for row in rows if row["group_key"] == group])
        items.append({"source": STRATEGY, "group_key": group, "hold_days": HOLD_DAYS, **reported})
    return items, max((row["stat_date"] for row in rows), default=None)


def _fillable(picks: Picks) -> dict[str, Any]:
    """The figures without picks whose purchase was not possible."""
    return shown(fillable_stats(picks), _FILLABLE)


def shown(stats: GroupStats, names: Sequence[str]) -> dict[str, Any]:
    """Figures of an answer, to four decimals."""
    return {name: rounded(getattr(stats, name)) for name in names}


def rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def breakdown(session: Session, source: str, by: str, since: str) -> list[dict[str, Any]]:
    if source == STRATEGY:
        return _strategies_by(session, by, since)
    found = queries.figures(session, source, since)
    keys = _keys(session, found, by, since)
    shown = _by_key(found.picks, keys)
    if by in ("month", "rank"):
        return shown
    return sorted(shown, key=lambda row: (-row["picks"], row["key"]))


def _by_key(picks: Picks, keys: Texts) -> list[dict[str, Any]]:
    groups = grouped(picks, keys).items()
    return [{"key": key, **shown(group_stats(own), OF_KEY)} for key, own in groups]


def _strategies_by(session: Session, by: str, since: str) -> list[dict[str, Any]]:
    """Raises InputError for a breakdown that scorecards by date do not have."""
    if by not in ("month", "phase"):
        raise InputError("by", f"{by} is not known of strategies; month or phase is allowed")
    phases = queries.phases(session, since) if by == "phase" else {}
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in strategies_by_date(session, since):
        day = row["stat_date"]
        groups.setdefault(day[:7] if by == "month" else phases.get(day, UNKNOWN), []).append(row)
    sums = {key: summed(rows) for key, rows in sorted(groups.items())}
    return [{"key": key, **{name: own[name] for name in OF_KEY}} for key, own in sums.items()]


def _keys(session: Session, found: Figures, by: str, since: str) -> Texts:
    keys: list[str]
    if by == "month":
        return _months(found)
    if by == "industry":
        keys = [str(one) if one else UNKNOWN for one in found.industries]
    elif by == "rank":
        keys = [_rank(rank) for rank in found.ranks]
    elif by == "board":
        keys = [_board(str(code)) for code in found.codes]
    else:
        phases = queries.phases(session, since)
        keys = [phases.get(str(day), UNKNOWN) for day in found.dates]
    return np.array(keys, dtype=object)


def _months(found: Figures) -> Texts:
    return np.array([str(day)[:7] for day in found.dates], dtype=object)


def _rank(rank: Any) -> str:
    """The rank as text that sorts by rank."""
    found = next((span for span in RANKS if rank is not None and span[0] <= rank <= span[1]), None)
    return UNKNOWN if found is None else f"{found[0]:02d}-{found[1]:02d}"


def _board(code: str) -> str:
    """The exchange's board that a code is listed on."""
    found = (board_of(code, market) for market in ("SH", "SZ", "BJ"))
    return next((board for board in found if board in BOARDS), UNKNOWN)


def of_stock(session: Session, calendar: TradeCalendar, code: str, since: str) -> dict[str, Any]:
    return stock_picks(code, queries.of_code(session, calendar, code, since))


def stock_picks(code: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer of `of_stock` for these rows."""
    stats = group_stats(queries.picks_of(rows))
    return {"code": code, "items": rows, "stats": shown(stats, _OF_CARD)}


def strategies(session: Session, since: str) -> list[dict[str, Any]]:
    """The cards of the three built-in strategies."""
    found = queries.figures(session, BUILTIN, since)
    return strategy_cards(queries.last_dates(session), grouped(found.picks, found.groups))


def strategy_cards(last: Mapping[str, str], picks: Mapping[str, Picks]) -> list[dict[str, Any]]:
    """The cards with the newest date and the picks of each board."""
    return [
        {
            "key": one.key, "name": one.name, "desc": one.desc, "board_size": BOARD_SIZE,
            "last_date": last.get(one.key),
            **shown(group_stats(picks.get(one.key, NOTHING)), _OF_CARD),
        }
        for one in STRATEGIES
    ]  # fmt: skip


def performance(session: Session, key: str, since: str) -> dict[str, Any]:
    """Statistics, curve and newest picks of a board.

    The curve invests a fifth of the money in the picks of each date, since the holdings of five dates
    overlap: `cum_pct` compounds a fifth of each date's mean return, `index_cum_pct` of the index over
    the same dates.
    """
    of = [ANY[TABLES[BUILTIN].group] == key, ANY.trade_date >= since]
    order = [ANY.trade_date.desc(), ANY.rank_no]
    recent = queries.rows_of(session, BUILTIN, *of, order=order, limit=RECENT)
    return {"key": key, **_outcome(queries.figures(session, BUILTIN, since, key)), "recent": recent}


def record(session: Session, source: str, group: str | None, since: str) -> dict[str, Any]:
    """Statistics, curve and months of one group, or of a whole source."""
    found = queries.figures(session, source, since, group)
    return {**_outcome(found), "months": _by_key(found.picks, _months(found))}


def no_record() -> dict[str, Any]:
    return {**_outcome(queries.NO_FIGURES), "months": []}


def no_performance(key: str) -> dict[str, Any]:
    return {"key": key, **_outcome(queries.NO_FIGURES), "recent": []}


def _outcome(found: Figures) -> dict[str, Any]:
    stats = {name: rounded(value) for name, value in group_stats(found.picks).as_dict().items()}
    return {"stats": {**stats, "fillable": _fillable(found.picks)}, "curve": _curve(found)}


def _curve(found: Figures) -> list[dict[str, Any]]:
    days = sorted(set(found.dates.tolist()))
    means = [_mean(found.picks.profit_pct[found.dates == day]) for day in days]
    index = [_mean(found.index_profit_pct[found.dates == day]) for day in days]
    reported = [at for at, mean in enumerate(means) if np.isfinite(mean)]
    own = cumulated(np.array([means[at] for at in reported]) / HOLD_DAYS)
    other = cumulated(np.array([index[at] for at in reported]) / HOLD_DAYS)
    return [
        {
            "date": days[at],
            "avg_profit_pct": rounded(float(means[at])),
            "cum_pct": rounded(float(own[place])),
            "index_cum_pct": rounded(float(other[place])),
        }
        for place, at in enumerate(reported)
    ]


def _mean(values: npt.NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
