"""The nine rules of the cross-market risk temperature. All numbers are ours: the specification names neither
rules nor thresholds. Reasons: docs/calculations/cross-market.md."""

from dataclasses import dataclass

DOMESTIC, EXTERNAL = "domestic", "external"


@dataclass(frozen=True)
class RiskRule:
    """A value at `calm` scores 0, at `threshold` 100, in between in proportion. `oldest`: the age
    beyond which a value is stale: trade dates behind the newest session (domestic), days behind today."""

    key: str
    group: str
    name: str
    calm: float
    threshold: float
    oldest: int


RULES = (
    RiskRule("index_trend", DOMESTIC, "上证指数五日涨跌幅 %", 0.0, -5.0, 1),
    RiskRule("breadth", DOMESTIC, "上涨家数占比 %", 50.0, 15.0, 0),
    RiskRule("margin", DOMESTIC, "融资余额五日变化 %", 0.0, -3.0, 2),
    RiskRule("spx", EXTERNAL, "标普500日涨跌幅 %", 0.0, -2.5, 3),
    RiskRule("hsi", EXTERNAL, "恒生指数日涨跌幅 %", 0.0, -3.5, 3),
    RiskRule("dxy", EXTERNAL, "美元指数日涨跌幅 %", 0.0, 1.0, 3),
    RiskRule("usdcnh", EXTERNAL, "离岸人民币贬值幅度 %", 0.0, 0.6, 3),
    RiskRule("oil", EXTERNAL, "纽约原油日涨幅 %", 0.0, 6.0, 3),
    RiskRule("gold", EXTERNAL, "纽约黄金日涨幅 %", 0.0, 2.5, 3),
)
TREND_SESSIONS = 5
FEWEST = 3
"""Rules that must be known for a temperature."""
LEVELS = ((75.0, "extreme"), (50.0, "high"), (25.0, "mid"), (0.0, "low"))
