"""The plots of the page: the real market in grey and black, the profiles of the sample in colours."""

import io
from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tests.real_day.market.figures import Sample, returns
from tests.real_day.market.panel import Floats, Panel
from tests.real_day.market.real import INDUSTRIES, Real

mpl.rcParams["font.size"] = 8
GREYS = ("black", "dimgrey", "darkgrey")
COLOURS = {"S": "tab:orange", "M": "tab:blue", "L": "tab:red"}
_INDEX = "000300"
_DAYS = 250
_LAGS = 20


def plots(real: Real, samples: Sequence[Sample]) -> dict[str, bytes]:
    """PNG by file name."""
    broad = [panel for panel in real.panels if panel.broad]
    panels = [*((panel, GREYS[at]) for at, panel in enumerate(real.panels))]
    mine = [(one.panel, COLOURS[one.profile]) for one in samples]
    across = [*((panel, GREYS[at]) for at, panel in enumerate(broad)), *mine]
    return {
        "indices.png": _drawn(_levels(real, samples), _deviations(real, samples)),
        "breadth.png": _drawn(*[_breadth(*one) for one in across]),
        "limits.png": _drawn(
            _counts(across, "up", real.pool), _counts(across, "down"), _ladders(across, real)
        ),
        "changes.png": _drawn(_changes([*panels, *mine]), _clusters([*panels, *mine])),
        "trading.png": _drawn(_turnovers([*panels, *mine]), _amplitudes([*panels, *mine])),
        "ratios.png": _drawn(_ratios(real, samples, "pe", "P/E"), _ratios(real, samples, "pb", "P/B")),
    }  # fmt: skip


Draw = Callable[[Axes], None]


def _drawn(*draws: Draw) -> bytes:
    columns = 2 if len(draws) > 3 else len(draws)
    lines = -(-len(draws) // columns)
    canvas = Canvas(figsize=(5.0 * columns, (2.2 if len(draws) > 3 else 3.4) * lines), dpi=110)
    grid = canvas.subplots(lines, columns, squeeze=False).ravel()
    for axes, draw in zip(grid, draws, strict=False):
        draw(axes)
    for axes in grid[len(draws) :]:
        axes.set_visible(False)
    canvas.tight_layout()
    kept = io.BytesIO()
    canvas.savefig(kept, format="png", metadata={"Software": None})
    return kept.getvalue()


def _levels(real: Real, samples: Sequence[Sample]) -> Draw:
    def draw(axes: Axes) -> None:
        years = real.levels.get(_INDEX, {})

        walk = (
            np.concatenate([[1.0], *(returns(one) + 1 for one in years.values())]).cumprod()
            if years
            else np.ones(1)
        )
        axes.plot(walk, color="black", lw=0.8, label=f"CSI 300 since {min(years, default=0)}")
        for one in samples:
            level = one.levels[_INDEX]
            axes.plot(level / level[0], color=COLOURS[one.profile], lw=0.8, label=f"sample {one.profile}")
        axes.set(title="index level, first session = 1", xlabel="sessions")
        axes.legend()

    return draw


def _deviations(real: Real, samples: Sequence[Sample]) -> Draw:
    """Deviation of the daily changes over a window that moves, in percent."""

    def draw(axes: Axes) -> None:
        years = real.levels.get(_INDEX, {})
        if years:
            axes.plot(
                _moving(np.concatenate([returns(one) for one in years.values()])), color="black", lw=0.8
            )
        for one in samples:
            axes.plot(_moving(returns(one.levels[_INDEX])), color=COLOURS[one.profile], lw=0.8)
        axes.axhspan(1.1, 1.5, color="tab:green", alpha=0.15)
        axes.set(title="index: deviation of 60 daily changes, %", xlabel="sessions", ylim=(0, 4))

    return draw


def _moving(values: Floats, width: int = 60) -> Floats:
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    return np.asarray(windows.std(axis=1) * 100, dtype=np.float64)


def _breadth(panel: Panel, colour: str) -> Draw:
    def draw(axes: Axes) -> None:
        shown = panel.breadth[1:][-_DAYS // 2 :]
        axes.bar(np.arange(len(shown)), shown - 0.5, bottom=0.5, width=1.0, color=colour)
        axes.set(title=f"share of rising stocks: {panel.name}", ylim=(0, 1))

    return draw


def _counts(panels: Sequence[tuple[Panel, str]], side: str, touched: Floats | None = None) -> Draw:
    def draw(axes: Axes) -> None:
        values, names, colours = [], [], []
        for panel, colour in panels:
            values.append(panel.per_market(panel.up if side == "up" else panel.down)[1:])
            names.append(panel.name.split(",")[0])
            colours.append(colour)
        if touched is not None:
            values.append(touched)
            names.append("2025-26\ntouched")
            colours.append("lightgrey")
        _boxes(axes, values, names, colours)
        axes.axhspan(*((20, 120) if side == "up" else (0, 40)), color="tab:green", alpha=0.15)
        axes.set(title=f"limit-{side}s a day of 5,500 stocks", ylim=(0, 320 if side == "up" else 200))

    return draw


def _boxes(axes: Axes, values: Sequence[Floats], names: Sequence[str], colours: Sequence[str]) -> None:
    drawn = axes.boxplot(list(values), whis=(5, 95), showfliers=False, patch_artist=True)
    for box, colour in zip(drawn["boxes"], colours, strict=True):
        box.set(facecolor=colour, alpha=0.6)
    axes.set_xticks(range(1, len(names) + 1), names, rotation=20)


def _ladders(panels: Sequence[tuple[Panel, str]], real: Real) -> Draw:
    def draw(axes: Axes) -> None:
        heights = np.arange(0, 13)
        for panel, colour in panels:
            known = panel.ladders[5:]
            share = [float((known == height).mean()) for height in heights]
            axes.plot(heights, share, "o-", ms=3, color=colour, label=panel.name.split(",")[0])
        if len(real.streaks):
            reported = [float((real.streaks == height).mean()) for height in heights]
            axes.plot(heights, reported, "x:", color="grey", label="pool of 2026-06")
        axes.set(title="highest ladder of a day, share of days", xlabel="limit-ups in a row")
        axes.legend()

    return draw


def _changes(panels: Sequence[tuple[Panel, str]]) -> Draw:
    def draw(axes: Axes) -> None:
        edges = np.linspace(-21, 21, 127)
        for panel, colour in panels:
            known = panel.change[np.isfinite(panel.change)] * 100
            density, _ = np.histogram(known, edges, density=True)
            axes.plot((edges[1:] + edges[:-1]) / 2, density, color=colour, lw=0.9, label=panel.name)
        axes.set(title="daily change of a stock, density", xlabel="%", yscale="log", ylim=(1e-5, 1))
        axes.legend()

    return draw


def _clusters(panels: Sequence[tuple[Panel, str]]) -> Draw:
    """Autocorrelation of the sizes of daily changes, the mean over stocks."""

    def draw(axes: Axes) -> None:
        for panel, colour in panels:
            if panel.change.shape[1] < 4 * _LAGS:
                continue
            sizes = np.abs(panel.change)
            axes.plot(
                range(1, _LAGS + 1),
                [_lagged(sizes, lag) for lag in range(1, _LAGS + 1)],
                color=colour,
                lw=0.9,
            )
        axes.axhline(0, color="grey", lw=0.5)
        axes.set(title="size of daily changes: autocorrelation", xlabel="sessions apart", ylim=(-0.1, 0.4))

    return draw


def _lagged(values: Floats, lag: int) -> float:
    with np.errstate(invalid="ignore"):
        centred = values - np.nanmean(values, axis=1, keepdims=True)
        parts = np.nanmean(centred[:, lag:] * centred[:, :-lag], axis=1) / np.nanmean(centred**2, axis=1)
    return float(np.nanmean(parts))


def _logged(
    panels: Sequence[tuple[Panel, str]], pick: Callable[[Panel], Floats | None], edges: Floats
) -> Draw:
    def draw(axes: Axes) -> None:
        for panel, colour in panels:
            values = pick(panel)
            if values is None:
                continue
            known = values[np.isfinite(values) & (values > 0)] * 100
            density, _ = np.histogram(known, edges)
            middles = np.sqrt(edges[1:] * edges[:-1])
            axes.plot(middles, density / density.sum(), color=colour, lw=0.9, label=panel.name.split(",")[0])
        axes.set(xscale="log", xlabel="%")
        axes.legend()

    return draw


def _turnovers(panels: Sequence[tuple[Panel, str]]) -> Draw:
    inner = _logged(panels, lambda panel: panel.turnover, np.geomspace(0.02, 100, 80))

    def draw(axes: Axes) -> None:
        inner(axes)
        axes.set(title="turnover of a day, share of stock days")

    return draw


def _amplitudes(panels: Sequence[tuple[Panel, str]]) -> Draw:
    inner = _logged(panels, lambda panel: panel.amplitude, np.geomspace(0.2, 45, 80))

    def draw(axes: Axes) -> None:
        inner(axes)
        axes.set(title="amplitude of a day, share of stock days")

    return draw


def _ratios(real: Real, samples: Sequence[Sample], key: str, label: str) -> Draw:
    """The real stocks of an industry as a box from 10 % to 90 %, the sample's median as a point."""

    def draw(axes: Axes) -> None:
        words: Mapping[str, str] = {name: word for name, (_, word) in INDUSTRIES.items()}
        names = [name for name in words if len(real.ratios[name][key])]
        for place, name in enumerate(names):
            low, middle, high = np.quantile(real.ratios[name][key], [0.1, 0.5, 0.9])
            axes.plot([place, place], [low, high], color="darkgrey", lw=6, solid_capstyle="butt")
            axes.plot(place, middle, "_", color="black", ms=10)
            for one in samples:
                known = one.ratios[name][key]
                if len(known):
                    axes.plot(place, np.median(known), "o", ms=4, color=COLOURS[one.profile])
        axes.set_xticks(range(len(names)), [words[name] for name in names], rotation=60)
        axes.set(title=f"{label} by industry: real 10 % to 90 %, medians of the samples", yscale="log")

    return draw
