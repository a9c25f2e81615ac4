"""Does a strategy hold outside the time that it was looked at, and with other periods?"""

from collections.abc import Callable
from dataclasses import dataclass

from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.engine import Run, run_rule
from platform_assets.compute.backtests.figures import Figures, figures_of
from platform_assets.compute.backtests.strategies import SignalRule, Strategy, prices_of
from platform_assets.compute.parameters import backtests as p


@dataclass(frozen=True)
class Part:
    """A run over days [start, stop) with fresh capital."""

    start: int
    stop: int
    periods: tuple[int, ...]
    figures: Figures


@dataclass(frozen=True)
class Validation:
    """`overfit_risk` is None where one of the two has no Sharpe ratio."""

    in_sample: Part
    out_of_sample: Part
    neighbours: tuple[Part, ...]
    overfit_risk: bool | None


@dataclass(frozen=True)
class Strategic:
    """A strategy over the days of one stock."""

    days: Days
    strategy: Strategy
    board: str
    capital: int
    start: int
    slippage_pct: float = 0.0

    def runner(self, periods: tuple[int, ...]) -> Callable[[int, int], Run]:
        """Runs over days [start, stop); the signals are made once."""
        signals = self.strategy.run(prices_of(self.days), periods)

        def run(start: int, stop: int) -> Run:
            return run_rule(
                self.days, SignalRule(self.days, signals), board=self.board, capital=self.capital,
                start=start, stop=stop, slippage_pct=self.slippage_pct,
            )  # fmt: skip

        return run

    def validated(self, periods: tuple[int, ...]) -> Validation | None:
        """None with less than two days on either side of the split."""
        stop = len(self.days)
        split = self.start + int((stop - self.start) * p.IN_SAMPLE)
        if split - self.start < 2 or stop - split < 2:
            return None

        def part(run: Callable[[int, int], Run], start: int, end: int, chosen: tuple[int, ...]) -> Part:
            return Part(start, end, chosen, figures_of(run(start, end), self.days))

        run = self.runner(periods)
        first, second = part(run, self.start, split, periods), part(run, split, stop, periods)
        others = (
            part(self.runner(chosen), self.start, stop, chosen)
            for chosen in self.strategy.neighbours(periods)
        )
        inside, outside = first.figures.sharpe, second.figures.sharpe
        known = inside is not None and outside is not None
        risk = outside < p.OVERFIT_SHARPE * inside if known else None  # type: ignore[operator]
        return Validation(first, second, tuple(others), risk)
