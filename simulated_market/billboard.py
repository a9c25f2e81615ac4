"""The exchanges' billboard of a world: stocks that moved so far that the exchange publishes their largest
seats.

The rules are computed from the bars, so every listing is true. Seats are drawn: ten names with what they
bought and sold, of which the five largest of each side are shown, so that one name may be on both sides.
Listings of a date appear at 18:00.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from simulated_market.branches import INSTITUTION, branch_code, seat
from simulated_market.days import DayBar, Shelf, at, is_out
from simulated_market.draws import draws
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.model import Security
from simulated_market.world.plan import is_st_name

PUBLISHED = "18:00"
_NAMES = 10
_SHOWN = 5
_INDEX = {"SH": "sh000001", "SZ": "sz399001"}
_FREE_SESSIONS = 5


@dataclass(frozen=True)
class Seat:
    """What one name bought and sold, CNY; None where the exchange shows nothing. `place` distinguishes the
    names of one listing, since institutions have none of their own."""

    place: int
    name: str
    code: str
    bought: float | None
    sold: float | None


@dataclass(frozen=True)
class Listing:
    """One security listed for one reason; `accumulated` is the turnover in CNY of the `days` it is about,
    `reached` the figure in percent that the rule looks at."""

    security: Security
    name: str
    date: int
    reason: str
    kind: str
    days: int
    accumulated: float
    bar: DayBar
    reached: float
    buyers: tuple[Seat, ...]
    sellers: tuple[Seat, ...]

    @property
    def bought(self) -> float:
        """Of every name that is shown, each counted once."""
        return round(sum(one.bought or 0.0 for one in self._shown), 2)

    @property
    def sold(self) -> float:
        return round(sum(one.sold or 0.0 for one in self._shown), 2)

    @property
    def institutions(self) -> int:
        return sum(one.name == INSTITUTION for one in self.buyers)

    @property
    def _shown(self) -> list[Seat]:
        return list({one.place: one for one in (*self.buyers, *self.sellers)}.values())


@dataclass(frozen=True)
class _Move:
    """A security on a date, with the inputs of the rules: percent, `deviation` from its market's index."""

    security: Security
    name: str
    bar: DayBar
    deviation: float
    three_days: float | None


@dataclass(frozen=True)
class _Rule:
    """`reach` is the figure that decides; listed are those at or above `least`, the `most` largest."""

    kind: str
    text: str
    reach: Callable[[_Move], float | None]
    least: float
    most: int | None = _SHOWN
    days: int = 1


_rise, _three = attrgetter("bar.change_pct"), attrgetter("three_days")
_spread, _turnover = attrgetter("bar.amplitude_pct"), attrgetter("bar.turnover_pct")
_MAIN = (
    _Rule("137001001001001", "日涨幅偏离值达到7%的前5只证券", lambda move: move.deviation, 7),
    _Rule("137001001002001", "日跌幅偏离值达到7%的前5只证券", lambda move: -move.deviation, 7),
    _Rule("137001001003001", "日振幅值达到15%的前5只证券", _spread, 15),
    _Rule("137001001004001", "日换手率达到20%的前5只证券", _turnover, 20),
    _Rule("137001002001001", "连续三个交易日内，涨幅偏离值累计达到20%的证券", _three, 20, None, 3),
)
_SPECIAL = (
    _Rule(
        "137001003001001",
        "连续三个交易日内，涨幅偏离值累计达到12%的ST证券、*ST证券和未完成股改证券",
        _three,
        12,
        None,
        3,
    ),
)
_WIDE = (
    _Rule("137002001001001", "日涨幅达到15%的前5只证券", _rise, 15),
    _Rule("137002001002001", "日跌幅达到15%的前5只证券", lambda move: -move.bar.change_pct, 15),
    _Rule("137002001003001", "日振幅值达到30%的前5只证券", _spread, 30),
    _Rule("137002001004001", "日换手率达到30%的前5只证券", _turnover, 30),
    _Rule("137002002001001", "连续三个交易日内，涨幅偏离值累计达到30%的证券", _three, 30, None, 3),
)
_BEIJING = (
    _Rule("137003001001001", "当日收盘价涨幅达到20%的前5只股票", _rise, 20),
    _Rule("137003001004001", "当日换手率达到20%的前5只股票", _turnover, 20),
)
_FREE = (_Rule("137004001001001", "无价格涨跌幅限制的证券", lambda move: 1.0, 0, None),)
_OTHER = {
    "cb": (_Rule("137005001003001", "日价格振幅达到2%的前5只可转换公司债券", _spread, 2),),
    "b": (_Rule("137006001003001", "日价格振幅达到2%的前5只Ｂ股", _spread, 2),),
}

_SHANGHAI = {
    "137001001001001": "有价格涨跌幅限制的日收盘价格涨幅偏离值达到7%的前五只证券",
    "137001001002001": "有价格涨跌幅限制的日收盘价格跌幅偏离值达到7%的前五只证券",
    "137001001003001": "有价格涨跌幅限制的日价格振幅达到15%的前五只证券",
    "137001001004001": "有价格涨跌幅限制的日换手率达到20%的前五只证券",
    "137001002001001": "非ST、*ST和S证券连续三个交易日内收盘价格涨幅偏离值累计达到20%的证券",
    "137001003001001": "ST、*ST和S证券连续三个交易日内收盘价格涨幅偏离值累计达到12%的证券",
    "137002001001001": "有价格涨跌幅限制的日收盘价格涨幅达到15%的前五只证券",
    "137002001002001": "有价格涨跌幅限制的日收盘价格跌幅达到15%的前五只证券",
    "137002001003001": "有价格涨跌幅限制的日价格振幅达到30%的前五只证券",
    "137002001004001": "有价格涨跌幅限制的日换手率达到30%的前五只证券",
    "137002002001001": "有价格涨跌幅限制的连续3个交易日内收盘价格涨幅偏离值累计达到30%的证券",
}
"""Shanghai has its own text for a rule; the portal repeats the text of each exchange."""


@dataclass
class Billboard:
    """The listings of a world. A date that is out does not change, so it is remembered."""

    _memo: FactMemo[list[Listing]] = field(default_factory=FactMemo)
    _shelf: Shelf = field(default_factory=Shelf)

    def of_date(self, view: View, day: int) -> list[Listing]:
        """Every listing of a date, by code and reason; none before they are published."""
        if not is_out(view, day, PUBLISHED):
            return []
        return self._memo.of(view, day, lambda: _listings(view, day, self._shelf))


def _listings(view: View, day: int, shelf: Shelf) -> list[Listing]:
    groups: dict[tuple[_Rule, str], list[_Move]] = {}
    for move in _moves(view, day, shelf):
        for rule in _rules(move):
            reach = rule.reach(move)
            if reach is not None and reach >= rule.least:
                groups.setdefault((rule, move.security.market), []).append(move)
    made = []
    for (rule, _), moves in groups.items():
        first = sorted(moves, key=lambda move: (-(rule.reach(move) or 0.0), move.security.code))
        made += [_listing(move, rule, day) for move in first[: rule.most]]
    return sorted(made, key=lambda one: (one.security.code, one.kind))


def _moves(view: View, day: int, shelf: Shelf) -> Iterator[_Move]:
    then = at(day, PUBLISHED)
    of_index = {market: _index_moves(view, symbol, day, shelf) for market, symbol in _INDEX.items()}
    for security in view.world.securities(then):
        if security.kind not in {"stock", *_OTHER}:
            continue
        bar = shelf.day_bar(view, security, day)
        if bar is None:
            continue
        one, three = of_index.get(security.market, (0.0, 0.0))
        began = bar.before(2)
        moved = sum(DayBar(bar.bars, bar.place - step).change_pct for step in range(3)) if began else None
        yield _Move(
            security=security,
            name=view.world.name(security, then),
            bar=bar,
            deviation=bar.change_pct - one,
            three_days=None if moved is None else moved - three,
        )


def _index_moves(view: View, symbol: str, day: int, shelf: Shelf) -> tuple[float, float]:
    """Percent of one and of three days; 0 where the world has no such index."""
    index = view.world.find(symbol)
    bar = None if index is None else shelf.day_bar(view, index, day)
    if bar is None:
        return 0.0, 0.0
    steps = min(3, bar.place + 1)
    return bar.change_pct, sum(DayBar(bar.bars, bar.place - step).change_pct for step in range(steps))


def _rules(move: _Move) -> tuple[_Rule, ...]:
    security = move.security
    if security.kind != "stock":
        return _OTHER[security.kind]
    if move.bar.place < _FREE_SESSIONS and int(move.bar.bars.date[0]) == security.list_date:
        return _FREE
    if security.board in {"gem", "star"}:
        return _WIDE
    if security.board == "bj":
        return _BEIJING
    return _SPECIAL if is_st_name(move.name) else _MAIN


def _listing(move: _Move, rule: _Rule, day: int) -> Listing:
    days = range(min(rule.days, move.bar.place + 1))
    accumulated = round(sum(DayBar(move.bar.bars, move.bar.place - step).amount for step in days), 2)
    names = _names(move.security, rule, day, accumulated)
    buyers = sorted((one for one in names if one.bought), key=lambda one: -(one.bought or 0.0))[:_SHOWN]
    sellers = sorted((one for one in names if one.sold), key=lambda one: -(one.sold or 0.0))[:_SHOWN]
    return Listing(
        security=move.security,
        name=move.name,
        date=day,
        reason=_SHANGHAI.get(rule.kind, rule.text) if move.security.market == "SH" else rule.text,
        kind=rule.kind,
        days=rule.days,
        accumulated=accumulated,
        bar=move.bar,
        reached=rule.reach(move) or 0.0,
        buyers=tuple(buyers),
        sellers=tuple(sellers),
    )


def _names(security: Security, rule: _Rule, day: int, accumulated: float) -> list[Seat]:
    """Half of the names mostly bought, the other half mostly sold; some did one thing only."""
    random = draws("seat", security.symbol, day, rule.kind)
    made: list[Seat] = []
    for place in range(_NAMES):
        name = seat(random, security.market)
        while name != INSTITUTION and any(one.name == name for one in made):
            name = seat(random, security.market)
        large = round(accumulated * random.uniform(0.008, 0.04), 2)
        small = round(accumulated * random.uniform(0.0005, 0.012), 2) if random.random() < 0.5 else None
        bought, sold = (large, small) if place % 2 == 0 else (small, large)
        made.append(Seat(place, name, branch_code(name), bought, sold))
    return made
