"""Counter-based random numbers: any draw can be made again alone, in any order.

A draw is named by (seed, stream, day) and an index. Streams are constants of purpose, so a new feature
takes a new stream and shifts none; index is the instrument's place, so appended instruments shift none.
The transformations use integer and plain floating arithmetic where they can: near-normal numbers are
sums of four 16-bit integers (bounded at 3.46 sd; the fat tails come from the model, not from here).
"""

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from core.arrays import Floats

Raw = npt.NDArray[np.uint64]

_SUM_MEAN = 4 * 65_535 / 2
_SUM_SD = (4 * (65_536.0**2 - 1) / 12) ** 0.5
_MASK = np.uint64(0xFFFF)


class Stream(IntEnum):
    """Purposes. Never renumber: a number is part of every pinned hash."""

    MARKET = 1
    SECTOR = 2
    IDIO = 3
    VOL = 4
    JUMP = 5
    JUMP_SIZE = 6
    FOLLOW = 7
    BREAK = 8
    GAP = 9
    WICK_UP = 10
    WICK_DOWN = 11
    TURNOVER = 12
    VWAP = 13
    INDEX = 14
    HEAT = 15
    TRAITS = 20
    NAMES = 21
    LISTINGS = 22
    EVENTS = 23
    CONCEPTS = 24
    MINUTE = 30
    TICK = 31
    BOOK = 32
    FLOW = 33
    REPORTS = 34
    AUCTION = 35


def raw(seed: int, stream: int, day: int, size: int, start: int = 0) -> Raw:
    """`size` numbers from index `start` (a multiple of 4) of the stream (seed, stream, day)."""
    key = np.array([seed & 0xFFFF_FFFF_FFFF_FFFF, (int(stream) << 32) | day], dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=np.array([start // 4, 0, 0, 0], dtype=np.uint64))
    return np.asarray(bits.random_raw(size), dtype=np.uint64)


def uniform(numbers: Raw) -> Floats:
    """[0, 1) with 53 bits."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(numbers: Raw) -> Floats:
    """Mean 0, sd 1, bounded; one raw number each."""
    total = numbers & _MASK
    for shift in (16, 32, 48):
        total = total + ((numbers >> np.uint64(shift)) & _MASK)
    return (total.astype(np.float64) - _SUM_MEAN) / _SUM_SD


def exponential(numbers: Raw) -> Floats:
    """Mean 1."""
    return -np.log1p(-uniform(numbers))
