"""One page with every figure and every plot, in one file that needs no other.

    python -m tests.real_day.market.page [--data DIR] [--out FILE] [--profiles S,M,L] [--docs]

`make real-day` writes it next to its report. `--docs` brings the table of the documentation up to date. Exit
code 1 when a figure lies outside its band.
"""

import argparse
import base64
import html
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.real_day.findings import Section
from tests.real_day.market import real as files
from tests.real_day.market.figures import Figure, compare, sample_of
from tests.real_day.market.plots import plots

PAGE = "sample-and-real.html"
DOCS = Path(__file__).parents[3] / "docs" / "simulated-market.md"
BEGIN, END = "<!-- measured: sample and real -->\n", "<!-- end of measured -->\n"
_TITLES = {
    "indices.png": "Indices",
    "breadth.png": "Breadth, the newest 125 sessions",
    "limits.png": "Limit-ups, limit-downs, ladders",
    "changes.png": "Daily changes and clusters of volatility",
    "trading.png": "Turnover and amplitude",
    "ratios.png": "Ratios by industry",
}
_STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em auto;max-width:1100px}table{border-collapse:collapse}"
    "td,th{padding:2px 10px;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child"
    "{text-align:left}.out{background:#fdd}.spare{color:#888}img{max-width:100%}"
)


def number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 20 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def table(figures: Sequence[Figure]) -> list[list[str]]:
    """Rows of text: figure, unit, band, real values, one cell for each profile."""
    profiles = list(dict.fromkeys(name for one in figures for name in one.sample))
    rows = [["figure", "unit", "band", "of", "real", *(f"sample {name}" for name in profiles)]]
    for one in figures:
        low, high = number(min(one.real)), number(max(one.real))
        cells = [_cell(one, name) for name in profiles]
        band = f"{number(one.low)} to {number(one.high)}"
        rows.append(
            [one.name, one.unit, band, one.origin, low if low == high else f"{low} to {high}", *cells]
        )
    return rows


def _cell(one: Figure, profile: str) -> str:
    if profile not in one.sample:
        return ""
    mark = {True: "", False: " outside", None: " (too few)"}[one.inside(profile)]
    return f"{number(one.sample[profile])}{mark}"


def outside(figures: Sequence[Figure]) -> list[str]:
    """`figure, profile: value, band` of everything that misses its band."""
    return [
        f"{one.name}, {profile}: {number(value)}, band {number(one.low)} to {number(one.high)}"
        for one in figures
        for profile, value in one.sample.items()
        if one.inside(profile) is False
    ]


def documented(figures: Sequence[Figure]) -> str:
    """The figures of the documentation as a table; those of single industries are on the page alone."""
    rows = table([one for one in figures if "(" not in one.name or "mean of" in one.name])
    lines = ["| " + " | ".join(row[:3] + row[4:]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * (len(rows[0]) - 1), *lines[1:], ""])


def filled(text: str, figures: Sequence[Figure]) -> str:
    """`text` with the measured block as it should be."""
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}{documented(figures)}{END}{rest.split(END, 1)[1]}"


def page(figures: Sequence[Figure], pictures: Mapping[str, bytes]) -> str:
    head, *rows = table(figures)
    out = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<title>Sample market and real market</title>",
        f"<style>{_STYLE}</style><h1>Sample market and real market</h1>",
        "<p>Real files in grey and black, profiles of the sample in orange (S), blue (M) and red (L). A "
        "figure is judged against its band; a profile with too few stocks for it is shown, not judged.</p>",
        f"<p>{len(outside(figures))} figures outside of their bands.</p><table><tr>",
        *(f"<th>{html.escape(cell)}</th>" for cell in head),
        "</tr>",
    ]
    for row in rows:
        cells = "".join(f"<td{_class(cell)}>{html.escape(cell)}</td>" for cell in row)
        out.append(f"<tr>{cells}</tr>")
    out.append("</table>")
    for name, picture in pictures.items():
        data = base64.b64encode(picture).decode()
        title = html.escape(_TITLES.get(name, name))
        out.append(f"<h2>{title}</h2><img alt='{title}' src='data:image/png;base64,{data}'>")
    return "\n".join(out)


def _class(cell: str) -> str:
    return " class='out'" if cell.endswith(" outside") else " class='spare'" if cell.endswith("few)") else ""


def made(folder: Path, profiles: Sequence[str]) -> tuple[list[Figure], dict[str, bytes]]:
    """Figures and plots from the full set and freshly made worlds."""
    real, samples = files.load(folder), [sample_of(profile) for profile in profiles]
    return compare(real, samples), plots(real, samples)


def write(folder: Path, out: Path, profiles: Sequence[str] = ("S", "M", "L")) -> list[Figure]:
    """Writes the page at `out` and its pictures next to it."""
    figures, pictures = made(folder, profiles)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(figures, pictures), encoding="utf-8")
    for name, picture in pictures.items():
        (out.parent / name).write_bytes(picture)
    return figures


def market_section(folder: Path, out: Path, profiles: Sequence[str] = ("S", "M", "L")) -> Section:
    """The page in the folder `out`, and its figures as findings of the report."""
    section = Section("the sample market compared with the real one")
    gone = files.missing(folder)
    if gone:
        section.notes.append(f"no page: the set has no {', '.join(gone)}")
        return section
    figures = write(folder, out / PAGE, profiles)
    section.notes.append(f"page: {out / PAGE}")
    for one in figures:
        values = ", ".join(f"{name} {number(value)}" for name, value in one.sample.items())
        fine = all(one.inside(name) is not False for name in one.sample)
        section.add(one.name, f"{values}; {number(one.low)} to {number(one.high)} {one.unit}".rstrip(), fine)
    return section


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real_day.market.page", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("REAL_DATA_DIR", "../shared/data")))
    parser.add_argument("--out", type=Path, default=Path("build/real-day") / PAGE)
    parser.add_argument("--profiles", default="S,M,L")
    parser.add_argument("--docs", action="store_true")
    asked = parser.parse_args(arguments)
    gone = files.missing(asked.data)
    if gone:
        print(f"{asked.data} has no {', '.join(gone)}", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    figures = write(asked.data, asked.out, asked.profiles.split(","))
    for row in table(figures):
        print(f"{row[0]:<52}{row[1]:<9}{row[2]:>18}{row[4]:>20}  " + "".join(f"{c:>18}" for c in row[5:]))
    if asked.docs:
        DOCS.write_text(filled(DOCS.read_text(encoding="utf-8"), figures), encoding="utf-8")
    print(f"{asked.out}: {len(figures)} figures, {len(outside(figures))} outside of their bands")
    return 1 if outside(figures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
