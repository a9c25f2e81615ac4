"""Who plays the parts of the scenarios: codes and dates that a file set has itself."""

from dataclasses import dataclass

from tests.real_day.rules import board_of
from tests.real_day.truth import Row, Truth
from tests.real_day.window import NotUsable, Window

_BACK = 10
"""Sessions before the day that the corrected bar lies."""
_FAR_APART = 2.0
"""Prices of two stocks of which the one cannot pass for the other."""
_TWINS = {"sz000001": "sh000001", "sz000016": "sh000016", "sz000905": "sh000905", "sz000852": "sh000852"}
"""Stocks whose digits are an index's too."""


@dataclass(frozen=True)
class Companies:
    """Parts by the rows of the window."""

    truth: Truth
    window: Window

    def _of_today(self) -> dict[str, Row]:
        """Stocks that trade on every date of the window, by symbol."""
        dates = self.window.dates
        found = {}
        for symbol in self.truth.symbols:
            rows = [self.truth.rows.get((symbol, date)) for date in dates]
            if all(row is not None and row.traded for row in rows):
                found[symbol] = self.truth.rows[symbol, self.window.today]
        if not found:
            raise NotUsable("no stock of the set trades on every date of the window")
        return found

    @property
    def boards(self) -> tuple[str, ...]:
        """Boards other than the main board of which a stock trades on the day and at the window's start."""
        there = {board_of(symbol) for symbol in self._of_today()}
        return tuple(board for board in ("star", "gem") if board in there)

    @property
    def stock(self) -> str:
        """The stock under whose code something else is served; best one whose digits are an index's too."""
        known = self._of_today()
        return next((symbol for symbol in _TWINS if symbol in known and self.index), min(known))

    @property
    def index(self) -> str | None:
        symbols = sorted({symbol for symbol, _ in self.truth.indices})
        known = self._of_today()
        twins = [index for stock, index in _TWINS.items() if stock in known and index in symbols]
        return next(iter([*twins, *symbols]), None)

    @property
    def other_stock(self) -> str | None:
        """One whose price is far from that of `stock`; the dearest of them."""
        known = self._of_today()
        own = known[self.stock].prices["close"]
        dearest = max(known.values(), key=lambda row: (row.prices["close"], row.symbol))
        return dearest.symbol if float(dearest.prices["close"] / own) >= _FAR_APART else None

    @property
    def corrected(self) -> Row:
        """The bar that its upstream corrects: its close is above its low, and no event lies near it."""
        date = self.window.back(_BACK)
        events = {row.symbol for row in self.truth.where("is_ex_day") if row.date >= date}
        rows = [self.truth.rows[symbol, date] for symbol in self._of_today() if symbol not in events]
        moved = [row for row in rows if row.prices["close"] > row.prices["low"] and row.band is not None]
        if not moved:
            raise NotUsable(f"no stock of the set has a close above its low on {date}")
        return max(moved, key=lambda row: (row.amount, row.symbol))
