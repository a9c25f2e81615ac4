"""clist, ulist.np, slist and stock/get."""

import re
from typing import Any

from simulated_market import foreign_markets
from simulated_market.eastmoney import envelope, hong_kong
from simulated_market.eastmoney.envelope import asked_fields, reply, rows, security_of, shown
from simulated_market.eastmoney.facts import BoardFacts, SecurityFacts, cny
from simulated_market.eastmoney.fields import (
    BOARD,
    SECURITY,
    board_row,
    last_update,
    security_row,
)
from simulated_market.memo import FactMemo
from simulated_market.wire import HttpRequest, Reply, View, unix
from simulated_market.world.model import Board, Quote, Security

_PAGE = 100
_MOMENT_SEC = 3
_MEMO_SIZE = 4
_BOARD_TYPES = {"t:1": "region", "t:2": "industry", "t:3": "concept"}

_KNOWN = re.compile(r"m:(0|1|90)|t:([1235679]|10|23|80|81)|s:(2|2048)|e:97|f:4|b:MK\d{4}")
"""Terms of `fs` by which there are lists; boards (`b:BK…`) are lists while they have members."""


class Lists:
    """Renders rows; facts are cached for a moment, so that the pages of one list agree."""

    def __init__(self) -> None:
        self._key: tuple[int, object] = (0, None)
        self._facts: dict[str, SecurityFacts] = {}
        self._boards: dict[str, list[Board]] = {}
        self._found: FactMemo[tuple[bool, list[Any]]] = FactMemo(_MEMO_SIZE)

    # --- endpoints

    def clist(self, request: HttpRequest, view: View) -> Reply:
        """`pz` is silently capped at 100, `total` counts the whole list."""
        params = request.params()
        page = max(1, int(params.get("pn", "1")))
        size = min(_PAGE, max(1, int(params.get("pz", "20"))))
        names, natural = asked_fields(params)
        if hong_kong.PAIRS in params.get("fs", ""):
            return self._pairs(request, view, size, page)
        key = (params.get("fs", ""), params.get("fid", ""), params.get("po", "1") == "1")
        boards, found = self._found.of(view, (view.now, key), lambda: self._chosen(view, *key))
        chosen = view.page(found, size, page)
        if not chosen:
            # A list that is empty, or has ended, is another answer than one that does not exist.
            known = found or all(_is_known(part) for part in key[0].split(","))
            return reply(request, envelope.RT_LIST, None, rc=0 if known else 102)
        render: Any = board_row if boards else security_row
        diff = [render(one, names, natural=natural) for one in chosen]
        return reply(request, envelope.RT_LIST, {"total": len(found), "diff": rows(params, diff)})

    def _chosen(self, view: View, asked: str, fid: str, down: bool) -> tuple[bool, list[Any]]:
        """(whether these are boards, the whole list in its order)."""
        requested = [
            {term for term in re.split(r"[+ ]", part) if not term.startswith("f:!")}
            for part in asked.split(",")
        ]
        boards = [board for board in view.world.boards(view.now) if _wants_board(requested, board)]
        if boards:
            return True, _sorted([self._board(view, board) for board in boards], BOARD, fid, down)
        requested = [part for part in requested if part]
        listed = [one for one in self._all(view) if any(part <= one.tags for part in requested)]
        return False, _sorted(listed, SECURITY, fid, down)

    def _pairs(self, request: HttpRequest, view: View, size: int, page: int) -> Reply:
        """Companies with shares in Hong Kong as well, by code."""
        params = request.params()
        names, natural = asked_fields(params)
        found = hong_kong.pair_rows(view)
        diff = [
            {name: pair_value(row, name, natural=natural) for name in names}
            for row in view.page(found, size, page)
        ]
        if not diff:
            return reply(request, envelope.RT_LIST, None)
        return reply(request, envelope.RT_LIST, {"total": len(found), "diff": rows(params, diff)})

    def ulist(self, request: HttpRequest, view: View) -> Reply:
        params = request.params()
        names, natural = asked_fields(params)
        found = []
        for secid in params.get("secids", "").split(","):
            abroad = (
                foreign_markets.portal_row(secid, names, view.now) if view.world.label == "sample" else None
            )
            if abroad is not None:
                found.append(abroad)
                continue
            security = security_of(view.world, secid)
            facts = None if security is None else self.facts(view, security)
            if facts is not None and facts.quote is not None:
                found.append(security_row(facts, names, natural=natural))
        if not found:
            return reply(request, envelope.RT_ULIST, None, rc=102)
        # Rows of named securities are a list with and without np=1.
        return reply(request, envelope.RT_ULIST, {"total": len(found), "diff": found})

    def slist(self, request: HttpRequest, view: View) -> Reply:
        params = request.params()
        security = security_of(view.world, params.get("secid", ""))
        if security is None:
            return reply(request, envelope.RT_LIST, None, rc=102)
        names, natural = asked_fields(params, "f12,f14")
        held = [board for board in view.world.boards(view.now) if security.symbol in board.members]
        diff = [board_row(self._board(view, board), names, natural=natural) for board in held]
        return reply(request, envelope.RT_LIST, {"total": len(diff), "diff": rows(params, diff)})

    def security(self, request: HttpRequest, view: View) -> Reply:
        params = request.params()
        security = security_of(view.world, params.get("secid", ""))
        facts = None if security is None else self.facts(view, security)
        if security is None or facts is None or facts.quote is None:
            return reply(request, envelope.RT_SECURITY, None, rc=102)
        names, natural = asked_fields(params, "f57,f58,f43")
        known = _security_values(facts, facts.quote)
        data = {}
        for name in names:
            kind, value = known.get(name, ("", None))
            data[name] = shown(value, kind, security.decimals, natural=natural)
        return reply(request, envelope.RT_SECURITY, data)

    # --- facts

    def board_facts(self, view: View, code: str) -> BoardFacts | None:
        for board in view.world.boards(view.now):
            if board.code == code:
                return self._board(view, board)
        return None

    def _refresh(self, view: View) -> None:
        moment = view.now.replace(second=view.now.second // _MOMENT_SEC * _MOMENT_SEC, microsecond=0)
        key = (id(view.world), moment)
        if key != self._key or view.fault is not None:
            self._facts = {}
            self._boards = {}
            for board in view.world.boards(view.now):
                for symbol in board.members:
                    self._boards.setdefault(symbol, []).append(board)
            # Under a fault nothing is cached: the next answer may be a true one.
            self._key = (0, None) if view.fault is not None else key

    def facts(self, view: View, security: Security) -> SecurityFacts:
        self._refresh(view)
        facts = self._facts.get(security.symbol)
        if facts is None:
            facts = self._facts[security.symbol] = SecurityFacts(view, security, self._boards)
        return facts

    def _all(self, view: View) -> list[SecurityFacts]:
        return [self.facts(view, security) for security in view.world.securities(view.now)]

    def _board(self, view: View, board: Board) -> BoardFacts:
        members = [view.world.find(symbol) for symbol in board.members]
        return BoardFacts(board, [self.facts(view, one) for one in members if one is not None])


def _is_known(part: str) -> bool:
    """Whether a part of `fs` names a list: a group of securities by its number, or a market by its types."""
    terms = [term for term in re.split(r"[+ ]", part) if not term.startswith("f:!")]
    return all(_KNOWN.fullmatch(term) for term in terms) and (
        len(terms) > 1 or terms[0].startswith(("b:MK", "m:"))
    )


def _wants_board(requested: list[set[str]], board: Board) -> bool:
    return any(
        "m:90" in part and board.kind in {_BOARD_TYPES.get(term) for term in part} for part in requested
    )


def pair_value(row: dict[str, Any], name: str, *, natural: bool) -> Any:
    """One field of a pair; without fltt=2 prices in Hong Kong have three decimals, all else two."""
    value = row.get(name, "-")
    if natural or not isinstance(value, float):
        return value
    return round(value * (1000 if name in {"f2", "f4"} else 100))


def _sorted(items: list[Any], table: Any, fid: str, down: bool) -> list[Any]:
    """By `fid`; rows without a value come last. Without a known `fid` the order is arbitrary."""
    if fid not in table:
        return items
    value = table[fid][1]
    keyed = [(value(item), item) for item in items]
    known = [pair for pair in keyed if pair[0] is not None and pair[0] != "-"]
    known.sort(key=lambda pair: pair[0], reverse=down)
    return [item for _, item in known] + [item for key, item in keyed if key is None or key == "-"]


_SAME = {
    "f47": "f5", "f48": "f6", "f49": "f34", "f50": "f10", "f57": "f12", "f58": "f14", "f59": "f1",
    "f60": "f18", "f84": "f38", "f85": "f39", "f107": "f13", "f116": "f20", "f117": "f21", "f127": "f100",
    "f128": "f102", "f129": "f103", "f161": "f35", "f162": "f9", "f164": "f115", "f167": "f23", "f168": "f8",
    "f169": "f4", "f170": "f3", "f171": "f7", "f189": "f26", "f191": "f33", "f292": "f292",
}  # fmt: skip
"""Field of stock/get -> the field of the lists with the same value."""


def _security_values(facts: SecurityFacts, quote: Quote) -> dict[str, tuple[str, Any]]:
    """The stock/get dictionary: field -> (kind, value)."""
    trading = facts.trading
    lot = facts.view.lot(facts.security.board, 10 if facts.security.kind == "cb" else 100)

    def px(value: int | None) -> tuple[str, Any]:
        return "px", None if trading is None or value is None else cny(value)

    values: dict[str, tuple[str, Any]] = {
        **{name: (SECURITY[same][0], SECURITY[same][1](facts)) for name, same in _SAME.items()},
        "f43": px(quote.price),
        "f44": px(quote.high),
        "f45": px(quote.low),
        "f46": px(quote.open),
        "f51": px(quote.limit_up),
        "f52": px(quote.limit_down),
        "f71": ("px", quote.amount / quote.volume if trading is not None and quote.volume else None),
        "f86": ("", unix(last_update(quote, facts.view.now))),
        "f163": ("pct", None if facts.valuation is None else facts.valuation.pe_static),
    }
    # Both sides run from level 5 to level 1: bids f11/f12 .. f19/f20, asks f31/f32 .. f39/f40.
    for levels, first in ((quote.bids, 11), (quote.asks, 31)):
        for level, (price, size) in enumerate(levels[:5]):
            at = first + 2 * (4 - level)
            values[f"f{at}"] = px(price)
            values[f"f{at + 1}"] = ("", size // lot if trading is not None else None)
    return values
