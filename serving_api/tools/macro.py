"""app_macro: a deterministic reading of the economy from stored figures alone."""

from typing import Any

from pydantic import BaseModel, Field

from core.errors import StorageError
from platform_assets.compute.macro_reading import needed_series, reading
from serving_api.db.sessions import Session
from serving_api.evidence.market import macro_pack
from serving_api.framework.parameters import parse_as_of
from serving_api.macro import queries
from serving_api.tools.answers import Draft, ToolAnswer, of_tables
from serving_api.tools.model import Arguments, Call, Tool

_COLUMNS = ("indicator", "period_date", "value", "batch_id")


class MacroArguments(Arguments):
    as_of: str | None = Field(
        default=None, max_length=32, description="以当时所知作答：日期（当日结束）或时间；默认现在"
    )


class Signal(BaseModel):
    """One series and its vote; `vote` is null when the series is missing or stale."""

    series: str
    name: str
    unit: str
    dimension: str
    rule: str
    value: float | None
    period: str | None
    before: float | None
    before_period: str | None
    vote: int | None
    status: str


class Dimension(BaseModel):
    name: str
    score: float | None = Field(description="mean of the votes, -1..1")
    used: int


class Stated(BaseModel):
    """A stored figure, of the period or day `as_of`."""

    label: str
    value: float | str | None
    unit: str
    as_of: str


class MacroAnswer(ToolAnswer):
    items: list[Signal]
    facts: list[Stated] = Field(description="newest value of each series, releases to come; [] with as_of")
    available: bool
    reason: str | None = Field(description="why there is no reading; null when there is one")
    phase: str | None
    score: float | None
    dimensions: dict[str, Dimension]


async def macro(call: Call, asked: MacroArguments) -> Draft:
    """Stored figures only: when they are not sufficient the answer says so, and no source is asked."""
    state = call.state
    at = None if asked.as_of is None else parse_as_of(asked.as_of, state.clock.now())
    bound = None if at is None else at.bound
    today = (bound or state.clock.now().isoformat())[:10]
    away = None
    rows: list[dict[str, Any]] = []
    try:
        rows = await state.reading.scan(_read, bound)
    except StorageError:
        away = "本地数据库暂不可用，无法判断"
    points: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        if row["value"] is not None and row["period_date"] <= today:
            points.setdefault(row["indicator"], []).append((row["period_date"], float(row["value"])))
    reported = reading(points, today)
    signals = reported.pop("signals")
    if away is not None:
        reported["reason"] = away
    pack = None if at is not None or away is not None else await macro_pack(state)
    facts = [] if pack is None else pack.facts
    reported["facts"] = [
        {"label": one.label, "value": one.value, "unit": one.unit, "as_of": one.as_of} for one in facts
    ]
    receipts = await of_tables(state, (queries.VALUES,) if rows else ())
    if rows:
        receipts["batch_ids"] = sorted({row["batch_id"] for row in rows if row["batch_id"]})
    if at is not None:
        receipts["as_of"] = at.echo
    return Draft(signals, total=len(signals), body=reported, **receipts)


def _read(session: Session, as_of: str | None) -> list[dict[str, Any]]:
    """Newest points of every series, oldest first."""
    return [
        row
        for name in needed_series()
        for row in queries.series(session, [name], limit=NEWEST, as_of=as_of, columns=_COLUMNS)
    ]


NEWEST = 12
"""Points of a series: the longest look-back of a rule, with room for missing periods."""

TOOL = Tool(
    name="app_macro",
    title="宏观经济",
    description=(
        "宏观经济数据：CPI、PPI、PMI、社融、LPR 利率、国债、美国就业与物价的最新值与变化，"
        "本周和下周要公布的经济数据；并按固定规则得出增长、物价、货币所处阶段，逐项给出依据"
    ),
    arguments=MacroArguments,
    answer=MacroAnswer,
    work=macro,
)
