"""Figures of the backtests. Those of the nine strategies and of the three styles are quant conventions that
the product fixes; the ones marked `ours` are free choices."""

from dataclasses import dataclass

DAYS_A_YEAR = 243
"""Trade dates of a year: annual return and Sharpe."""
LONGEST_PERIOD = 250
"""Bars of the longest period that a caller may name."""
CAPITAL = 100_000.0
"""CNY"""

KDJ_LOW, KDJ_HIGH = 30.0, 70.0
RSI_LOW, RSI_HIGH = 30.0, 70.0
MOMENTUM_TREND = 60
"""Bars of the average that the momentum strategy and the trailing stop want the close to be above."""
BREAKOUT_VOLUME = 1.5
"""Multiple of the mean volume of the bars before."""
BREAKOUT_EXIT = 10
"""Bars of the average whose loss ends a volume breakout."""
ATR_PERIOD = 14

IN_SAMPLE = 0.7
"""Share of the trade dates that come first."""
OVERFIT_SHARPE = 0.5
"""Out-of-sample Sharpe below this part of the in-sample one is a warning."""
NEIGHBOURS = (0.8, 1.2)
"""Multiples of the periods."""

SCORE_VOLUME_BARS = 5
"""Ours: bars before, whose mean volume the volume of a pick's day is compared with."""


@dataclass(frozen=True)
class Style:
    """A profile of the trailing stop. `risk_pct` and `position_pct` are percent of the equity."""

    key: str
    name: str
    breakout_bars: int
    atr_multiple: float
    risk_pct: float
    position_pct: float


STYLES = (
    Style("conservative", "稳健", 55, 2.0, 0.5, 50.0),
    Style("moderate", "均衡", 20, 2.5, 1.0, 80.0),
    Style("aggressive", "进取", 10, 3.5, 2.0, 100.0),
)
