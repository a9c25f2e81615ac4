"""Bars of the whole market for functions over history, each stock's newest in the last column."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.calendar import TradeCalendar
from core.errors import InputError
from platform_assets.compute.parameters.screener import BLOCKS, SPARE_SESSIONS
from serving_api.db.sessions import Reading, Session
from serving_api.db.version_cache import VersionCache
from serving_api.quant.screener import queries
from serving_api.quant.screener.market import Market

KEPT_BYTES = 192 * 1024 * 1024
PRICES = frozenset({"open", "high", "low", "close"})
"""Columns that are adjusted."""
FACTOR = "adj_factor"
_STORED = {"turnover": "turnover_pct"}
_LOT = 100
KNOWN_THEN_BARS = BLOCKS[0]
"""Most bars per stock with an instant: they are read row by row, since packed bars have no versions."""
_TOGETHER = 320
"""Up to this many bars columns are read together."""
_Key = tuple[str, str | None, str, int]
"""Date, instant, column, bars"""


class Histories:
    """Blocks of bars by column, cached while the bars do not change."""

    def __init__(self, reading: Reading, calendar: TradeCalendar) -> None:
        self._reading = reading
        self._calendar = calendar
        self._cache = VersionCache(KEPT_BYTES)

    async def of(self, market: Market, needs: Mapping[str, int], version: str | None) -> dict[str, Floats]:
        """Column -> [stocks of the market, bars], at least as many bars as needed. Prices are CNY as of
        the date, volume in lots, amount in CNY, turnover in percent. `version` is that of the bars and
        of the market, whose codes the blocks follow. Raises InputError (as_of) when more bars are
        needed than are read with an instant."""
        if not needs:
            return {}
        most = max(needs.values())
        if market.as_of is not None and most > KNOWN_THEN_BARS:
            raise InputError(
                "as_of",
                f"with an instant at most {KNOWN_THEN_BARS} bars are looked back, not {most}; "
                "`date` alone has no such limit",
            )
        bars = next(block for block in BLOCKS if block >= most)

        async def load(missing: Sequence[_Key]) -> dict[_Key, Floats]:
            columns = [key[2] for key in missing]
            blocks: dict[str, Floats] = {}
            # Long blocks one by one: reading a column takes four times the memory of its cached block.
            for some in [columns] if bars <= _TOGETHER else [[column] for column in columns]:
                blocks |= await self._reading.scan(self._load, market, some, bars)
            return {key: blocks[key[2]] for key in missing}

        keys: list[_Key] = [(market.date, market.as_of, column, bars) for column in needs]
        # One load at a time: two at once would need their memory twice. Loads with an instant, which no two
        # requests share, do not make others wait.
        held = await self._cache.some(
            "bars", keys, version, load, lambda block: block.nbytes, turn=market.as_of is not None
        )
        return {key[2]: block for key, block in held.items()}

    def _load(self, session: Session, market: Market, columns: Sequence[str], bars: int) -> dict[str, Floats]:
        sessions = self._calendar.last(bars + SPARE_SESSIONS, market.date)
        stored = ["close", *(_STORED.get(column, column) for column in columns)]
        if not PRICES.isdisjoint(columns):
            stored.append(FACTOR)
        window = queries.window(session, list(dict.fromkeys(stored)), sessions[0], market.date, market.as_of)
        return {column: _block(window, column, market, bars) for column in columns}


def _block(window: queries.Window, column: str, market: Market, bars: int) -> Floats:
    codes = market.table.codes
    out = np.full((len(codes), bars), np.nan)
    if not window.dates or window.dates[-1] != market.date:
        return out
    there = np.isfinite(window.values["close"])
    values = window.values[_STORED.get(column, column)]
    if column in PRICES:
        factor = window.values[FACTOR]
        values = values * factor / factor[:, -1:]
    if column == "volume":
        values = values / _LOT
    place = {code: at for at, code in enumerate(window.codes)}
    at = np.array([place.get(code, -1) for code in codes], dtype=np.int64)
    # A stock that did not trade on the date has no value for it.
    traded = np.flatnonzero((at >= 0) & there[at, -1])
    return _right_aligned(there[at[traded]], values[at[traded]], out, traded)


def _right_aligned(
    there: npt.NDArray[np.bool_], values: Floats, out: Floats, rows: npt.NDArray[np.int64]
) -> Floats:
    """Traded bars only, the newest in the last column of `out`."""
    width = out.shape[1]
    behind = there[:, ::-1].cumsum(axis=1)[:, ::-1]  # traded bars from here to the newest
    row, column = np.nonzero(there & (behind <= width))
    out[rows[row], width - behind[row, column]] = values[row, column]
    return out
