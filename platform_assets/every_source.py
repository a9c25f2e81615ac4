"""Runs the `fetch` function of every source of every dataset, for what their upstream calls look like."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from core.errors import PlatformError
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.panel import Panel


class EmptyTables:
    """Stored tables without a row, as a new installation has them (`core.declaration.scope.Reader`)."""

    def __call__(self, table: str, *, columns: Sequence[str], **_how: Any) -> pd.DataFrame:
        return pd.DataFrame({name: pd.Series(dtype=object) for name in columns})

    def panel(self, table: str, *, columns: Sequence[str], **_how: Any) -> Panel:
        return Panel((), (), {name: np.zeros((0, 0)) for name in columns})

    def latest(self, table: str, column: str, before: str) -> None:
        return None

    def apart(self) -> "EmptyTables":
        return self

    def take_over(self, other: Any) -> None:
        """Nothing was read."""


def ask_every_source(ctx: FetchContext, day: str, code: str) -> None:
    """Each source for the market of a trade date, or for one code where it serves no market. What a source
    needs of stored rows may not be there: its errors are left to the record of its calls."""
    for dataset in builtin_registry().datasets.values():
        for late, source in (
            *((dataset.late, one) for one in dataset.sources),
            *((raw.late, one) for raw in dataset.raw for one in raw.sources),
        ):
            market = Scope((day,)).with_late(late, ctx.calendar)
            for scope in (market, Scope(market.dates, (code,))):
                if source.only_when is None or source.only_when(ctx, scope):
                    with suppress(PlatformError, KeyError, ValueError, IndexError):
                        source.fetch(ctx, scope)
                    break
