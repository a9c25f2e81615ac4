"""The built market: integer columns per instrument and session, and what happened to shares and names."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Ints

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Applied:
    """An ex-right event as it took place. Values per 10 shares in CNY and shares; shares before and after."""

    day: int
    cash: float
    rights_price: float
    bonus: float
    rights: float
    held_back: float
    before: tuple[int, int]  # (total, float)
    after: tuple[int, int]


@dataclass(frozen=True)
class ShareChange:
    """(total, float) in force from session `day` on; `cause` listing, bonus or release."""

    day: int
    total: int
    floating: int
    cause: str


@dataclass
class WorldBars:
    """Arrays [instrument, session]; prices in ticks of the instrument, volume shares, amount fen.
    The six indices are the last rows. Cells before listing and after delisting are 0."""

    dates: Ints
    open: Int32s
    high: Int32s
    low: Int32s
    close: Int32s
    preclose: Int32s
    volume: Ints
    amount: Ints
    traded: Bools
    limit_up: Int32s  # 0 = none
    limit_down: Int32s
    up_count: Int32s  # [index, session]
    down_count: Int32s
    members: npt.NDArray[np.int8]  # [review period, instrument] bit set: bit k = member of index k
    period: Ints  # review period of each session
    applied: list[list[Applied]] = field(default_factory=list)
    shares: list[list[ShareChange]] = field(default_factory=list)
