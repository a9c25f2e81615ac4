"""Draw the examples of `docs/calculations/patterns.md` from the committed slice of real bars.

python -m tests.compute.patterns.examples
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.market.bars import Bars
from tests.compute.conftest import FULL, HERE, read_bars
from tests.compute.patterns.reference import Series, T

FOLDER = Path(__file__).parents[3] / "docs/calculations"
WIDTH, HEIGHT, PRICES, EDGE = 760, 340, 250, 46
AFTER = 6
LAG = T.pivots.lag
RED, GREEN, LINE = "#c0392b", "#1e8449", "#1f4e9c"


class Example(NamedTuple):
    """A break of a reversal; the list of swings on its day has `anchors` entries of the formation."""

    name: str
    code: str
    day: int
    anchors: int


EXAMPLES = (
    Example("double_top", "002709", 20220415, 3),
    Example("double_bottom", "000538", 20220513, 3),
    Example("triple_top", "000001", 20220713, 5),
)


def drawing(bars: Bars, example: Example) -> str:
    """One chart as SVG: bars in prices of the day of the break, the formation's swings, neckline, volume."""
    series, rows = Series(bars, example.code), bars.rows_of(example.code)
    (t,) = np.flatnonzero(bars.date[rows] == example.day)
    swings = series.pivots(t)[-example.anchors :]
    neck = swings[-2]
    first = max(0, swings[0].bar - 12)
    days = range(first, min(t + AFTER + 1, len(series.close)))
    scale = bars.factor[rows][t]
    top, low = series.high[days.start : days.stop].max(), series.low[days.start : days.stop].min()
    most = series.volume[days.start : days.stop].max()
    step = (WIDTH - 2 * EDGE) / len(days)

    def x(day: int) -> str:
        return f"{EDGE + (day - first + 0.5) * step:.1f}"

    def y(price: float) -> str:
        return f"{24 + (top - price) / (top - low) * (PRICES - 34):.1f}"

    def stroke(a: str, b: str, c: str, d: str, color: str, more: str = "") -> str:
        return f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}" stroke="{color}"{more}/>'

    def text(a: str, b: str, words: str, anchor: str = "middle") -> str:
        return f'<text x="{a}" y="{b}" text-anchor="{anchor}">{words}</text>'

    parts: list[str] = []
    for day in days:
        color = RED if day == 0 or series.close[day] >= series.close[day - 1] else GREEN
        parts.append(stroke(x(day), y(series.high[day]), x(day), y(series.low[day]), color))
        close = y(series.close[day])
        parts.append(stroke(x(day), close, f"{float(x(day)) + step * 0.45:.1f}", close, color))
        height = series.volume[day] / most * 56
        foot = HEIGHT - 20
        parts.append(stroke(x(day), str(foot), x(day), f"{foot - height:.1f}", color, ' stroke-width="3"'))
    line = y(neck.price)
    dashed = ' stroke-dasharray="5 3" stroke-width="1.5"'
    parts.append(stroke(x(swings[0].bar), line, x(days[-1]), line, LINE, dashed))
    parts.append(stroke(x(t), "14", x(t), str(HEIGHT - 20), "#888", ' stroke-dasharray="2 3"'))
    for one in swings:
        at = float(y(one.price))
        parts.append(f'<circle cx="{x(one.bar)}" cy="{at:.1f}" r="4" fill="none" stroke="{LINE}"/>')
        parts.append(text(x(one.bar), f"{at + (-8 if one.side > 0 else 16):.1f}", f"{one.price / scale:.2f}"))
    parts.append(text(str(EDGE), "12", f"{example.name} {example.code}", "start"))
    parts.append(text(x(t), "10", str(example.day)))
    last = swings[-1].bar
    reported = (
        f"last extreme {t - last} bars before the break, known as a swing {t - last - LAG} bars before it"
    )
    parts.append(text(str(EDGE), str(HEIGHT - 4), reported, "start"))
    frame = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>", ""])


def drawings() -> dict[str, str]:
    """File name -> SVG."""
    bars = read_bars(HERE / FULL)
    return {f"pattern-{one.name.replace('_', '-')}.svg": drawing(bars, one) for one in EXAMPLES}


if __name__ == "__main__":
    for name, svg in drawings().items():
        (FOLDER / name).write_text(svg)
