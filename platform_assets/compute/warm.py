"""`python -m platform_assets.compute.warm`: compile every kernel into the cache folder (NUMBA_CACHE_DIR), so
that no run has to; prints the seconds of each part. What is there already is only loaded."""

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from core.market.bars import Bars
from platform_assets.compute.chips import chip_columns
from platform_assets.compute.indicators import indicator_columns
from platform_assets.compute.patterns import pattern_columns


def tiny_bars() -> Bars:
    """Two codes with a few bars each: kernels are compiled for types, not for sizes."""
    day = np.tile(np.arange(20260101, 20260113), 2)
    rows = pd.DataFrame({"code": ["000001"] * 12 + ["600000"] * 12, "date": day})
    for name in ("open", "high", "low", "close", "volume", "amount", "turnover_pct"):
        rows[name] = 10.0
    return Bars.from_frame(rows)


PARTS: Mapping[str, Callable[[Bars], object]] = {
    "indicators": indicator_columns,
    "chips": partial(chip_columns, newest=1),
    "patterns": pattern_columns,
}


def warm() -> dict[str, float]:
    """Part -> seconds that it took."""
    bars = tiny_bars()
    taken = {}
    for name, part in PARTS.items():
        began = time.perf_counter()
        part(bars)
        taken[name] = time.perf_counter() - began
    return taken


if __name__ == "__main__":
    for name, seconds in warm().items():
        sys.stdout.write(f"{name}: {seconds:.1f} s\n")
