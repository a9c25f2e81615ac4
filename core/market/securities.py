"""Type and board of a security from its six digits and its market. The one place that derives them.

The market decides first: `sh000001` is an index, `sz000001` a bank. Within a market the longest matching
prefix decides. Funds need their names as well: those on the STAR and the ChiNext board move 20 percent
instead of 10, and Shenzhen's numbers do not distinguish them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

STOCK, B_SHARE, INDEX, CATEGORY = "stock", "b", "index", "category"
ETF, LOF, REIT, FUND = "etf", "lof", "reit", "fund"
CB, BOND, REPO, OTHER = "cb", "bond", "repo", "other"
FUNDS = frozenset({ETF, LOF, REIT, FUND})
"""`fund`: closed-end, structured and open-end funds, which no dataset holds."""
BOARDS = ("main", "gem", "star", "bj")

WIDE_FUND = "fund_wide"
"""Limits of a fund whose index holds stocks of the STAR or the ChiNext board alone."""
UNSURE_FUND = "fund_unsure"
"""A fund whose limits follow from neither number nor name: it gets none, rather than wrong ones."""

_BOARD_OF: Mapping[str, Mapping[str, str]] = {
    "SH": {**dict.fromkeys(("600", "601", "603", "605"), "main"), **dict.fromkeys(("688", "689"), "star")},
    "SZ": {
        **dict.fromkeys(("000", "001", "002", "003", "004"), "main"),
        **dict.fromkeys(("300", "301", "302"), "gem"),
    },
    # 43, 83, 87 and 88 are the numbers before the renumbering to 920xxx of 2025.
    "BJ": dict.fromkeys(("43", "83", "87", "88", "92"), "bj"),
}


def _prefixes(**kinds: str) -> dict[str, str]:
    return {prefix: kind for kind, prefixes in kinds.items() for prefix in prefixes.split()}


_KIND_OF: Mapping[str, Mapping[str, str]] = {
    "SH": _prefixes(
        # 88xxxx are the terminal's boards, 93xxxx and 95xxxx those of the index companies.
        index="000 88 93 95 99",
        b="900",
        etf="51 52 53 55 56 58",
        lof="501 502 506",
        reit="508",
        # 519xxx and 521xxx to 524xxx are numbers under which open-end funds are subscribed and paid.
        fund="50 519 521 522 523 524",
        cb="110 111 113 118",
        bond="009 01 02 10 11 12 13 14",
        repo="20",
    ),
    "SZ": _prefixes(
        index="399 97 98",
        category="395",
        b="20",
        etf="159",
        lof="16",
        reit="180",
        fund="15 18",
        cb="123 125 126 127 128 129",
        bond="10 11 12 13 14",
        repo="131",
    ),
    "BJ": _prefixes(index="899"),
}
_WIDE_NAME = re.compile("科创|双创|创业")
_MAYBE_WIDE_NAME = re.compile("创(?!新)")


def _longest(table: Mapping[str, str], code: str) -> str:
    """The meaning of the longest known prefix of three or two digits."""
    return table.get(code[:3]) or table.get(code[:2], "")


@lru_cache(maxsize=32768)
def board_of(code: str, market: str) -> str:
    """main, gem, star or bj for an A share; '' for anything else."""
    market = market.upper()
    if _longest(_KIND_OF.get(market, {}), code):
        return ""
    return _longest(_BOARD_OF.get(market, {}), code)


@lru_cache(maxsize=32768)
def sec_type_of(code: str, market: str) -> str:
    """One of the types above, `other` for numbers that are none of them (subscriptions, preferred shares)."""
    if board_of(code, market):
        return STOCK
    return _longest(_KIND_OF.get(market.upper(), {}), code) or OTHER


def is_a_share(code: str) -> bool:
    """Whether six digits without a market are those of an A share; those of indices are not asked for."""
    return any(board_of(code, market) for market in _BOARD_OF)


def market_of(code: str, *, shanghai: bool) -> str:
    """The market of a number where an upstream distinguishes only Shanghai from the other two."""
    if shanghai:
        return "SH"
    return "BJ" if code.startswith(("4", "8", "92")) else "SZ"


def limit_class(code: str, market: str, name: str | None = None) -> str:
    """The scope of the trading rules that a security is under: a board, a type, or a class of funds.

    A bond fund of the STAR board is an ordinary one. Without a name Shenzhen's ETFs and all LOFs are unsure.
    """
    board = board_of(code, market)
    kind = sec_type_of(code, market)
    if board or kind not in {ETF, LOF}:
        return board or kind
    if market.upper() == "SH" and code.startswith(("588", "589")):
        return WIDE_FUND
    if not name:
        return kind if kind == ETF and market.upper() == "SH" else UNSURE_FUND
    if "债" in name:
        return kind
    if _WIDE_NAME.search(name):
        return WIDE_FUND if kind == ETF and market.upper() == "SZ" else UNSURE_FUND
    return UNSURE_FUND if _MAYBE_WIDE_NAME.search(name) else kind


def lot_of_kind(kind: str) -> int:
    """Units in one lot of an upstream that counts in lots: 10 bonds, else 100."""
    return 10 if kind in {CB, BOND} else 100


def decimals_of(kind: str, market: str) -> int:
    """Decimals of a price. Shanghai's B shares trade in USD with three of them."""
    three = kind in FUNDS | {CB, BOND, REPO} or (kind == B_SHARE and market.upper() == "SH")
    return 3 if three else 2


@lru_cache(maxsize=32768)
def tick_of_code(code: str, market: str) -> float:
    """Smallest price step of a security, in its currency: 0.001 of funds, bonds and Shanghai's B shares."""
    return round(0.1 ** decimals_of(sec_type_of(code, market), market), 3)
