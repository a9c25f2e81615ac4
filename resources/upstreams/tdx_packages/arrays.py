"""Records of fixed size as numpy arrays, and what their dates are held to."""

from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Bools
from core.errors import PayloadError

SOURCE = "tdx_packages"
FILES = "tdx_files"
"""Name under which `ashare import` brings these files into the platform."""
IMPORTED = f"import:{FILES}"
"""Source of the imported rows."""
FIRST_DAY = 19_901_219
"""The first session of the mainland's exchanges, YYYYMMDD."""

Arrays = dict[str, npt.NDArray[Any]]
"""Column -> values, all of one length."""


def damaged(problem: str) -> PayloadError:
    return PayloadError(problem, source=SOURCE)


def records(content: bytes, layout: "np.dtype[Any]", what: str) -> npt.NDArray[Any]:
    """The records of a file that holds nothing else. PayloadError for a part of one at the end."""
    if len(content) % layout.itemsize:
        raise damaged(
            f"{what}: {len(content)} bytes are no whole records of {layout.itemsize}; it is cut off"
        )
    return np.frombuffer(content, dtype=layout)


def days_of(words: npt.NDArray[Any], what: str, *, first: int = FIRST_DAY) -> npt.NDArray[np.int32]:
    """The words as days YYYYMMDD. PayloadError where one is no day since the `first`."""
    days = words.astype(np.int32)
    for day in np.unique(days).tolist():
        if day < first or not _is_day(day):
            raise damaged(f"{what}: {day} is no day")
    return days


def packed_days(words: npt.NDArray[Any], what: str) -> npt.NDArray[np.int32]:
    """Days of minute bars, YYYYMMDD: years since 2004 times 2,048, and month * 100 + day."""
    wide = words.astype(np.int32)
    return days_of((wide // 2048 + 2004) * 10_000 + wide % 2048, what)


def must_ascend(days: npt.NDArray[Any], what: str) -> None:
    steps = np.flatnonzero(np.diff(days.astype(np.int64)) <= 0)
    if len(steps):
        at = int(steps[0]) + 1
        raise damaged(f"{what}, record {at + 1}: {days[at]} follows {days[at - 1]}")


def finite(values: npt.NDArray[Any], what: str) -> npt.NDArray[np.float64]:
    """float32 as float64. PayloadError where one is no finite number."""
    wide = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(wide))
    if len(bad):
        raise damaged(f"{what}, record {int(bad[0]) + 1}: no finite number")
    return wide


def taken(columns: Arrays, which: Bools) -> Arrays:
    """The rows of a mask."""
    return {name: values[which] for name, values in columns.items()}


@lru_cache(maxsize=65_536)
def iso(day: int) -> str:
    """20260306 -> '2026-03-06'."""
    return date(day // 10_000, day // 100 % 100, day % 100).isoformat()


@lru_cache(maxsize=65_536)
def _is_day(day: int) -> bool:
    try:
        iso(day)
    except ValueError:
        return False
    return True
