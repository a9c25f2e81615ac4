"""Terms of the convertible bonds of a world: underlying stock, conversion price, coupons.

A bond belongs to a stock of its exchange and board that was listed before it and stays. Its conversion price
is set on its first day of the world so that its price is then some percent above its conversion value,
and follows the ex-rights of the stock.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Security, World
from simulated_market.world.other_issues import BOND_BOARDS, maturity_date, value_date

_RATINGS = ("AAA", "AA+", "AA", "AA", "AA-", "A+")
_COUPONS = ((0.2, 0.4, 0.6, 1.0, 1.5, 2.0), (0.3, 0.5, 1.0, 1.5, 1.8, 2.0), (0.4, 0.6, 1.0, 1.6, 2.2, 2.8))
_NUMBERS = "一二三四五六"
_PUT, _CALL = 0.70, 1.30
_UNIT = 100
"""CNY that one bond is nominally worth."""


def _stays(world: World, security: Security) -> bool:
    known = world.find(security.symbol)
    return known is None or known.delist_date is None


@dataclass
class Bond:
    """One convertible bond at the view's time. CNY per 100 CNY nominal."""

    view: View
    security: Security

    @cached_property
    def stock(self) -> Security | None:
        """The stock that it converts into: the same one at all times."""
        world, board = self.view.world, BOND_BOARDS.get(self.security.code[:3])
        found = [
            one
            for one in world.securities(self.view.now)
            if one.kind == "stock"
            and one.list_date <= self.security.list_date
            and (one.market, one.board) == (self.security.market, board)
            and _stays(world, one)
        ]
        # As `drawn` of all three values, of which the first two are the same for every stock.
        begun = zlib.crc32(f"bond {self.security.symbol} ".encode())
        return max(found, key=lambda one: zlib.crc32(one.symbol.encode(), begun), default=None)

    @cached_property
    def convert_price(self) -> float | None:
        stock = self.stock
        if stock is None:
            return None
        own = self.view.world.bars(self.security, self.view.now)
        theirs = self.view.world.bars(stock, self.view.now)
        if not len(own) or not len(theirs):
            return None
        first = int(np.searchsorted(theirs.date, own.date[0]))
        if first >= len(theirs):
            return None
        above = 1 + (5 + drawn("premium", self.security.symbol) % 55) / 100
        begin = int(theirs.close[first]) / int(own.close[0]) * _UNIT * above
        rights = theirs.preclose[first + 1 :] / theirs.close[first:-1]
        return round(begin * float(np.prod(rights)), 2)

    @property
    def rating(self) -> str:
        return _RATINGS[drawn("rating", self.security.symbol) % len(_RATINGS)]

    @property
    def coupons(self) -> tuple[float, ...]:
        return _COUPONS[drawn("coupons", self.security.symbol) % len(_COUPONS)]

    @property
    def coupon_text(self) -> str:
        years = zip(_NUMBERS, self.coupons, strict=True)
        return "、".join(f"第{number}年{rate:.2f}%" for number, rate in years) + "。"

    @property
    def redemption(self) -> float:
        """The redemption price, with the last coupon."""
        return 106.0 + drawn("redemption", self.security.symbol) % 10

    @property
    def value_date(self) -> int:
        """The day from which it bears interest."""
        return value_date(self.security.symbol, self.security.list_date)

    @property
    def maturity_date(self) -> int:
        return maturity_date(self.security.symbol, self.security.list_date)

    @property
    def issue_size_yi(self) -> float:
        total, _ = self.view.world.shares(self.security, self.view.now)
        return round(total * _UNIT / 1e8, 2)

    @property
    def pure_value(self) -> float:
        """As a plain bond."""
        return round(88 + drawn("pure", self.security.symbol) % 140 / 10, 2)

    @property
    def put_price(self) -> float | None:
        return None if self.convert_price is None else round(self.convert_price * _PUT, 2)

    @property
    def call_price(self) -> float | None:
        return None if self.convert_price is None else round(self.convert_price * _CALL, 2)

    def value(self, stock_price: int) -> float | None:
        """Of 100 CNY of bond, converted at a price (1e-4 CNY)."""
        price = self.convert_price
        return None if not price else round(_UNIT / price * stock_price / PRICE_UNIT, 4)
