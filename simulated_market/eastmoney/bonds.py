"""Convertible bonds and funds in the portal's format: RPT_BOND_CB_LIST and further fields of the lists."""

from collections.abc import Callable, Mapping
from typing import Any

from simulated_market import funds
from simulated_market.bonds import Bond
from simulated_market.eastmoney.columns import identity
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.eastmoney.facts import SecurityFacts, cny
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import PRICE_UNIT, Quote

Value = Callable[[SecurityFacts], Any]


def terms(view: View, conditions: Conditions) -> list[Row]:
    """Rows of RPT_BOND_CB_LIST."""
    listed = [one for one in view.world.securities(view.now) if one.kind == "cb"]
    return [term_row(Bond(view, one)) for one in listed]


def term_row(bond: Bond) -> Row:
    """RPT_BOND_CB_LIST: the size in 100m CNY, nominal values of 100 CNY."""
    stock, now = bond.stock, bond.view.now
    name = bond.view.world.name(bond.security, now)
    return {
        **identity(bond.security, name, code_first=True),
        "LISTING_DATE": stamp_of(bond.security.list_date),
        "DELIST_DATE": None,
        "CONVERT_STOCK_CODE": None if stock is None else stock.code,
        "BOND_EXPIRE": "6",
        "RATING": bond.rating,
        "VALUE_DATE": stamp_of(bond.value_date),
        "EXPIRE_DATE": stamp_of(bond.maturity_date),
        "INTEREST_RATE_EXPLAIN": bond.coupon_text,
        "INITIAL_TRANSFER_PRICE": bond.convert_price,
        "ACTUAL_ISSUE_SCALE": bond.issue_size_yi,
        "ISSUE_PRICE": 100,
        "PAR_VALUE": 100,
        "PUBLIC_START_DATE": stamp_of(bond.value_date),
        "CORRECODE": f"7{bond.security.code[1:]}",
        "CORRECODE_NAME_ABBR": name.replace("转债", "发债"),
        "SECURITY_SHORT_NAME": None if stock is None else bond.view.world.name(stock, now),
    }


def _of_bond(pick: Callable[[Bond], Any]) -> Value:
    """A field that only bonds have."""

    def value(facts: SecurityFacts) -> Any:
        return None if facts.bond is None else pick(facts.bond)

    return value


def _stock_quote(bond: Bond) -> Quote | None:
    return None if bond.stock is None else bond.view.world.quote(bond.stock, bond.view.now)


def _stock_price(bond: Bond) -> float | None:
    quote = _stock_quote(bond)
    return None if quote is None else cny(quote.price or quote.preclose)


def _stock_change(bond: Bond) -> float | None:
    quote = _stock_quote(bond)
    return None if quote is None or not quote.price else (quote.price / quote.preclose - 1) * 100


def _converted(bond: Bond) -> float | None:
    price = _stock_price(bond)
    return None if price is None else bond.value(round(price * PRICE_UNIT))


def _above(bond: Bond, worth: float | None) -> float | None:
    quote = bond.view.world.quote(bond.security, bond.view.now)
    if quote is None or quote.suspended or not worth:
        return None
    return (cny(quote.price) / worth - 1) * 100


def _of_etf(facts: SecurityFacts) -> float | None:
    quote = facts.trading
    return None if quote is None or facts.security.kind != "etf" else funds.iopv(facts.security, quote)


def _discount(facts: SecurityFacts) -> float | None:
    quote = facts.trading
    if quote is None or facts.security.kind != "etf":
        return None
    return -funds.premium_pct(facts.security, quote.date)


FIELDS: Mapping[str, tuple[str, Value]] = {
    "f227": ("px", _of_bond(lambda bond: bond.pure_value)),
    "f229": ("px", _of_bond(_stock_price)),
    "f230": ("pct", _of_bond(_stock_change)),
    "f232": ("", _of_bond(lambda bond: None if bond.stock is None else bond.stock.code)),
    "f234": (
        "",
        _of_bond(
            lambda bond: None if bond.stock is None else bond.view.world.name(bond.stock, bond.view.now)
        ),
    ),
    "f235": ("px", _of_bond(lambda bond: bond.convert_price)),
    "f236": ("px", _of_bond(_converted)),
    "f237": ("pct", _of_bond(lambda bond: _above(bond, _converted(bond)))),
    "f238": ("pct", _of_bond(lambda bond: _above(bond, bond.pure_value))),
    "f239": ("px", _of_bond(lambda bond: bond.put_price)),
    "f240": ("px", _of_bond(lambda bond: bond.call_price)),
    "f241": ("px", _of_bond(lambda bond: bond.redemption)),
    "f402": ("pct", _discount),
    "f441": ("px", _of_etf),
}
"""Field -> (kind, value), in addition to the fields of every security."""
