"""Statistics of a group of picks: how many won, how much, against the index, with and without those that
could not have been bought."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats
from platform_assets.compute.scorecards.forward import PENDING, Outcomes


@dataclass(frozen=True)
class Picks:
    """Columns of stored picks, one element each. NaN: not known."""

    status: npt.NDArray[Any]
    profit_pct: Floats
    excess_pct: Floats
    hold_days: Floats
    unfillable: Bools

    @classmethod
    def of(cls, found: Outcomes) -> "Picks":
        """Sums over the outcomes of picks."""
        held = np.where(found.hold_days > 0, found.hold_days, np.nan).astype(np.float64)
        return cls(found.status, found.profit_pct, found.excess_pct, held, found.unfillable)

    @classmethod
    def joined(cls, parts: Sequence["Picks"]) -> "Picks":
        """One group of several, in their order; at least one."""
        return cls(**{name: np.concatenate([vars(one)[name] for one in parts]) for name in vars(parts[0])})

    def __len__(self) -> int:
        return len(self.status)

    def where(self, keep: Bools) -> "Picks":
        return Picks(**{name: values[keep] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Sums:
    """The additive parts of statistics over several groups: counts of settled picks, and sums in percent."""

    reviewed: int = 0
    returns: int = 0
    """of these, with a return"""
    excess_returns: int = 0
    """of these, with a return of the index over the same dates"""
    wins: int = 0
    losses: int = 0
    gain_sum_pct: float = 0.0
    loss_sum_pct: float = 0.0
    """zero or negative"""
    excess_sum_pct: float = 0.0

    @classmethod
    def of(cls, picks: Picks) -> "Sums":
        own = picks.where(picks.status != PENDING)
        profits = own.profit_pct[np.isfinite(own.profit_pct)]
        excess = own.excess_pct[np.isfinite(own.excess_pct)]
        gains, losses = profits[profits > 0], profits[profits < 0]
        return cls(
            reviewed=len(own),
            returns=len(profits),
            excess_returns=len(excess),
            wins=len(gains),
            losses=len(losses),
            gain_sum_pct=float(gains.sum()),
            loss_sum_pct=float(losses.sum()),
            excess_sum_pct=float(excess.sum()),
        )

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    @property
    def win_rate_pct(self) -> float | None:
        return self.wins / self.reviewed * 100 if self.reviewed else None

    @property
    def avg_profit_pct(self) -> float | None:
        return (self.gain_sum_pct + self.loss_sum_pct) / self.returns if self.returns else None

    @property
    def avg_excess_pct(self) -> float | None:
        return self.excess_sum_pct / self.excess_returns if self.excess_returns else None

    @property
    def profit_loss_ratio(self) -> float | None:
        if not self.wins or not self.losses:
            return None
        return (self.gain_sum_pct / self.wins) / (-self.loss_sum_pct / self.losses)


@dataclass(frozen=True)
class GroupStats:
    """Percentages; None where there is nothing to take them of.

    `reviewed` are the settled picks, also those without a return (suspended all the time, delisted): they are
    in the denominator of `win_rate_pct`, and means are of the returns that are known.
    """

    picks: int
    reviewed: int
    win_rate_pct: float | None
    avg_profit_pct: float | None
    median_profit_pct: float | None
    avg_excess_pct: float | None
    profit_loss_ratio: float | None
    """Mean gain of the winners / mean loss of the losers; None without both."""
    max_gain_pct: float | None
    """Best return."""
    max_loss_pct: float | None
    """Worst return."""
    avg_hold_days: float | None
    unfillable: int
    """Of the settled ones, those whose purchase would have been at the limit-up price."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def group_stats(picks: Picks) -> GroupStats:
    """Statistics of all picks of a group."""
    settled = picks.status != PENDING
    own = picks.where(settled)
    profits = own.profit_pct[np.isfinite(own.profit_pct)]
    sums = Sums.of(picks)
    return GroupStats(
        picks=len(picks),
        reviewed=sums.reviewed,
        win_rate_pct=sums.win_rate_pct,
        avg_profit_pct=sums.avg_profit_pct,
        median_profit_pct=float(np.median(profits)) if len(profits) else None,
        avg_excess_pct=sums.avg_excess_pct,
        profit_loss_ratio=sums.profit_loss_ratio,
        max_gain_pct=float(profits.max()) if len(profits) else None,
        max_loss_pct=float(profits.min()) if len(profits) else None,
        avg_hold_days=_mean(own.hold_days),
        unfillable=int(own.unfillable.sum()),
    )


def fillable_stats(picks: Picks) -> GroupStats:
    """The same without the picks that could not have been bought."""
    return group_stats(fillable(picks))


def fillable(picks: Picks) -> Picks:
    """The picks that could have been bought."""
    return picks.where(~picks.unfillable)


def grouped(picks: Picks, keys: npt.NDArray[Any]) -> Mapping[Any, Picks]:
    """Picks by key, in the order of the keys; those whose key is None are left out."""
    named = np.array([key is not None for key in keys], dtype=bool)
    found = sorted(set(keys[named].tolist()))
    return {key: picks.where(named & (keys == key)) for key in found}


def cumulated(changes: Floats) -> Floats:
    """Percent earned in all when each change (percent) is earned on top of those before; NaN: nothing."""
    growth = np.cumprod(1 + np.where(np.isfinite(changes), changes, 0.0) / 100)
    return np.asarray((growth - 1) * 100, dtype=np.float64)


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
