"""Response models of the strategies."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.market.backtests.schemas import PeriodItem

# Field names below /stocks are camelCase, as on the other routes there.


class StrategyRow(BaseModel):
    key: str
    name: str
    kind: str = Field(description="trend, reversal or breakout")
    params: list[PeriodItem]
    description: str
    last_run: str | None = Field(description="newest trade date with a purchase")


class StrategyRows(BaseModel):
    items: list[StrategyRow]


class Pick(BaseModel):
    rank: int
    code: str
    name: str | None
    score: float | None = Field(description="0..100, how unusual price and volume are in the market")
    price: float | None = Field(description="close of the date, CNY, unadjusted")
    change_pct: float | None = Field(description="of the date")
    reason: str


class PickList(Reach):
    """Stocks that a strategy bought at the close of a date."""

    key: str
    date: str | None
    items: list[Pick]
    total: int = Field(description="picks of the date")


class PicksCurvePoint(BaseModel):
    date: str = Field(description="of the signals")
    cum_pct: float = Field(description="percent; compounds a fifth of the mean return of each date")


class PickValidation(Reach):
    """Picks bought at the next open and sold at the close of the fifth trade date; percent."""

    key: str
    picks: int
    reviewed: int = Field(description="picks whose five trade dates have passed")
    win_rate_pct: float | None
    avg_profit_pct: float | None
    avg_excess_pct: float | None = Field(description="above the CSI 300 over the same dates")
    unfillable: int = Field(description="reviewed picks whose next open was the upper limit")
    curve: list[PicksCurvePoint]


class System(BaseModel):
    key: str = Field(description="dragon, tactic or composite, as in /builtin-strategies")
    name: str
    conclusion: str = Field(
        description="strong, neutral, weak, blocked by a gate, absent from the pool, or missing inputs"
    )
    score: float | None = Field(description="0..100")
    passed: bool | None = Field(description="null where inputs are missing")
    reasons: list[str]
    warnings: list[str] = Field(description="inputs that are missing or of an earlier date")


class AuditGate(BaseModel):
    """The hard gates; null when the stock is unknown."""

    passed: bool | None
    blocked: bool | None
    code: str | None
    reason: str | None
    warnings: list[str]


class Audit(BaseModel):
    """The verdict of the three built-in systems on a stock."""

    code: str
    date: str | None = Field(description="newest bar of the stock")
    systems: list[System]
    gate: AuditGate


class StrategyHit(BaseModel):
    date: str
    strategyKey: str
    strategyName: str
    score: float | None
    price: float | None = Field(description="close of the date, CNY, unadjusted")
    changeSince: float | None = Field(description="percent up to the newest close, adjusted")


class TacticHit(BaseModel):
    date: str
    signalKey: str = Field(description="signal, or direction column of a pattern")
    signalName: str
    direction: int = Field(description="1 up, -1 down, 0 neither")
    price: float | None = Field(description="close of the date, CNY, unadjusted")
    strength: float | None = Field(description="in the measure of the signal; null for patterns")
