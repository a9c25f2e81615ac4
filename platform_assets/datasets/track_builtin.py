"""track_builtin: three boards of 20 by trade date (leaders, composite, tactic), and what became of their
picks after five trade dates.

Definitions: `docs/calculations/scorecards.md`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats
from core.declaration.conditions import equal
from core.declaration.frames import canonical_json
from core.declaration.interfaces import DAY, TEXT, market
from core.declaration.scope import Scope
from core.market.bars import Dense
from platform_assets.compute.factors.definitions import INPUT_COLUMNS
from platform_assets.compute.factors.gates import GATE_COLUMNS, is_special
from platform_assets.compute.factors.scores import factor_scores
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.parameters.scorecards import NEW_STOCK_DAYS, PATTERN_BARS, TACTIC_DATES
from platform_assets.compute.scorecards.boards import kept_from_leaders, tactic_score, top
from platform_assets.compute.scorecards.tactic import INDICATORS as INDICATOR_COLUMNS
from platform_assets.compute.scorecards.tactic import health_of, parts_of, patterns_looked_for
from platform_assets.datasets._picks import BARS, WIDE, pick_dataset, pick_model
from platform_assets.datasets._quant import bars_at
from resources.upstreams.fetch_context import FetchContext

BOARDS = ("dragon", "composite", "tactic")
GROUP = "board_key"
SCORES = "calc_factor_score"
LEADERS = "calc_dragon_score"
INDICATORS = "calc_indicator_daily"
PATTERNS = "calc_pattern_daily"
DIMENSIONS = ("height", "seal", "theme", "capital", "structure")
TrackBuiltin = pick_model("TrackBuiltin", GROUP, "board", BOARDS)

_SHOWN = ("code", "name", "industry", "current_price", "amount", "is_suspended", "is_st", "list_date")
_SCORED = ("code", "composite", "covered_weight", "gate_blocked")
_TRADED = (equal("sec_type", "stock"), equal("is_suspended", 0))


def picks(ctx: FetchContext, scope: Scope, day: str) -> pd.DataFrame | None:
    """The three boards of a date. None where the date has no wide rows, which show the traded stocks."""
    market = _market(ctx, day)
    if market is None:
        return None
    boards = (_leaders(ctx, market, day), _composite(market), _tactic(ctx, scope, market, day))
    return pd.concat([board for board in boards if len(board)] or [boards[0]], ignore_index=True)


def _market(ctx: FetchContext, day: str) -> pd.DataFrame | None:
    """The stocks that traded on the date with their composite and gates: as stored, else computed from the
    same wide rows (the presets store them later in the evening)."""
    stored = ctx.read(SCORES, columns=_SCORED, since=day, until=day)
    needed = () if len(stored) else (*INPUT_COLUMNS, *GATE_COLUMNS)
    columns = tuple(dict.fromkeys((*_SHOWN, *needed)))
    wide = ctx.read(WIDE, columns=columns, since=day, until=day)
    if wide.empty:
        return None
    scored = stored if len(stored) else factor_scores(wide)[list(_SCORED)]
    return pd.DataFrame(wide[list(_SHOWN)].merge(scored, on="code", how="inner"))


def _leaders(ctx: FetchContext, market: pd.DataFrame, day: str) -> pd.DataFrame:
    """Leaders without ST and without stocks in their first trade dates."""
    columns = ("code", "total_score", "coverage", "limit_days", *(f"score_{name}" for name in DIMENSIONS))
    rows = ctx.read(LEADERS, columns=columns, since=day, until=day).merge(market, on="code", how="inner")
    since = ctx.calendar.offset(day, 1 - NEW_STOCK_DAYS)
    out = [
        kept_from_leaders(is_special(row), row["list_date"] if pd.notna(row["list_date"]) else None, since)
        for row in rows[["is_st", "name", "list_date"]].to_dict("records")
    ]
    rows = rows[np.array([reason is None for reason in out], dtype=bool)]
    details = [f"score_{name}" for name in DIMENSIONS]
    return _board("dragon", top(rows, "total_score"), "total_score", [*details, "coverage", "limit_days"])


def _composite(market: pd.DataFrame) -> pd.DataFrame:
    """The best composites that no gate blocks."""
    return _board("composite", top(_passed(market), "composite"), "composite", ["covered_weight"])


def _passed(market: pd.DataFrame) -> pd.DataFrame:
    return market[~market["gate_blocked"].fillna(value=False).astype(bool)]


def _tactic(ctx: FetchContext, scope: Scope, market: pd.DataFrame, day: str) -> pd.DataFrame:
    """The best tactic scores that no gate blocks."""
    rows = _passed(market).reset_index(drop=True)
    parts = tactic_parts(ctx, scope, rows["code"].astype(str).tolist(), day)
    score, weight = tactic_score(parts)
    rows = rows.assign(tactic=score, covered=weight, **parts)
    return _board("tactic", top(rows, "tactic"), "tactic", [*parts, "covered"])


def tactic_parts(ctx: FetchContext, scope: Scope, codes: Sequence[str], day: str) -> dict[str, Floats]:
    """The parts of the tactic score of some codes on a date, [codes]; NaN where not known."""
    since = ctx.calendar.last(TACTIC_DATES, day)[0]
    dates = ctx.calendar.between(since, day)
    bars = ctx.panel(BARS, columns=("volume", "adj_factor"), since=since, until=day, conditions=_TRADED)
    found = ctx.panel(INDICATORS, columns=INDICATOR_COLUMNS, since=since, until=day)
    traded = _block(bars, "volume", codes, dates)
    parts = parts_of(
        {name: _block(found, name, codes, dates) for name in INDICATOR_COLUMNS},
        traded[:, -1],
        _block(bars, "adj_factor", codes, dates),
        _directions(ctx, codes, dates, np.isfinite(traded)),
    )
    # The window that all calculations of these dates share.
    return parts | {"vpa": health_of(bars_at(ctx, Scope(scope.asked), day), codes)}


def _directions(
    ctx: FetchContext, codes: Sequence[str], dates: Sequence[str], traded: npt.NDArray[np.bool_]
) -> Floats:
    """[codes] sum of the pattern directions of the newest bars; NaN where patterns are not computed."""
    rows = ctx.read(PATTERNS, columns=("code", "date", *DIRECTIONS), since=dates[0], until=dates[-1])
    if not patterns_looked_for(rows["date"], dates[-1]):
        return np.full(len(codes), np.nan)
    newest = np.cumsum(traded[:, ::-1], axis=1)[:, ::-1] <= PATTERN_BARS
    places = {code: at for at, code in enumerate(codes)}
    days = {one: at for at, one in enumerate(dates)}
    rows = rows[rows["code"].isin(places)]
    row_at = rows["code"].map(places).to_numpy(dtype=np.int64)
    day_at = rows["date"].map(days).to_numpy(dtype=np.int64)
    signs = np.sign(rows[list(DIRECTIONS)].fillna(0).to_numpy(dtype=np.float64)).sum(axis=1)
    total = np.zeros(len(codes))
    np.add.at(total, row_at, np.where(newest[row_at, day_at], signs, 0.0))
    return total


def _block(dense: Dense, name: str, codes: Sequence[str], dates: Sequence[str]) -> Floats:
    """[codes, dates] of a window; NaN where it has no row."""
    block = np.full((len(codes), len(dates)), np.nan)
    at = {code: place for place, code in enumerate(dense.codes)}
    known = [place for place, code in enumerate(codes) if code in at]
    days = [place for place, one in enumerate(dates) if one in dense.dates]
    held = {one: place for place, one in enumerate(dense.dates)}
    if known and days:
        taken = np.ix_([at[codes[place]] for place in known], [held[dates[place]] for place in days])
        block[np.ix_(known, days)] = dense.values[name][taken]
    return block


def _board(key: str, rows: pd.DataFrame, by: str, details: Sequence[str]) -> pd.DataFrame:
    reported = [_figures(row, (by, *details, "composite")) for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            GROUP: key, "code": rows["code"], "rank_no": rows["rank_no"], "name": rows["name"],
            "industry": rows["industry"], "score": rows[by], "price_at_pick": rows["current_price"],
            "reason": [_reason(figures) for figures in reported],
            "detail": [canonical_json(figures) for figures in reported],
        }
    )  # fmt: skip


def _figures(row: Mapping[Any, Any], names: Sequence[str]) -> dict[str, float]:
    return {name: round(float(row[name]), 4) for name in names if pd.notna(row[name])}


def _reason(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in figures.items())[:255]


DATASET = pick_dataset(
    name="track_builtin",
    title="Picks of the three built-in boards by trade date, and their forward returns",
    model=TrackBuiltin,
    group=GROUP,
    make=picks,
    reads=(LEADERS, SCORES, INDICATORS, PATTERNS),
    task="builtin_track",
    interfaces=(
        market("get_builtin_picks", "by_date", "picks of the three boards", ttl=600).takes(
            trade_date=DAY, board_key=TEXT
        ),
    ),
)
