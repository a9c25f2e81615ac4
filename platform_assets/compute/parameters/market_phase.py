"""The emotion cycle of the market: inputs, weights, anchors, stages.

Weights, the seven inputs, bands and anchors are those of the design of the calculations (ours: the
specification names the stages and defines none of them).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """One daily input. `worst` and `best` are the anchors of the linear scale 0 to 100 that is used while
    the history is short; `best < worst`: less of it is better."""

    key: str
    weight: float
    worst: float
    best: float

    @property
    def inverted(self) -> bool:
        return self.best < self.worst


INPUTS = (
    Input("limit_up", 0.20, 20.0, 120.0),
    Input("limit_down", 0.15, 60.0, 0.0),
    Input("max_boards", 0.15, 2.0, 8.0),
    Input("broken_rate", 0.10, 0.5, 0.1),
    Input("promotion_rate", 0.15, 0.1, 0.5),
    Input("prev_change_pct", 0.15, -3.0, 5.0),
    Input("advance_share", 0.10, 0.2, 0.8),
)
"""limit-ups, limit-downs, longest streak, broken / touched, promoted / limit-ups of the date before, mean
change of these in percent, rose / (rose + fell)."""
HISTORY_DAYS = 250
"""Dates before a date among which its inputs are ranked."""
FEWEST_DAYS = 60
"""Known values below which the anchors are used in place of the rank."""
SLOPE_DAYS = 3
"""dS is the score less the mean of so many dates before."""
LEAST_COVERED = 0.5
"""Weight of the inputs that are known, below which there is no phase."""

ICE, REPAIR, EBB, RISE, DIVERGE, CLIMAX = "ice", "repair", "ebb", "rise", "diverge", "climax"
LABELS = {ICE: "冰点", REPAIR: "修复", RISE: "升温", CLIMAX: "高潮", DIVERGE: "分歧", EBB: "退潮"}
EXTREMES = (ICE, CLIMAX)
ICE_BELOW = 20.0
WARM_FROM = 45.0
CLIMAX_FROM = 80.0
MARGIN = 3.0
"""Points beyond the border that make a change at once; nearer to it, it needs `CONFIRM_DAYS`."""
CONFIRM_DAYS = 2
STREAK_DAYS = 30
"""Dates before a date that its longest streak is counted over."""
AMOUNT_DAYS = 20
MAIN_INDEX = "sh000001"
