"""Figures: what was measured, against what, and whether the target is met. Both sides run in one process
group on one machine, interleaved, so that what else the machine does falls on both."""

import gc
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MIB = 1024 * 1024


@dataclass(frozen=True)
class Figure:
    """One row of the table. `ratio` is baseline / figure for times (more is better) unless `at_most`:
    then it is figure / baseline (less is better). `target` None: no target, only shown."""

    check: str
    figure: str
    baseline: str
    ratio: float
    target: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target

    @classmethod
    def parse(cls, values: dict[str, Any]) -> "Figure":
        return cls(**values)

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def faster(check: str, figure: float, baseline: float, target: float | None, note: str = "") -> Figure:
    """Seconds: how many times the baseline takes as long."""
    return Figure(check, seconds(figure), seconds(baseline), baseline / figure, target, note=note)


def at_most(check: str, figure: float, baseline: float, target: float | None, note: str = "") -> Figure:
    """Seconds: how many times as long as the baseline."""
    return Figure(
        check, seconds(figure), seconds(baseline), figure / baseline, target, at_most=True, note=note
    )


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    gc.collect()
    began = clock()
    work()
    return clock() - began


def interleaved(
    samples: int, *sides: Callable[[int], object], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Median seconds of each side; sample i of every side comes before sample i+1 of any."""
    times: list[list[float]] = [[] for _ in sides]
    for number in range(samples):
        for place, side in enumerate(sides):
            times[place].append(timed(lambda side=side, number=number: side(number), clock))  # type: ignore[misc]
    return [statistics.median(taken) for taken in times]


def _private_bytes() -> int:
    """Memory of this process without mapped files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def highest_memory() -> int:
    """Bytes that this process held at its highest so far."""
    # Linux counts kibibytes, macOS bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class PeakMemory:
    """`with PeakMemory() as peak: ...; peak.grown` = bytes at the highest point above those at the start.
    Looked at every 10 ms; 0 where the system does not say."""

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        self._before = self._most = _private_bytes() if Path("/proc/self/status").exists() else 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._ending.wait(0.01):
            self._most = max(self._most, _private_bytes() if self._before else 0)

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        if self._before:
            self._most = max(self._most, _private_bytes())

    @property
    def grown(self) -> int:
        return self._most - self._before


def table(figures: Sequence[Figure]) -> str:
    """The final table as text."""
    head = ("check", "figure", "baseline", "ratio", "target", "met")
    rows = [
        (
            item.check,
            item.figure,
            item.baseline,
            f"{item.ratio:.2f}x",
            "-" if item.target is None else f"{'<=' if item.at_most else '>='} {item.target:g}x",
            {True: "yes", False: "NO", None: "-"}[item.met],
        )
        for item in figures
    ]
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    notes = [f"  {item.check}: {item.note}" for item in figures if item.note]
    return "\n".join([*lines, "", *(["notes:", *notes] if notes else [])])
