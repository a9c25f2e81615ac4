"""Notices of a world: the facts that the disclosure platform, the portal and Shenzhen publish in their ways.

Tied to events where the world tells of them (a report on its notice date, a distribution a week before its
ex-day), else drawn from the name of the stock and the day: one stock in six has a routine notice on a trade
date, one in forty on another day. A notice is put up on the evening before its disclosure date. A replayed
market knows of none.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from resources.simulated_market.wire import View
from resources.simulated_market.world.model import Security

_ROUTINE = (
    "第五届董事会第{n}次会议决议公告",
    "关于控股股东部分股份质押的公告",
    "关于使用闲置募集资金进行现金管理的进展公告",
    "2026年第{n}次临时股东大会决议公告",
    "关于回购公司股份的进展公告",
    "关于签订日常经营重大合同的公告",
    "股票交易异常波动公告",
    "关于持股5%以上股东减持股份计划的预披露公告（更新后）",
    "关于收到监管部门问询函的公告",
    "独立董事关于第五届董事会第{n}次会议相关事项的独立意见",
    "关于为子公司提供担保的公告",
    "关于公司及相关人员收到<行政处罚决定书>的公告",
)
_PERIODS = {331: "第一季度报告", 630: "半年度报告", 930: "第三季度报告", 1231: "年度报告"}
_SHARED = "关于与{other}签署战略合作框架协议的公告"
_EX_LEAD = 7
_DAYS_HELD, _LISTS_HELD = 400, 64


@dataclass(frozen=True)
class Notice:
    """One notice of one or more stocks. `kind` is the portal's word for it, `types` the platform's codes."""

    number: int
    day: date
    shown: datetime
    title: str
    securities: tuple[Security, ...]
    names: tuple[str, ...]
    kind: str
    types: str
    categories: tuple[str, ...]
    size_kb: int


@dataclass(frozen=True)
class _Listed:
    """The stocks that may have notices on a day, and whether it is a trade date."""

    stocks: Sequence[Security]
    places: Mapping[str, int]
    trading: bool

    def near(self, code: str) -> list[int]:
        """The places whose notices a stock may have a part in: its own, and the one before it."""
        at = self.places.get(code)
        return [] if at is None else [place % len(self.stocks) for place in (at - 1, at)]


class NoticeBook:
    """The notices of a world by disclosure date; a finished day is remembered."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, date], list[Notice]] = {}
        self._listed: dict[tuple[int, date], _Listed] = {}

    def between(self, view: View, since: str, until: str, code: str = "") -> list[Notice]:
        """Notices of the disclosure dates asked for that are up already, newest first."""
        first, last = _day(since), _day(until)
        if first is None or last is None or view.world.label != "sample":
            return []
        # Nothing is up for later than the day after now; nobody wants more than the newest years.
        last = min(last, view.now.date() + timedelta(days=1))
        first = max(first, last - timedelta(days=_DAYS_HELD))
        found = []
        while last >= first:
            found += [one for one in self._of_day(view, last, code) if one.shown <= view.now]
            last -= timedelta(days=1)
        if code:
            found = [one for one in found if any(security.code == code for security in one.securities)]
        return sorted(found, key=lambda one: (one.day, one.shown, one.number), reverse=True)

    def _of_day(self, view: View, day: date, code: str) -> list[Notice]:
        """The notices of a day; where one stock is meant, at least its."""
        listed = self._listed_on(view, day)
        if code:
            return _made(view, day, listed, listed.near(code))
        key = (id(view.world), day)
        if key not in self._held:
            made = _made(view, day, listed, range(len(listed.stocks)))
            if view.fault is not None or datetime(day.year, day.month, day.day) > view.now:
                return made
            self._held[key] = made
        return self._held[key]

    def _listed_on(self, view: View, day: date) -> _Listed:
        key = (id(view.world), day)
        if key not in self._listed:
            if len(self._listed) > _LISTS_HELD:
                self._listed.clear()
            stocks = [one for one in view.world.securities(_evening_before(day)) if one.kind == "stock"]
            trading = int(day.strftime("%Y%m%d")) in view.world.trade_dates()
            self._listed[key] = _Listed(stocks, {one.code: at for at, one in enumerate(stocks)}, trading)
        return self._listed[key]


def _evening_before(day: date) -> datetime:
    return datetime(day.year, day.month, day.day) - timedelta(hours=8)


def _made(view: View, day: date, listed: _Listed, places: Iterable[int]) -> list[Notice]:
    """The notices with this disclosure date of the stocks at some places of the list."""
    evening, stocks, trading = _evening_before(day), listed.stocks, listed.trading
    made: list[Notice] = []
    for at in places:
        security = stocks[at]
        draw = zlib.crc32(f"{security.symbol} {day}".encode())
        titles = _events(view, security, day)
        if draw % (6 if trading else 40) == 0:
            titles.append((_ROUTINE[draw // 64 % len(_ROUTINE)].format(n=draw // 1024 % 30 + 1), "", "", ()))
        for place, (title, kind, types, categories) in enumerate(titles):
            owners: tuple[Security, ...] = (security,)
            if draw % 96 == 0 and not kind:
                owners = (security, stocks[(at + 1) % len(stocks)])
            if len({one.code for one in owners}) < len(owners):
                continue
            names = tuple(view.world.name(one, evening) for one in owners)
            made.append(
                Notice(
                    number=draw % 90_000_000 + 10_000_000 + place,
                    day=day,
                    shown=evening + timedelta(seconds=draw % 18_000),
                    title=title if len(owners) == 1 else _SHARED.format(other=names[1]),
                    securities=owners,
                    names=names,
                    kind=kind or "其他",
                    types=types or "01010501||010113||012399",
                    categories=categories or ("category_rcjy_szsh",),
                    size_kb=draw % 900 + 40,
                )
            )
    return made


def _events(view: View, security: Security, day: date) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """(title, kind, types, categories) of what the world knows to happen on this day."""
    found: list[tuple[str, str, str, tuple[str, ...]]] = []
    number = int(day.strftime("%Y%m%d"))
    close = datetime(day.year, day.month, day.day, 23, 59)
    finance = view.world.finance(security, min(close, view.now + timedelta(days=1)))
    if finance is not None and finance.published == number:
        year, period = divmod(finance.report_date, 10_000)
        word = _PERIODS.get(period, "定期报告")
        category = {331: "yjdbg", 630: "bndbg", 930: "sjdbg", 1231: "ndbg"}.get(period, "ndbg")
        for tail in ("", "摘要"):
            found.append(
                (f"{year}年{word}{tail}", word, "01010503||010112||01030701", (f"category_{category}_szsh",))
            )
    ahead = day + timedelta(days=_EX_LEAD)
    for right in view.world.exrights(security, view.now + timedelta(days=_EX_LEAD + 1)):
        if right.category == 1 and right.date == int(ahead.strftime("%Y%m%d")):
            title = f"{day.year}年权益分派实施公告"
            found.append((title, "权益分派", "01010501||010301||012301", ("category_qyfpxzcs_szsh",)))
    return found


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def paged(rows: Sequence[Notice], page: int, size: int) -> list[Notice]:
    return list(rows[(page - 1) * size : page * size])


def page_of(text: str) -> int:
    """A page number as it was asked for; 1 for anything else."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1
