"""The figures that are compared: of the real files, and of each profile of the sample.

A band is either asked for (limits of a plausible sample) or spans what the real files show, in their
years or in their parts, widened by a fifth of its middle on both sides where there are few parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from simulated_market.margin import MarginBook
from simulated_market.wire import View
from simulated_market.world.full import SyntheticWorld
from tests.real_day.market.panel import Floats, Panel, sample_indices, sample_panel
from tests.real_day.market.real import INDUSTRIES, Real

SESSIONS_A_YEAR = 243
NOW = datetime(2026, 11, 20, 16, 30)
_BROAD_INDICES = ("000001", "399001", "000300", "000905", "000852")
_WIDEN = 0.2
SEALED_IN_POOL = 0.7
"""Share of the touched limits of 2025 and 2026 that were held to the close, as the pool's origin says."""
_LEAST_MEMBERS = 10
"""Stocks of an industry whose median says something."""


@dataclass(frozen=True)
class Sample:
    """One profile of the sample with what the figures need."""

    profile: str
    panel: Panel
    levels: dict[str, Floats]
    ratios: dict[str, dict[str, Floats]]
    credit_share: float


@dataclass
class Figure:
    """One compared figure. `real` are the values of the parts; `sample` is by profile."""

    name: str
    unit: str
    low: float
    high: float
    origin: str
    real: list[float]
    sample: dict[str, float] = field(default_factory=dict)
    spare: frozenset[str] = frozenset()
    """Profiles too small for this figure: shown, and not judged."""

    def inside(self, profile: str) -> bool | None:
        """None where the profile is not judged."""
        if profile in self.spare:
            return None
        return self.low <= self.sample[profile] <= self.high


def sample_of(profile: str) -> Sample:
    world = SyntheticWorld(profile)
    view = View(world, NOW)
    rows = MarginBook().of_date(view, int(world.trade_dates()[world.trade_dates() < 20261120][-1]))
    return Sample(
        profile=profile,
        panel=sample_panel(world),
        levels=sample_indices(world),
        ratios=_ratios(world),
        credit_share=sum(one.rzye for one in rows) / sum(one.float_cap for one in rows),
    )


def _ratios(world: SyntheticWorld) -> dict[str, dict[str, Floats]]:
    found: dict[str, dict[str, list[float]]] = {name: {"pe": [], "pb": []} for name in INDUSTRIES}
    for security in world.securities(NOW):
        names = {security.sector, security.industry} & set(found)
        if security.kind != "stock" or not names:
            continue
        value = world.valuation(security, NOW)
        for name in names:
            for key, ratio in (("pe", value and value.pe_ttm), ("pb", value and value.pb)):
                if ratio is not None and ratio > 0:
                    found[name][key].append(ratio)
    return {name: {key: np.asarray(values) for key, values in both.items()} for name, both in found.items()}


# -- what is measured -----------------------------------------------------------------------------------


def returns(levels: Floats) -> Floats:
    return np.asarray(levels[1:] / levels[:-1] - 1, dtype=np.float64)


def lag_one(row: Floats) -> float:
    centred = row - row.mean()
    return float((centred[1:] * centred[:-1]).mean() / (centred * centred).mean())


def _rows(values: Floats, least: int) -> list[Floats]:
    kept = (row[np.isfinite(row)] for row in values)
    return [row for row in kept if len(row) >= least and row.std() > 0]


def _least(panel: Panel) -> int:
    return min(250, int(len(panel.dates) * 0.8))


def stock_deviation(panel: Panel) -> float:
    return float(np.mean([row.std() for row in _rows(panel.change, _least(panel))])) * 100


def clustering(panel: Panel) -> float:
    return float(np.mean([lag_one(np.abs(row)) for row in _rows(panel.change, _least(panel))]))


def reversal(panel: Panel) -> float:
    return float(np.mean([lag_one(row) for row in _rows(panel.change, _least(panel))]))


def excess_kurtosis(panel: Panel) -> float:
    known = panel.change[np.isfinite(panel.change)]
    return float((((known - known.mean()) / known.std()) ** 4).mean() - 3)


def _at(values: Floats, share: float, scale: float = 1.0) -> float:
    return float(np.nanquantile(values, share)) * scale


def _breadth_step(panel: Panel) -> float:
    return float(np.abs(np.diff(panel.breadth[1:])).mean())


def drift(levels: Floats) -> float:
    """Percent a year."""
    return float((levels[-1] / levels[0]) ** (SESSIONS_A_YEAR / (len(levels) - 1)) - 1) * 100


Of = Callable[[Panel], float]
_PANELS: tuple[tuple[str, str, Of, tuple[float, float] | None, frozenset[str]], ...] = (
    ("share of rising stocks, 5 % quantile", "", lambda p: _at(p.breadth[1:], 0.05), None, frozenset()),
    ("share of rising stocks, median", "", lambda p: _at(p.breadth[1:], 0.5), None, frozenset()),
    ("share of rising stocks, 95 % quantile", "", lambda p: _at(p.breadth[1:], 0.95), None, frozenset()),
    ("share of rising stocks, from day to day", "", _breadth_step, None, frozenset()),
    (
        "limit-ups a day of 5,500, median", "",
        lambda p: _at(p.per_market(p.up)[1:], 0.5), (20, 120), frozenset(),
    ),
    (
        "limit-downs a day of 5,500, median", "",
        lambda p: _at(p.per_market(p.down)[1:], 0.5), (0, 40), frozenset(),
    ),
    (
        "broken limits among touched ones", "",
        lambda p: float(p.broken.sum() / max(p.broken.sum() + p.up.sum(), 1)), None, frozenset({"S"}),
    ),
    (
        "highest ladder of a day, median", "boards",
        lambda p: _at(p.ladders[1:].astype(float), 0.5), (3, 7), frozenset({"S", "M"}),
    ),
    ("daily change of a stock, deviation", "%", stock_deviation, None, frozenset()),
    ("daily changes, 1 % quantile", "%", lambda p: _at(p.change, 0.01, 100), None, frozenset()),
    ("daily changes, 99 % quantile", "%", lambda p: _at(p.change, 0.99, 100), None, frozenset()),
    ("daily changes, excess kurtosis", "", excess_kurtosis, None, frozenset()),
    ("daily changes, autocorrelation", "", reversal, (-0.08, 0.08), frozenset({"S"})),
    ("size of daily changes, autocorrelation", "", clustering, None, frozenset()),
    ("amplitude of a day, median", "%", lambda p: _at(p.amplitude, 0.5, 100), None, frozenset()),
    ("amplitude of a day, 99 % quantile", "%", lambda p: _at(p.amplitude, 0.99, 100), None, frozenset()),
)  # fmt: skip
_TURNOVER: tuple[tuple[str, float], ...] = (("median", 0.5), ("99 % quantile", 0.99))


def _spanned(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = _WIDEN * abs(low + high) / 2
    return low - room, high + room


def compare(real: Real, samples: Sequence[Sample]) -> list[Figure]:
    """Every figure with its band, the real values and those of the samples."""
    figures = _of_indices(real, samples)
    broad = [panel for panel in real.panels if panel.broad]
    for name, unit, measure, asked, spare in _PANELS:
        across = any(word in name for word in ("limit", "ladder"))
        values = [measure(panel) for panel in (broad if across else real.parts)]
        if name.startswith("broken"):
            values.append(1 - SEALED_IN_POOL)
        low, high = asked or _spanned(values)
        origin = "asked for" if asked else "span of the files"
        of_samples = {one.profile: measure(one.panel) for one in samples}
        figures.append(Figure(name, unit, low, high, origin, values, of_samples, spare))
    for name, share in _TURNOVER:
        values = [_at(one.turnover, share, 100) for one in broad if one.turnover is not None]
        low, high = _spanned(values)
        of_samples = {
            one.profile: _at(one.panel.turnover, share, 100)
            for one in samples
            if one.panel.turnover is not None
        }
        figures.append(
            Figure(f"turnover of a day, {name}", "%", low, high, "span of the files", values, of_samples)
        )
    figures.append(_credit(real, samples))
    return [*figures, *_of_industries(real, samples)]


def _of_indices(real: Real, samples: Sequence[Sample]) -> list[Figure]:
    years = [levels for code in _BROAD_INDICES for levels in real.levels.get(code, {}).values()]
    deviation = Figure(
        "daily change of an index, deviation (mean of five)", "%", 1.1, 1.5, "asked for",
        [float(returns(levels).std()) * 100 for levels in years],
    )  # fmt: skip
    yearly = Figure(
        "drift of the indices (mean of five)", "% a year", 0, 8, "asked for",
        [drift(levels) for levels in years],
    )  # fmt: skip
    memories = [lag_one(returns(levels)) for levels in years]
    memory = Figure(
        "daily change of an index, autocorrelation", "", min(memories), max(memories),
        "span of the years", memories,
    )  # fmt: skip
    for one in samples:
        rows = [one.levels[code] for code in _BROAD_INDICES]
        deviation.sample[one.profile] = float(np.mean([returns(row).std() for row in rows])) * 100
        yearly.sample[one.profile] = float(np.mean([drift(row) for row in rows]))
        memory.sample[one.profile] = float(np.mean([lag_one(returns(row)) for row in rows]))
    return [deviation, yearly, memory]


def _credit(real: Real, samples: Sequence[Sample]) -> Figure:
    figure = Figure("margin balance of the float", "%", 2.0, 4.5, "asked for", [real.credit_share * 100])
    figure.sample = {one.profile: one.credit_share * 100 for one in samples}
    return figure


def _of_industries(real: Real, samples: Sequence[Sample]) -> list[Figure]:
    """The median of an industry lies among the real stocks of it at the ends of six years, from their 10 % to
    their 90 % quantile, and a fifth beyond: the files hold the large companies of an industry alone."""
    figures = []
    for key, label in (("pe", "P/E"), ("pb", "P/B")):
        for name, (_, word) in INDUSTRIES.items():
            known = real.ratios[name][key]
            medians = {
                one.profile: float(np.median(one.ratios[name][key]))
                for one in samples
                if len(one.ratios[name][key])
            }
            if len(known) < _LEAST_MEMBERS or not medians:
                continue
            spare = {one.profile for one in samples if len(one.ratios[name][key]) < _LEAST_MEMBERS}
            figures.append(
                Figure(
                    f"{label} of {word} ({name}), median", "",
                    float(np.quantile(known, 0.1)) * (1 - _WIDEN),
                    float(np.quantile(known, 0.9)) * (1 + _WIDEN),
                    f"four fifths of {len(known)} stocks at ends of years", [float(np.median(known))],
                    medians, frozenset(spare),
                )
            )  # fmt: skip
    return figures
