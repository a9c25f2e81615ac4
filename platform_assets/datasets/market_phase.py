"""calc_market_phase: the emotion cycle of each date, its seven inputs and the stage that follows.

The inputs come from bars; a date whose bars are not stored yet takes those of the pools; an input of neither
is missing. Inputs of dates before are those that were stored, so that a stage depends on nothing that
was not known in its evening; inputs that no pool has are taken from bars that came later.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.arrays import Floats
from core.declaration.columns import S16, Amt, Bool, Date, F, Int, Json, Model, Pct, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json
from core.declaration.interfaces import DAY, market, timeseries
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.compute.limit_days import LimitCounts
from platform_assets.compute.market_phase import score_days, segments, settle
from platform_assets.compute.nan_arithmetic import divided
from platform_assets.compute.parameters import market_phase as own
from platform_assets.datasets._limit_days import limit_days, pool_measures, pool_rows
from resources.upstreams.fetch_context import FetchContext

_BEFORE = own.HISTORY_DAYS + own.SLOPE_DAYS + own.CONFIRM_DAYS
"""Dates before a scope that its scores and stages look at."""
_MEASURES = (
    "limit_up_count", "limit_down_count", "broken_count", "promotion_rate_pct", "max_limit_days",
    "prev_limit_up_avg_pct", "up_count", "down_count", "flat_count", "amount",
)  # fmt: skip
_OF_BARS = ["up_count", "down_count", "flat_count", "amount"]
"""Inputs that no pool has."""
_STORED_DECIMALS = {"promotion_rate_pct": 4, "prev_limit_up_avg_pct": 4, "amount": 2}
"""As the table keeps them: a rank must not depend on whether a value was stored in between."""


class MarketPhase(Model):
    """One date. The counts are of stocks that are not under special treatment."""

    trade_date: Date = key("trade date")
    phase: S16 = col(title="ice, repair, rise, climax, diverge, ebb", nullable=False, isin=list(own.LABELS))
    phase_label: S16 = col(title="冰点, 修复, 升温, 高潮, 分歧, 退潮", nullable=False)
    score: F = col("", "emotion 0..100", nullable=False, ge=0, le=100, decimals=4)
    confidence: F = col("", "weight of the inputs that are known", nullable=False, ge=0, le=1, decimals=4)
    limit_up_count: Int = col("", "closes at the limit-up price", ge=0)
    limit_down_count: Int = col("", "closes at the limit-down price", ge=0)
    broken_count: Int = col("", "limit-up touched and not held", ge=0)
    seal_rate_pct: Pct = col("pct", "held / touched", ge=0, le=100)
    promotion_rate_pct: Pct = col("pct", "limit-ups of the date before that are at the limit again", ge=0)
    max_limit_days: Int = col("", "longest streak of limit-ups", ge=0)
    prev_limit_up_avg_pct: Pct = col("pct", "mean change of the limit-ups of the date before")
    up_count: Int = col("", "stocks that rose", ge=0)
    down_count: Int = col("", "stocks that fell", ge=0)
    flat_count: Int = col("", "stocks that did not move", ge=0)
    amount: Amt = col("CNY", "turnover of all stocks", ge=0)
    amount_ratio_20d: F = col("", "turnover / its mean over the twenty dates before", ge=0, decimals=4)
    index_change_pct: Pct = col("pct", f"change of the main index ({own.MAIN_INDEX})")
    duration_days: Int = col("", "trade dates in this phase so far", nullable=False, ge=1)
    previous_phase: S16 = col(title="the phase before this one")
    evidence: Json = col(title="[{key, value, score 0..100, weight}] of the inputs that are known")
    sample_based: Bool = col(title="an estimate from some stocks; such a one is not stored")


def phases(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """A row per date of which enough is known."""
    calendar = ctx.calendar
    dates = [*calendar.last(_BEFORE + 1, scope.since)[:-1], *calendar.between(scope.since, scope.until)]
    stored = _stored(ctx, dates[0], dates[dates.index(scope.since) - 1])
    measures = _measures(ctx, dates, stored)
    inputs = _inputs(measures)
    scores = score_days(inputs)
    known = stored.reindex(dates)
    totals = np.where(known["score"].notna(), known["score"].to_numpy(dtype=float), scores.total)
    settled = settle(totals, [one if isinstance(one, str) else None for one in known["phase"].tolist()])
    changes = _index_changes(ctx, scope)
    requested = set(scope.dates)
    rows = []
    for at, day in enumerate(dates):
        phase = settled[at]
        if day not in requested or phase is None:
            continue
        values = measures.iloc[at].to_dict()
        duration, previous = _run(dates[: at + 1], settled[: at + 1], stored)
        touched = values["limit_up_count"] + values["broken_count"]
        rows.append(
            {
                **values,
                "trade_date": day,
                "phase": phase,
                "phase_label": own.LABELS[phase],
                "score": totals[at],
                "confidence": round(float(scores.covered[at]), 6),
                "seal_rate_pct": values["limit_up_count"] / touched * 100 if touched else None,
                "amount_ratio_20d": _ratio(measures["amount"].to_numpy(dtype=float), at),
                "index_change_pct": changes.get(day),
                "duration_days": duration,
                "previous_phase": previous,
                "evidence": _evidence(inputs, scores.parts, at),
                "sample_based": False,
            }
        )
    return pd.DataFrame(rows, columns=list(MarketPhase.to_schema().columns))


def _stored(ctx: FetchContext, since: str, until: str) -> pd.DataFrame:
    """Stored rows of the scope and before, by date, oldest first."""
    columns = ("trade_date", "phase", "score", "duration_days", "previous_phase", *_MEASURES)
    rows = ctx.read("calc_market_phase", columns=columns, since=since, until=until)
    return pd.DataFrame(rows.set_index("trade_date").sort_index())


def _measures(ctx: FetchContext, dates: Sequence[str], stored: pd.DataFrame) -> pd.DataFrame:
    """The inputs' figures by date: as stored, else counted from bars, else from the pools. A stored date
    whose bars came after its evening takes from them what no pool has."""
    measures = stored.reindex(list(dates))[list(_MEASURES)].astype(float)
    missing = [day for day in dates if day not in stored.index]
    late = [day for day in stored.index if np.isnan(measures.loc[day, "amount"])]
    for run in _runs(dates, sorted([*missing, *late])):
        for some in limit_days(ctx, run):
            reported = pd.DataFrame(_counted(some.counts), index=list(some.dates)).iloc[some.first :]
            new = reported.index.difference(stored.index)
            measures.loc[new] = reported.loc[new]
            old = reported.index.intersection(stored.index)
            measures.loc[old, _OF_BARS] = measures.loc[old, _OF_BARS].fillna(reported.loc[old, _OF_BARS])
    bare = [day for day in missing if np.isnan(measures.loc[day, "limit_up_count"])]
    if bare:
        pools = pool_rows(ctx, ctx.calendar.offset(bare[0], -1), bare[-1])
        for day in sorted(set(bare) & set(pools["trade_date"])):
            before = ctx.calendar.offset(day, -1)
            for name, value in pool_measures(pools, day, before).items():
                measures.loc[day, name] = value
    return measures.round(_STORED_DECIMALS)


def _runs(dates: Sequence[str], requested: Sequence[str]) -> list[list[str]]:
    """The requested dates as runs without a gap, so that dates between them are not read again."""
    place = {day: at for at, day in enumerate(dates)}
    runs: list[list[str]] = []
    for day in requested:
        if runs and place[day] == place[runs[-1][-1]] + 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs


def _counted(counts: LimitCounts) -> dict[str, Floats]:
    """Counts from bars under the names of the columns."""
    return {
        "limit_up_count": counts.up, "limit_down_count": counts.down, "broken_count": counts.broken,
        "promotion_rate_pct": counts.promotion_pct, "max_limit_days": counts.max_boards,
        "prev_limit_up_avg_pct": counts.prev_change_pct, "up_count": counts.rose, "down_count": counts.fell,
        "flat_count": counts.flat, "amount": counts.amount,
    }  # fmt: skip


def _inputs(measures: pd.DataFrame) -> dict[str, Floats]:
    """The seven inputs by their keys; rates are shares of 1."""
    reported = {name: measures[name].to_numpy(dtype=float) for name in _MEASURES}
    touched = reported["limit_up_count"] + reported["broken_count"]
    moved = reported["up_count"] + reported["down_count"]
    return {
        "limit_up": reported["limit_up_count"], "limit_down": reported["limit_down_count"],
        "max_boards": reported["max_limit_days"], "broken_rate": divided(reported["broken_count"], touched),
        "promotion_rate": reported["promotion_rate_pct"] / 100,
        "prev_change_pct": reported["prev_limit_up_avg_pct"],
        "advance_share": divided(reported["up_count"], moved),
    }  # fmt: skip


def _run(dates: Sequence[str], settled: Sequence[str | None], stored: pd.DataFrame) -> tuple[int, str | None]:
    """(dates in the phase of the last date, the phase before it), going on from the newest stored row."""
    runs = segments([(day, phase) for day, phase in zip(dates, settled, strict=True) if phase is not None])
    newest, earlier = runs[-1], runs[-2].phase if len(runs) > 1 else None
    reported = [day for day in stored.index if newest.since <= day <= newest.until]
    if not reported or not pd.notna(stored.loc[reported[-1], "duration_days"]):
        return newest.days, earlier
    last = reported[-1]
    since = sum(1 for day, phase in zip(dates, settled, strict=True) if phase is not None and day > last)
    before = stored.loc[last, "previous_phase"]
    return int(stored.loc[last, "duration_days"]) + since, before if isinstance(before, str) else earlier


def _ratio(amounts: Floats, at: int) -> float | None:
    """Turnover / its mean over the dates before; None while fewer than all of them are known."""
    before = amounts[max(0, at - own.AMOUNT_DAYS) : at]
    if len(before) < own.AMOUNT_DAYS or np.isnan(before).any() or np.isnan(amounts[at]):
        return None
    mean = before.mean()
    return float(amounts[at] / mean) if mean > 0 else None


def _index_changes(ctx: FetchContext, scope: Scope) -> dict[str, float]:
    rows = ctx.read(
        "fusion_index_daily", columns=("code", "date", "change_pct"), codes=(own.MAIN_INDEX,), **scope.span
    )
    return dict(zip(rows["date"], rows["change_pct"].astype(float), strict=True))


def _evidence(inputs: dict[str, Floats], parts: Floats, at: int) -> str:
    reported = [
        {
            "key": one.key,
            "value": round(float(inputs[one.key][at]), 4),
            "score": round(float(parts[place, at]), 2),
            "weight": one.weight,
        }
        for place, one in enumerate(own.INPUTS)
        if not np.isnan(parts[place, at])
    ]
    return canonical_json(reported)


DATASET = Dataset(
    name="market_phase",
    subject="market",
    title="Emotion cycle of the market",
    model=MarketPhase,
    calculate=phases,
    reads=("raw_limit_pool", "fusion_index_daily", "fusion_kline_daily", "ref_name_history"),
    reads_own_past=True,
    of_stocks=False,
    freshness=trading(1, "trade_date"),
    tasks=("market_phase_sync",),
    interfaces=(
        market("get_market_phase", "of_date", "market phase of a day", ttl=60, returns="object|null").takes(
            trade_date=DAY
        ),
        timeseries("get_market_phase_history", "newest_days", "phase rows", ttl=600).takes(days=90),
    ),
)
