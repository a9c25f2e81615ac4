"""Shareholders of the companies of a world, published with their reports: the ten largest holders of all
shares and of the float, and the funds behind what `institutions` says that funds hold. A replayed market has
no reports, so nothing. Ranks tie: in one company of three the two smallest of a list hold alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from simulated_market import institutions
from simulated_market.corporate import evening, report_pairs
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import Security

TOP, FLOAT = "top10", "float10"
_HOLDERS = 10
_FUND_KIND = "01"
_PEOPLE = ("王建国", "李晓明", "张海燕", "刘振华", "陈立新", "杨文静", "赵思远", "周志强")
_HOUSES = ("华夏", "易方达", "嘉实", "广发", "招商", "南方", "博时", "富国", "汇添富", "工银瑞信")
_THEMES = ("成长", "价值", "沪深300", "消费", "科技", "红利", "均衡", "创新")
_NATURES = ("A股", "限售A股")


@dataclass(frozen=True)
class Holding:
    """One line of a list. `change` since the period before in shares, None for a new holder."""

    security: Security
    period: int
    kind: str
    rank: int
    name: str
    nature: str
    shares: int
    change: int | None
    of: int  # the shares that the ratio refers to


@dataclass(frozen=True)
class Position:
    """The holding of one fund in a company; `assets_pct` of the fund's net assets."""

    security: Security
    period: int
    fund: str
    name: str
    shares: int
    value: float
    float_shares: int
    assets_pct: float


def top_holders(view: View, security: Security, kind: str, since: int = 0) -> list[Holding]:
    """Both ends of the list by period, published periods on or after `since`, newest first."""
    found: list[Holding] = []
    for newer, older in report_pairs(view, security):
        if newer.report_date < since:
            break
        found += _list(view, security, kind, newer.report_date, older.report_date if older else None)
    return found


def _list(view: View, security: Security, kind: str, period: int, before: int | None) -> Iterator[Holding]:
    held = _held(view, security, kind, period)
    earlier = {} if before is None else _held(view, security, kind, before)
    base = _base(view, security, kind, period)
    rank, smaller = 0, -1
    for place, (name, shares) in enumerate(sorted(held.items(), key=lambda one: (-one[1], one[0])), start=1):
        rank = rank if shares == smaller else place
        smaller = shares
        yield Holding(
            security=security,
            period=period,
            kind=kind,
            rank=rank,
            name=name,
            nature=_NATURES[kind == TOP and place == 1 and drawn(security.symbol, "locked") % 2],
            shares=shares,
            change=shares - earlier[name] if name in earlier else None,
            of=base,
        )


def _base(view: View, security: Security, kind: str, period: int) -> int:
    total, floating = view.world.shares(security, evening(period))
    return total if kind == TOP else floating


def _held(view: View, security: Security, kind: str, period: int) -> dict[str, int]:
    """Shares by holder; {} before the world begins."""
    base = _base(view, security, kind, period)
    if not base:
        return {}
    largest = 1500 + drawn(security.symbol, kind, "largest") % 3000
    weights = [max(largest >> place, 40 - place) for place in range(_HOLDERS)]
    names = _names(security, kind, period)
    found = {}
    for place, (name, weight) in enumerate(zip(names, weights, strict=True)):
        moved = drawn(security.symbol, kind, place, period) % 9 - 4 if place > 1 else 0
        found[name] = base // 10_000 * max(weight + moved, 1)
    if drawn(security.symbol, kind, "tie") % 3 == 0:
        found[names[-1]] = found[names[-2]]
    return found


def _names(security: Security, kind: str, period: int) -> list[str]:
    """Ten names; the last one changes from year to year."""
    start = drawn(security.symbol, "names")
    names = [f"{security.region or '海川'}控股集团有限公司({security.code})", "香港中央结算有限公司"]
    names += [_PEOPLE[(start + at) % len(_PEOPLE)] for at in range(3)]
    names += [_fund_name(start + 7 * at) for at in range(4)]
    last = drawn(security.symbol, kind, period // 10_000) % 90
    return [*names, f"全国社保基金{100 + last}组合"]


def positions(view: View, security: Security, since: int = 0) -> list[Position]:
    """Funds that held the company at the ends of published periods on or after `since`: together what the
    kind of institution holds."""
    held = institutions.holdings(view, security, since)
    return [made for one in held if one.kind == _FUND_KIND and one.shares for made in _split(one)]


def _split(whole: institutions.OrgHolding) -> Iterator[Position]:
    security, left = whole.security, whole.shares
    price = whole.value / whole.shares
    start = drawn(security.symbol, whole.period, "funds")
    for at in range(whole.institutions):
        number = start + 37 * at
        behind = whole.institutions - at
        part = left if behind == 1 else left * (60 + number % 80) // 100 // behind
        left -= part
        yield Position(
            security=security,
            period=whole.period,
            fund=f"{number % 20_000:06d}",
            name=_fund_name(number),
            shares=part,
            value=round(part * price, 2),
            float_shares=whole.float_shares,
            assets_pct=round(number % 997 / 100, 2),
        )


def _fund_name(number: int) -> str:
    services, theme = _HOUSES[number % len(_HOUSES)], _THEMES[number // 11 % len(_THEMES)]
    return f"{services}{theme}{number % 89}号混合型证券投资基金"
