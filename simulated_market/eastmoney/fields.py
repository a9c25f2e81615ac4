"""The f-field dictionary of clist and ulist: field -> how its value follows from the facts."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time
from typing import Any, TypeVar

from simulated_market.after_hours import stamp
from simulated_market.eastmoney.bonds import FIELDS
from simulated_market.eastmoney.envelope import market_of, shown
from simulated_market.eastmoney.facts import BoardFacts, Money, SecurityFacts, cny
from simulated_market.wire import unix
from simulated_market.world.model import Quote

Facts = TypeVar("Facts")
Value = Callable[[SecurityFacts], Any]
BoardValue = Callable[[BoardFacts], Any]


def last_update(quote: Quote, now: datetime) -> datetime:
    """The moment of a quote: Shanghai's securities are updated half an hour longer than Shenzhen's."""
    late = quote.security.market == "SH"
    return stamp(quote, now, *((time(16, 11, 25), 36) if late else (time(15, 34, 15), 45)))


def _traded(pick: Callable[[Quote], Any]) -> Value:
    """A value of a security that trades; None otherwise."""

    def value(facts: SecurityFacts) -> Any:
        quote = facts.trading
        return None if quote is None else pick(quote)

    return value


def _lots(pick: Callable[[Quote], int]) -> Value:
    def value(facts: SecurityFacts) -> Any:
        quote = facts.trading
        if quote is None:
            return None
        lot = 10 if facts.security.kind == "cb" else 100
        return pick(quote) // facts.view.lot(facts.security.board, lot)

    return value


def _valued(name: str) -> Value:
    return lambda facts: None if facts.valuation is None else getattr(facts.valuation, name)


def _money(pick: Callable[[Money], float], days: int = 1) -> Value:
    def value(facts: SecurityFacts) -> Any:
        money = facts.money(days)
        return None if money is None else round(pick(money), 1)

    return value


def _money_pct(pick: Callable[[Money], float]) -> Value:
    """Net as percent of the day's amount."""

    def value(facts: SecurityFacts) -> Any:
        money, quote = facts.money(), facts.trading
        if money is None or quote is None or quote.amount <= 0:
            return None
        return pick(money) / quote.amount * 100

    return value


def _over(days: int) -> Value:
    return lambda facts: facts.change_over(days)


def _text(value: str | None) -> str:
    return value or "-"


def _year_to_date(facts: SecurityFacts) -> float | None:
    quote = facts.trading
    if quote is None or not facts.year_close:
        return None
    return (quote.price / facts.year_close - 1) * 100


def _depth_ratio(quote: Quote) -> float | None:
    bid = sum(size for _, size in quote.bids)
    ask = sum(size for _, size in quote.asks)
    return (bid - ask) / (bid + ask) * 100 if bid + ask else None


def _main(money: Money) -> float:
    return money.main


_FIRST_OF = {"super_large": 64, "large": 70, "medium": 76, "small": 82}
"""Size of orders -> number of the first of its fields: in, out, net; the net in percent is the sixth."""


def _net(size: str) -> Callable[[Money], float]:
    return lambda money: money.net(size)


def _in(size: str) -> Callable[[Money], float]:
    return lambda money: money.inflow[size]


def _out(size: str) -> Callable[[Money], float]:
    return lambda money: money.outflow[size]


def _money_fields() -> Iterator[tuple[str, tuple[str, Value]]]:
    for size, first in _FIRST_OF.items():
        yield f"f{first}", ("", _money(_in(size)))
        yield f"f{first + 1}", ("", _money(_out(size)))
        yield f"f{first + 2}", ("", _money(_net(size)))
        yield f"f{first + 5}", ("pct", _money_pct(_net(size)))


# field -> (kind, value); kind px and pct are scaled without fltt=2
SECURITY: Mapping[str, tuple[str, Value]] = {
    "f1": ("", lambda facts: facts.security.decimals),
    "f2": ("px", _traded(lambda quote: cny(quote.price))),
    "f3": ("pct", lambda facts: facts.change_pct),
    "f4": ("px", _traded(lambda quote: cny(quote.price - quote.preclose))),
    "f5": ("", _lots(lambda quote: quote.volume)),
    "f6": ("", _traded(lambda quote: quote.amount)),
    "f7": ("pct", _traded(lambda quote: (quote.high - quote.low) / quote.preclose * 100)),
    "f8": ("pct", _traded(lambda quote: quote.turnover_pct)),
    "f9": ("pct", _valued("pe_dynamic")),
    "f10": ("pct", _traded(lambda quote: quote.volume_ratio)),
    "f11": ("pct", _traded(lambda quote: quote.speed_pct)),
    "f12": ("", lambda facts: facts.security.code),
    "f13": ("", lambda facts: market_of(facts.security)),
    "f14": ("", lambda facts: facts.name),
    "f15": ("px", _traded(lambda quote: cny(quote.high))),
    "f16": ("px", _traded(lambda quote: cny(quote.low))),
    "f17": ("px", _traded(lambda quote: cny(quote.open))),
    "f18": ("px", lambda facts: None if facts.quote is None else cny(facts.quote.preclose)),
    "f20": ("", _valued("total_market_cap")),
    "f21": ("", _valued("float_market_cap")),
    "f22": ("pct", _traded(lambda quote: quote.speed_pct)),
    "f23": ("pct", _valued("pb")),
    "f24": ("pct", _over(60)),
    "f25": ("pct", _year_to_date),
    "f26": ("", lambda facts: facts.security.list_date or None),
    "f31": ("px", _traded(lambda quote: cny(quote.bids[0][0]) if quote.bids else None)),
    "f32": ("px", _traded(lambda quote: cny(quote.asks[0][0]) if quote.asks else None)),
    "f33": ("pct", _traded(_depth_ratio)),
    "f34": ("", _lots(lambda quote: quote.outer_volume)),
    "f35": ("", _lots(lambda quote: quote.inner_volume)),
    "f38": ("", lambda facts: facts.shares[0] or None),
    "f39": ("", lambda facts: facts.shares[1] or None),
    "f62": ("", _money(_main)),
    **dict(_money_fields()),
    "f100": ("", lambda facts: _text(facts.security.industry)),
    "f102": ("", lambda facts: _text(facts.security.region)),
    "f103": ("", lambda facts: _text(",".join(facts.security.concepts))),
    "f104": ("", lambda facts: facts.quote.up_count if facts.quote is not None else None),
    "f105": ("", lambda facts: facts.quote.down_count if facts.quote is not None else None),
    "f106": ("", lambda facts: 0),
    "f109": ("pct", _over(5)),
    "f110": ("pct", _over(20)),
    "f115": ("pct", _valued("pe_ttm")),
    "f124": (
        "",
        lambda facts: None if facts.quote is None else unix(last_update(facts.quote, facts.view.now)),
    ),
    "f127": ("pct", _over(3)),
    "f128": ("", lambda facts: "-"),
    "f140": ("", lambda facts: "-"),
    "f160": ("pct", _over(10)),
    "f164": ("", _money(_main, 5)),
    "f174": ("", _money(_main, 10)),
    "f184": ("pct", _money_pct(_main)),
    "f267": ("", _money(_main, 3)),
    "f292": ("", lambda facts: 6 if facts.trading is None else 2),
    "f297": ("", lambda facts: facts.quote.date if facts.quote is not None else None),
    "f350": ("px", _traded(lambda quote: None if quote.limit_up is None else cny(quote.limit_up))),
    "f351": ("px", _traded(lambda quote: None if quote.limit_down is None else cny(quote.limit_down))),
    **FIELDS,
}


def _of(pick: Callable[[BoardFacts], SecurityFacts | None], show: Value) -> BoardValue:
    def value(facts: BoardFacts) -> Any:
        one = pick(facts)
        return None if one is None else show(one)

    return value


def _board_money(pick: Callable[[Money], float]) -> BoardValue:
    return lambda facts: None if facts.money is None else round(pick(facts.money), 1)


def _board_pct(facts: BoardFacts) -> float | None:
    if facts.money is None or facts.amount <= 0:
        return None
    return facts.money.main / facts.amount * 100


def _level(facts: BoardFacts) -> float | None:
    return None if facts.change_pct is None else facts.BASE * (1 + facts.change_pct / 100)


BOARD: Mapping[str, tuple[str, BoardValue]] = {
    "f1": ("", lambda facts: 2),
    "f2": ("px", _level),
    "f3": ("pct", lambda facts: facts.change_pct),
    "f4": ("px", lambda facts: None if facts.change_pct is None else facts.BASE * facts.change_pct / 100),
    "f6": ("", lambda facts: facts.amount),
    "f8": ("pct", lambda facts: facts.amount / cap * 100 if (cap := facts.cap("float_market_cap")) else None),
    "f12": ("", lambda facts: facts.board.code),
    "f13": ("", lambda facts: 90),
    "f14": ("", lambda facts: facts.board.name),
    "f18": ("px", lambda facts: facts.BASE),
    "f20": ("", lambda facts: facts.cap("total_market_cap")),
    "f21": ("", lambda facts: facts.cap("float_market_cap")),
    "f62": ("", _board_money(_main)),
    **{f"f{first + 2}": ("", _board_money(_net(size))) for size, first in _FIRST_OF.items()},
    "f104": ("", lambda facts: facts.count(1)),
    "f105": ("", lambda facts: facts.count(-1)),
    "f106": ("", lambda facts: facts.count(0)),
    "f109": ("pct", lambda facts: facts.change_over(5)),
    "f128": ("", _of(BoardFacts.best, lambda one: one.name)),
    "f136": ("pct", _of(BoardFacts.best, lambda one: one.change_pct)),
    "f140": ("", _of(BoardFacts.best, lambda one: one.security.code)),
    "f141": ("", _of(BoardFacts.best, lambda one: market_of(one.security))),
    "f184": ("pct", _board_pct),
    "f204": ("", _of(BoardFacts.favourite, lambda one: one.name)),
    "f205": ("", _of(BoardFacts.favourite, lambda one: one.security.code)),
    "f206": ("", _of(BoardFacts.favourite, lambda one: market_of(one.security))),
    "f207": ("", _of(BoardFacts.worst, lambda one: one.name)),
    "f208": ("", _of(BoardFacts.worst, lambda one: one.security.code)),
    "f222": ("pct", _of(BoardFacts.worst, lambda one: one.change_pct)),
}


def security_row(facts: SecurityFacts, names: list[str], *, natural: bool) -> dict[str, Any]:
    """The asked fields; one that the dictionary does not know is '-', as upstream."""
    return _row(SECURITY, facts, facts.security.decimals, names, natural)


def board_row(facts: BoardFacts, names: list[str], *, natural: bool) -> dict[str, Any]:
    return _row(BOARD, facts, 2, names, natural)


def _row(
    table: Mapping[str, tuple[str, Callable[[Facts], Any]]],
    facts: Facts,
    digits: int,
    names: list[str],
    natural: bool,
) -> dict[str, Any]:
    row = {}
    for name in names:
        kind, value = table.get(name, ("", _missing))
        row[name] = shown(value(facts), kind, digits, natural=natural)
    return row


def _missing(facts: object) -> None:
    return None
