"""The verdict of the three built-in systems on one stock: factors, leaders, patterns. Read from stored
tables; a system without its inputs says so and gives no score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.calendar import TradeCalendar
from platform_assets.compute.factors.gates import GATE_COLUMNS, gate_of, is_special
from platform_assets.compute.nan_arithmetic import filled_factor
from platform_assets.compute.parameters import audit as p
from platform_assets.compute.parameters import scorecards
from platform_assets.compute.parameters.patterns import DIRECTIONS
from platform_assets.compute.scorecards.boards import kept_from_leaders, tactic_score
from platform_assets.compute.scorecards.tactic import INDICATORS, parts_of, patterns_looked_for
from platform_assets.compute.volume_price import analyse
from platform_assets.datasets.dragon_score import DragonScore
from platform_assets.datasets.indicator_daily import IndicatorDaily
from platform_assets.datasets.pattern_daily import PatternDaily
from resources.warehouse.stored import ANY, stored, within
from serving_api.db.rows import TRADED, public_rows
from serving_api.db.sessions import Session
from serving_api.quant.scorecard.sources import BUILTIN, GROUP_LABELS
from serving_api.quant.strength import prices_of
from serving_api.stocks.queries import bars as stock_bars
from serving_api.table_lists import newest_until

WIDE = stored("fusion_stock_wide")
KLINE = stored("fusion_kline_daily")
FACTORS = stored("calc_factor_score")
DRAGON = stored("calc_dragon_score", DragonScore)
INDICATOR = stored("calc_indicator_daily", IndicatorDaily)
PATTERN = stored("calc_pattern_daily", PatternDaily)
SIGNAL_BARS = 2
STRONG, NEUTRAL, WEAK, BLOCKED, ABSENT, MISSING = "strong", "neutral", "weak", "blocked", "absent", "missing"
Row = dict[str, Any]
NO_GATE: Row = {"passed": None, "blocked": None, "code": None, "reason": None, "warnings": []}
COMPOSITE, LEADERS, TACTIC = "composite", "dragon", "tactic"
"""Keys of the built-in systems, as on all routes."""
_NAMES = GROUP_LABELS[BUILTIN]
_NO_SCORES = frozenset(
    {"trade_date", "code", "composite", "covered_weight", "gate_blocked", "gate_code", "gate_reason"}
)


def audit(session: Session, code: str, until: str, as_of: str | None, calendar: TradeCalendar) -> Row:
    """`until`: the newest date whose close is known; `as_of` the bound instant of a past read. Gates and
    rules are those of the boards."""
    columns = ("trade_date", "list_date", *GATE_COLUMNS)
    wide = _newest(session, WIDE, code, "trade_date", as_of=as_of, columns=columns)
    bar = _newest(session, KLINE, code, "date", as_of=as_of, columns=("date",))
    gate = gate_of(wide).plain() if wide else NO_GATE
    blocked = gate["reason"] if gate["blocked"] else None
    day = bar.get("date") or wide.get("trade_date")
    systems = [
        _leaders(session, code, until, day, wide, calendar),
        _tactic(session, code, until, day, as_of, blocked, calendar),
        _composite(session, code, until, day),
    ]
    return {"code": code, "date": day, "systems": systems, "gate": gate}


def nothing_audited(code: str) -> Row:
    systems = [_missing(key, ["the stored tables cannot be read now"]) for key in _NAMES]
    return {"code": code, "date": None, "systems": systems, "gate": NO_GATE}


def _newest(
    session: Session, table: str, code: str, date: str, *, as_of: str | None = None, until: str | None = None,
    columns: Sequence[str] | None = None,
) -> Row:  # fmt: skip
    if columns is not None and session.has(table):
        columns = session.columns(table, columns)
    of = [ANY.code == code, *within(ANY[date], None, until)]
    found = public_rows(session, table, *of, columns=columns, as_of=as_of, order=[ANY[date].desc()], limit=1)
    return found[0] if found else {}


def _reported(
    key: str,
    conclusion: str,
    score: float | None,
    passed: bool | None,
    reasons: list[str],
    warnings: list[str],
) -> Row:
    shown = None if score is None else round(score, 4)
    return {
        "key": key, "name": _NAMES[key], "conclusion": conclusion, "score": shown, "passed": passed,
        "reasons": reasons, "warnings": warnings,
    }  # fmt: skip


def _missing(key: str, warnings: list[str]) -> Row:
    return _reported(key, MISSING, None, None, [], warnings)


def _judged(key: str, score: float, blocked: str | None, reasons: list[str], warnings: list[str]) -> Row:
    if blocked is not None:
        return _reported(key, BLOCKED, score, False, [blocked, *reasons], warnings)
    conclusion = STRONG if score >= p.STRONG else NEUTRAL if score >= p.PASSED else WEAK
    return _reported(key, conclusion, score, score >= p.PASSED, reasons, warnings)


def _aged(table: str, row_day: str, day: str | None) -> list[str]:
    return [f"{table} is of {row_day}, the newest bar of {day}"] if day and row_day < day else []


def _composite(session: Session, code: str, until: str, day: str | None) -> Row:
    row = _newest(session, FACTORS, code, "trade_date", until=until)
    if not row or row["composite"] is None:
        return _missing(COMPOSITE, [f"{FACTORS} has no score of this stock"])
    scores = {name: value for name, value in row.items() if name not in _NO_SCORES and value is not None}
    ranked = sorted(scores, key=lambda name: -scores[name])
    shown = list(dict.fromkeys((*ranked[: p.SHOWN_FACTORS], *ranked[-p.SHOWN_FACTORS :])))
    warnings = _aged(FACTORS, row["trade_date"], day)
    if row["covered_weight"] is not None and row["covered_weight"] < 1 - 1e-9:
        warnings.append(f"factors of {row['covered_weight'] * 100:.0f} % of the weight are there")
    blocked = str(row["gate_reason"]) if row["gate_blocked"] else None
    return _judged(COMPOSITE, row["composite"], blocked, [f"{n} {scores[n]:.1f}" for n in shown], warnings)


def _leaders(
    session: Session, code: str, until: str, day: str | None, wide: Row, calendar: TradeCalendar
) -> Row:
    newest = newest_until(session, DRAGON, until)
    if newest is None:
        return _missing(LEADERS, [f"{DRAGON} holds nothing"])
    warnings = _aged(DRAGON, newest, day)
    found = public_rows(session, DRAGON, DRAGON.c.code == code, DRAGON.c.trade_date == newest)
    if not found:
        reason = f"not among the limit-ups of {newest} and of the date before"
        return _reported(LEADERS, ABSENT, None, False, [reason], warnings)
    row = found[0]
    if row["total_score"] is None:
        return _missing(LEADERS, [f"{DRAGON} has no score of this stock", *warnings])
    parts = {name: row.get(f"score_{name}") for name in ("height", "seal", "theme", "capital", "structure")}
    reasons = [f"{name} {value:.1f} of 20" for name, value in parts.items() if value is not None]
    if row.get("grade"):
        reasons.insert(0, f"grade {row['grade']}, rank {row['rank_no']}")
    if row.get("coverage") is not None and row["coverage"] < 1 - 1e-9:
        warnings.append(f"{row['coverage'] * 100:.0f} % of the points could be judged")
    since = calendar.offset(newest, 1 - scorecards.NEW_STOCK_DAYS)
    blocked = kept_from_leaders(is_special(wide), wide.get("list_date"), since)
    return _judged(LEADERS, row["total_score"], blocked, reasons, warnings)


def _tactic(
    session: Session, code: str, until: str, day: str | None, as_of: str | None, blocked: str | None,
    calendar: TradeCalendar,
) -> Row:  # fmt: skip
    of, order = [INDICATOR.c.code == code, INDICATOR.c.date <= until], [INDICATOR.c.date.desc()]
    bars = public_rows(
        session, KLINE, *of, TRADED, columns=("date", "volume", "adj_factor"), order=order,
        limit=scorecards.PATTERN_BARS,
    )  # fmt: skip
    stored = public_rows(
        session, INDICATOR, *of, columns=("date", *INDICATORS), order=order, limit=SIGNAL_BARS
    )
    if not bars or not stored:
        return _missing(TACTIC, [f"{INDICATOR if bars else KLINE} has no row of this stock"])
    since = calendar.last(scorecards.TACTIC_DATES, bars[0]["date"])[0]
    by_date = {bar["date"]: bar for bar in bars if bar["date"] >= since}
    rows = [row for row in reversed(stored) if row["date"] in by_date]
    if not rows:
        return _missing(TACTIC, [f"{INDICATOR} is of {stored[0]['date']}, the bars of {bars[0]['date']}"])
    values = {name: np.array([[_number(row[name]) for row in rows]]) for name in INDICATORS}
    oldest_first = bars[::-1]
    filled = filled_factor(np.array([_number(bar["adj_factor"]) for bar in oldest_first]))
    factors = {bar["date"]: one for bar, one in zip(oldest_first, filled.tolist(), strict=True)}
    factor = np.array([[factors[row["date"]] for row in rows]])
    newest = rows[-1]["date"]
    volume = np.array([_number(by_date[newest]["volume"])])
    fired, count = _directions(session, code, [one for one in by_date if one <= newest])
    with np.errstate(invalid="ignore"):
        parts = parts_of(values, volume, factor, np.array([count]))
        parts["vpa"] = np.array([_health(session, code, newest, as_of)])
        score, _ = tactic_score(parts)
    known = {name: float(one[0]) for name, one in parts.items() if np.isfinite(one[0])}
    warnings = _aged(INDICATOR, newest, day)
    warnings += [f"{name} is missing" for name in scorecards.TACTIC_WEIGHTS if name not in known]
    reasons = [f"{name} {value:.1f}" for name, value in known.items()] + fired
    if not np.isfinite(score[0]):
        return _reported(TACTIC, MISSING, None, None, reasons, warnings)
    return _judged(TACTIC, float(score[0]), blocked, reasons, warnings)


def _health(session: Session, code: str, newest: str, as_of: str | None) -> float:
    """As `/stocks/{code}/vpa` returns it; NaN when there are too few bars."""
    bars = stock_bars(session, code, scorecards.HEALTH_BARS + SIGNAL_BARS, as_of, "qfq")
    known = [bar for bar in bars if bar.date <= newest][-scorecards.HEALTH_BARS :]
    return _number(analyse(prices_of(known)).health if known else None)


def _directions(session: Session, code: str, days: Sequence[str]) -> tuple[list[str], float]:
    """(patterns that fired on some dates, newest first, and the sum of their signs); NaN when the newest
    date was not calculated."""
    if not session.has(PATTERN) or not days:
        return [], np.nan
    there = session.rows(PATTERN, PATTERN.c.date == days[0], columns=("date",), limit=1)
    if not patterns_looked_for((str(day) for (day,) in there), days[0]):
        return [], np.nan
    columns = ("date", *session.columns(PATTERN, DIRECTIONS))
    of = [PATTERN.c.code == code, PATTERN.c.date >= days[-1], PATTERN.c.date <= days[0]]
    rows = public_rows(session, PATTERN, *of, columns=columns, order=[PATTERN.c.date])
    reported = [(row["date"], name, row[name]) for row in rows for name in DIRECTIONS if row.get(name)]
    signs = [(day, name, 1 if value > 0 else -1) for day, name, value in reported]
    return [f"{name} {sign:+d} on {day}" for day, name, sign in signs], float(sum(sign for *_, sign in signs))


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
