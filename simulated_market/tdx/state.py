"""The world as one request sees it, under the fault in force.

A `RequestView` is the world at one instant. Content faults change what it shows (another instrument, the day
before, rows twice), so that renderers stay plain; transport faults are the server's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from simulated_market.days import CLOSE, at
from simulated_market.faults import Fault
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Security, World

MARKETS = ("SZ", "SH", "BJ")

T = TypeVar("T")


@dataclass(frozen=True)
class RequestView:
    """The world at `now`; `fault` is the content fault of this request, if any."""

    world: World
    now: datetime
    fault: Fault | None = None

    def has(self, kind: str) -> bool:
        return self.fault is not None and self.fault.kind == kind

    def arg(self, name: str, default: Any = None) -> Any:
        return self.fault.args.get(name, default) if self.fault is not None else default

    @property
    def today(self) -> int:
        """The newest trade date that has begun, YYYYMMDD; 0 before the first."""
        return self.begun(1)

    def begun(self, back: int) -> int:
        """The newest trade date that has begun (1), the one before it (2); 0 before the first."""
        dates = self.world.trade_dates()
        at = int(np.searchsorted(dates, number_of(self.now), side="right")) - back
        return int(dates[at]) if at >= 0 else 0

    def day_before(self) -> "RequestView":
        """The view at the close of the trade date before the newest one."""
        day = self.begun(2)
        return RequestView(self.world, at(day, CLOSE), self.fault) if day else self

    def security(self, market: int, code: str) -> Security | None:
        """What answers under (market, code); None when the server does not know it."""
        symbol = MARKETS[market].lower() + code if market < len(MARKETS) else ""
        if self.has("wrong_instrument") and str(self.arg("under", "")) in {code, symbol}:
            return self.world.find(str(self.arg("serve", "")))
        found = self.world.find(symbol)
        return found if found is not None and found.list_date <= number_of(self.now) else None

    def series(self, rows: Sequence[T]) -> list[T]:
        """Rows of a series as they are sent: each twice under `double_rows`."""
        return [row for row in rows for _ in range(2)] if self.has("double_rows") else list(rows)

    def other_unit(self, security: Security) -> bool:
        """Whether this security's volume goes out in the other unit (shares for lots, lots for shares)."""
        return self.has("lots_for_shares") and self.arg("board", security.board) == security.board


def lot(security: Security) -> int:
    """Ten bonds or a hundred shares."""
    return 10 if security.kind == "cb" else 100


def lots(shares: int, security: Security) -> int:
    """Whole lots, rounded half up."""
    size = lot(security)
    return (shares + size // 2) // size


def lot_steps(shares: Sequence[int], security: Security) -> list[int]:
    """Lots of each step of a series such that their sum is the lots of the sum."""
    out, total, sent = [], 0, 0
    for step in shares:
        total += int(step)
        reached = lots(total, security)
        out.append(reached - sent)
        sent = reached
    return out


def scaled(price: int, decimals: int) -> int:
    """World price (1e-4) in the wire's unit of 10**-decimals, rounded half up."""
    step: int = PRICE_UNIT // 10**decimals
    return (int(price) + step // 2) // step
